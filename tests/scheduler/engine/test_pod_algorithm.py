"""How the attempt of one pod counts the nodes that refuse it."""

from __future__ import annotations

from gangsched.conform.bench import Bench
from gangsched.conform.node_plugins import play_case


def test_the_nominated_node_counts_once_though_the_search_leaves_it_out() -> None:
    case = {
        "nodes": [{"metadata": {"name": name}, "status": {"capacity": {"pods": "9"}}} for name in "ab"],
        "pod": {"metadata": {"name": "p"}, "spec": {"nodeName": "zz"}, "status": {"nominatedNodeName": "a"}},
    }
    assert play_case(Bench(case), case)["error"] == (
        "0/2 nodes are available: 1 node(s) didn't match the requested node name, "
        "1 node(s) didn't satisfy plugin(s) [NodeName]."
    )

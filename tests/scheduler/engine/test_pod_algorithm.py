"""How the attempt of one pod counts the nodes that refuse it."""

from __future__ import annotations

from gangsched.conform.bench import Bench
from gangsched.conform.node_plugins import play_case


def error_of_nominated(node: str, *, named: str, pods: str = "9") -> str:
    """What becomes of a pod nominated to ``node`` that names another, or one that takes ``pods`` pods."""
    case = {
        "nodes": [{"metadata": {"name": name}, "status": {"capacity": {"pods": pods}}} for name in "ab"],
        "pod": {"metadata": {"name": "p"}, "spec": {"nodeName": named}, "status": {"nominatedNodeName": node}},
    }
    error: str = play_case(Bench(case), case)["error"]
    return error


def test_the_nominated_node_counts_once_though_the_search_leaves_it_out() -> None:
    assert error_of_nominated("a", named="zz") == (
        "0/2 nodes are available: 1 node(s) didn't match the requested node name, "
        "1 node(s) didn't satisfy plugin(s) [NodeName]."
    )


def test_who_refused_the_nominated_node_is_named_among_those_who_narrowed_the_search() -> None:
    assert error_of_nominated("a", named="a", pods="0") == (
        "0/2 nodes are available: 1 Too many pods, 1 node(s) didn't satisfy plugin(s) [NodeName NodeResourcesFit]."
    )

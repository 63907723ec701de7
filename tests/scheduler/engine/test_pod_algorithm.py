"""How the attempt of one pod counts the nodes that refuse it."""

from __future__ import annotations

from typing import Any

import pytest

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


SEARCHES: dict[str, tuple[dict[str, Any], int]] = {
    "by the nodes looked at until half of them are found": ({}, 100),
    "by the one node a narrowed search looks at": ({"spec": {"nodeName": "n150"}}, 1),
    "by the nominated node that refused, too": ({"status": {"nominatedNodeName": "n199"}}, 101),
}


@pytest.mark.parametrize(("pod", "moved"), SEARCHES.values(), ids=SEARCHES)
def test_the_start_of_the_search_moves_on(pod: dict[str, Any], moved: int) -> None:
    capacities = ["0" if i == 199 else "9" for i in range(200)]
    case = {
        "nodes": [
            {"metadata": {"name": f"n{i:03}"}, "status": {"capacity": {"pods": pods}}}
            for i, pods in enumerate(capacities)
        ],
        "pod": {"metadata": {"name": "p"}, "spec": {}} | pod,
        "percentageOfNodesToScore": 50,
        "repeat": 1,
    }
    assert play_case(Bench(case), case)["runs"][0]["evaluated"] == moved

"""What the lines of a trace say that its steps alone do not: whose pods a revert takes back."""

from __future__ import annotations

from gangsched.report.cycle_text import step_lines
from gangsched_framework.objects import ClusterObject
from tests.cycles.harness import Cluster, inner, leaf, node, pods


def reverts(cluster: Cluster) -> list[str]:
    """``GROUP: names`` of every revert."""
    lines = [line.strip() for line in step_lines(cluster.cycle().trace) if ": revert " in line]
    return [f"{line.split(':')[0].rpartition('/')[2]}: {line.rpartition('taking back ')[2]}" for line in lines]


def test_a_revert_names_the_pods_below_the_group_that_failed() -> None:
    tree: list[ClusterObject] = [inner("root", 2), leaf("a", 1, "root"), leaf("b", 2, "root")]
    cluster = Cluster(node("n", cpu=2), tree, pods("a", 1), pods("b", 2))
    assert reverts(cluster) == ["b: b-0", "root: a-0"]


def test_it_does_not_name_what_an_earlier_placement_held() -> None:
    """Rack 1 takes the tree, rack 2 fails at the last pod."""
    nodes = [node("n1", cpu=3, rack="1"), node("n2", cpu=2, rack="2")]
    tree: list[ClusterObject] = [inner("root", 2, topology="rack"), leaf("a", 1, "root"), leaf("b", 2, "root")]
    cluster = Cluster(nodes, tree, pods("a", 1), pods("b", 2))
    assert reverts(cluster) == ["b: b-0", "root: a-0"]

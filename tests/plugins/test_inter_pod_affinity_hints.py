"""What InterPodAffinity makes of events when a selector is malformed (spec node-plugins.md §7.10.5)."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gangsched_framework.events import Hint
from gangsched_framework.pod_spec import LabelSelector, Requirement
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.inter_pod_affinity import InterPodAffinity
from tests.plugins.judge import HintCase, check_hint

ZONE = "zone"
BAD = LabelSelector(match_expressions=(Requirement("app", "Foo", ("x",)),))
POD = make_pod("p")
GONE = make_pod("gone").node("a")
NODE = make_node("a").label(ZONE, "1")
LABEL, ADD, DELETE = "Node/UpdateNodeLabel", "Node/Add", "AssignedPod/Delete"

HINTS = [
    HintCase(
        name="a malformed requirement queues whatever happens to a node",
        event=LABEL,
        pod=POD.anti_affinity(ZONE, BAD),
        old=NODE,
        new=NODE.label("x", "1"),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="a malformed preference does not",
        event=LABEL,
        pod=POD.affinity(ZONE, BAD, 1).anti_affinity(ZONE, BAD, 1),
        old=NODE,
        new=NODE.label("x", "1"),
        want=Hint.SKIP,
    ),
    HintCase(name="nor at a new node", event=ADD, pod=POD.affinity(ZONE, BAD, 1), new=NODE, want=Hint.SKIP),
    HintCase(name="nor when a pod goes", event=DELETE, pod=POD.affinity(ZONE, BAD, 1), old=GONE, want=Hint.SKIP),
    HintCase(
        name="a malformed requirement queues when a pod goes",
        event=DELETE,
        pod=POD.affinity(ZONE, BAD),
        old=GONE,
        want=Hint.QUEUE,
    ),
    HintCase(
        name="so does a malformed one of the pod that goes, if it keeps others away",
        event=DELETE,
        pod=POD,
        old=GONE.anti_affinity(ZONE, BAD),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="but not where that one wants others near, or only would rather not",
        event=DELETE,
        pod=POD,
        old=GONE.affinity(ZONE, BAD).anti_affinity(ZONE, BAD, 1),
        want=Hint.SKIP,
    ),
]


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(InterPodAffinity, case)

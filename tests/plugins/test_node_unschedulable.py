"""NodeUnschedulable: spec node-plugins.md §7.2, rows 5-11."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gangsched_framework.events import Hint
from gangsched_framework.testing import make_pod
from gangsched_plugins.node_unschedulable import NodeUnschedulable
from tests.plugins.judge import Case, HintCase, check, check_hint, roomy

CORDON = "node.kubernetes.io/unschedulable"
NODES = [roomy("a").unschedulable(), roomy("b")]
REFUSED = {"a": "UU node(s) were unschedulable", "b": "Ok"}
BOTH = {"a": "Ok", "b": "Ok"}
POD = make_pod("p")
CASES = [
    Case(name="a cordoned node refuses", pod=POD, nodes=NODES, want=REFUSED),
    Case(
        name="a toleration of the unschedulable taint lifts it",
        pod=POD.tolerates(CORDON, effect="NoSchedule"),
        nodes=NODES,
        want=BOTH,
    ),
    Case(name="a toleration without effect lifts it", pod=POD.tolerates(CORDON), nodes=NODES, want=BOTH),
    Case(
        name="Equal with an empty value lifts it, the taint's value being empty",
        pod=POD.tolerates(CORDON, effect="NoSchedule", operator="Equal"),
        nodes=NODES,
        want=BOTH,
    ),
    Case(
        name="Equal with a value does not",
        pod=POD.tolerates(CORDON, "true", "NoSchedule"),
        nodes=NODES,
        want=REFUSED,
    ),
    Case(name="tolerating everything lifts it", pod=POD.tolerates(), nodes=NODES, want=BOTH),
    Case(
        name="tolerating it for running pods only does not",
        pod=POD.tolerates(CORDON, effect="NoExecute"),
        nodes=NODES,
        want=REFUSED,
    ),
]
HINTS = [
    HintCase(
        name="the pod gains the toleration",
        event="TargetPod/UpdatePodToleration",
        pod=POD,
        old=POD,
        new=POD.tolerates(CORDON),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="the pod gains another toleration",
        event="TargetPod/UpdatePodToleration",
        pod=POD,
        old=POD,
        new=POD.tolerates("other"),
        want=Hint.SKIP,
    ),
    HintCase(name="an open node comes", event="Node/Add", pod=POD, new=roomy("n"), want=Hint.QUEUE),
    HintCase(name="a cordoned node comes", event="Node/Add", pod=POD, new=roomy("n").unschedulable(), want=Hint.SKIP),
    HintCase(
        name="a node is uncordoned",
        event="Node/UpdateNodeTaint",
        pod=POD,
        old=roomy("n").unschedulable(),
        new=roomy("n"),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="an open node's taints change",
        event="Node/UpdateNodeTaint",
        pod=POD,
        old=roomy("n").taint("k"),
        new=roomy("n"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="a node is cordoned",
        event="Node/UpdateNodeTaint",
        pod=POD,
        old=roomy("n"),
        new=roomy("n").unschedulable(),
        want=Hint.SKIP,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(NodeUnschedulable, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(NodeUnschedulable, case)

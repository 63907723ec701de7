"""TaintToleration: spec node-plugins.md §7.3, rows 12-29 (row 30 is about profiles)."""

from __future__ import annotations

from operator import attrgetter

import pytest
from attrs import evolve

from gangsched_framework.events import Hint
from gangsched_framework.pod_spec import PodSpec, Toleration
from gangsched_framework.testing import make_pod
from gangsched_framework.words import Effect
from gangsched_plugins.taint_toleration import TaintToleration
from tests.plugins.judge import Case, HintCase, check, check_hint, roomy

NO = "UU node(s) had untolerated taint(s)"
POD = make_pod("p")
COMPARISON = {"TaintTolerationComparisonOperators": True}
EFFECTS = [
    roomy("none"),
    roomy("nosched").taint("k", "v", "NoSchedule"),
    roomy("noexec").taint("k", "v", "NoExecute"),
    roomy("prefer").taint("k", "v", "PreferNoSchedule"),
]
ALL_OK = {"none": "Ok", "nosched": "Ok", "noexec": "Ok", "prefer": "Ok"}
HARD_REFUSED = ALL_OK | {"nosched": NO, "noexec": NO}
SOFT: Effect = "PreferNoSchedule"
SERVICE_LEVELS = [roomy(f"v{value}").taint("slo", str(value)) for value in (90, 95, 99)]
VALUES = {
    "leadzero": "007",
    "plus": "+7",
    "neg": "-7",
    "text": "abc",
    "zero": "0",
    "big": "9223372036854775807",
    "over": "9223372036854775808",
    "negzero": "-0",
}

CASES = [
    Case(name="Equal without effect covers all effects", pod=POD.tolerates("k", "v"), nodes=EFFECTS, want=ALL_OK),
    Case(
        name="Equal without value does not cover a valued taint",
        pod=POD.tolerates("k", operator="Equal"),
        nodes=EFFECTS,
        want=HARD_REFUSED,
        want_scores={"none": (0, 100), "prefer": (1, 0)},
    ),
    Case(
        name="Exists ignores a value",
        pod=POD.tolerates("k", "w", operator="Exists"),
        nodes=EFFECTS,
        want=ALL_OK,
    ),
    Case(
        name="an empty key with one effect covers that effect",
        pod=POD.tolerates(effect="NoSchedule"),
        nodes=EFFECTS,
        want=ALL_OK | {"noexec": NO},
        want_scores={"none": (0, 100), "nosched": (0, 100), "prefer": (1, 0)},
    ),
    Case(
        name="a NoExecute toleration covers NoExecute alone",
        pod=POD.tolerates("k", "v", "NoExecute"),
        nodes=EFFECTS,
        want=ALL_OK | {"nosched": NO},
        want_scores={"none": (0, 100), "noexec": (0, 100), "prefer": (1, 0)},
    ),
    Case(
        name="a PreferNoSchedule toleration does not help against NoSchedule",
        pod=POD.tolerates("k", "v", SOFT),
        nodes=EFFECTS,
        want=HARD_REFUSED,
        want_scores={"none": (0, 100), "prefer": (0, 100)},
    ),
    Case(
        name="an unknown operator never tolerates",
        pod=evolve(POD.obj(), spec=PodSpec(tolerations=(Toleration("k", "Foo", "v"),))),
        nodes=EFFECTS,
        want=HARD_REFUSED,
        want_scores={"none": (0, 100), "prefer": (1, 0)},
    ),
    Case(
        name="every taint must be tolerated",
        pod=POD.tolerates("k"),
        nodes=[roomy("a").taint("k").taint("j"), roomy("b").taint("k")],
        want={"a": NO, "b": "Ok"},
    ),
    Case(
        name="one key with two effects needs both tolerated",
        pod=POD.tolerates("k", effect="NoSchedule"),
        nodes=[roomy("a").taint("k").taint("k", effect="NoExecute")],
        want={"a": NO},
    ),
    Case(
        name="one key with two values needs both tolerated",
        pod=POD.tolerates("k", "1"),
        nodes=[roomy("a").taint("k", "1").taint("k", "2", "NoExecute")],
        want={"a": NO},
    ),
    Case(
        name="score counts untolerated soft taints",
        pod=POD,
        nodes=[
            roomy("p0"),
            roomy("p1").taint("x", effect=SOFT),
            roomy("p2").taint("x", effect=SOFT).taint("y", effect=SOFT),
            roomy("p3").taint("x", effect=SOFT).taint("y", effect=SOFT).taint("z", effect=SOFT),
        ],
        want_scores={"p0": (0, 100), "p1": (1, 67), "p2": (2, 34), "p3": (3, 0)},
    ),
    Case(
        name="no soft taint anywhere gives 100 everywhere",
        pod=POD,
        nodes=[roomy("a"), roomy("b")],
        want_scores={"a": (0, 100), "b": (0, 100)},
    ),
    Case(
        name="the same number of soft taints everywhere gives 0 everywhere",
        pod=POD,
        nodes=[roomy("a").taint("x", effect=SOFT), roomy("b").taint("y", effect=SOFT)],
        want_scores={"a": (1, 0), "b": (1, 0)},
    ),
    Case(
        name="normalising divides integers",
        pod=POD,
        nodes=[
            roomy("p1").taint("x", effect=SOFT),
            roomy("p3").taint("x", effect=SOFT).taint("y", effect=SOFT).taint("z", effect=SOFT),
        ],
        want_scores={"p1": (1, 67), "p3": (3, 0)},
    ),
    Case(
        name="Lt compares numbers when the gate is on",
        pod=POD.tolerates("slo", "95", operator="Lt"),
        nodes=SERVICE_LEVELS,
        gates=COMPARISON,
        want={"v90": "Ok", "v95": NO, "v99": NO},
    ),
    Case(
        name="Gt wants more, not as much",
        pod=POD.tolerates("slo", "95", operator="Gt"),
        nodes=SERVICE_LEVELS,
        gates=COMPARISON,
        want={"v90": NO, "v95": NO, "v99": "Ok"},
    ),
    Case(
        name="Lt never tolerates when the gate is off",
        pod=POD.tolerates("slo", "95", operator="Lt"),
        nodes=SERVICE_LEVELS,
        want={"v90": NO, "v95": NO, "v99": NO},
    ),
    Case(
        name="compared values must be canonical 64-bit decimals",
        pod=POD.tolerates("slo", "-100", operator="Gt"),
        nodes=[roomy(name).taint("slo", value) for name, value in VALUES.items()],
        gates=COMPARISON,
        want=dict.fromkeys(VALUES, NO) | {"neg": "Ok", "zero": "Ok", "big": "Ok"},
    ),
    Case(
        name="a toleration whose value is no such number never tolerates",
        pod=POD.tolerates("slo", "08", operator="Gt"),
        nodes=SERVICE_LEVELS,
        gates=COMPARISON,
        want={"v90": NO, "v95": NO, "v99": NO},
    ),
]
TAINT = "Node/UpdateNodeTaint"
HINTS = [
    HintCase(name="the taint goes", event=TAINT, pod=POD, old=roomy("a").taint("k"), new=roomy("a"), want=Hint.QUEUE),
    HintCase(
        name="the taint is swapped for another untolerated one",
        event=TAINT,
        pod=POD,
        old=roomy("a").taint("k"),
        new=roomy("a").taint("j"),
        want=Hint.SKIP,
    ),
    HintCase(name="a tainted node comes", event="Node/Add", pod=POD, new=roomy("a").taint("k"), want=Hint.SKIP),
    HintCase(name="a clean node comes", event="Node/Add", pod=POD, new=roomy("a"), want=Hint.QUEUE),
    HintCase(
        name="a node was open and stays open",
        event=TAINT,
        pod=POD,
        old=roomy("a"),
        new=roomy("a").taint("s", effect=SOFT),
        want=Hint.SKIP,
    ),
    HintCase(
        name="any change of the pod's own tolerations",
        event="TargetPod/UpdatePodToleration",
        pod=POD,
        old=POD,
        new=POD.tolerates("x"),
        want=Hint.QUEUE,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(TaintToleration, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(TaintToleration, case)

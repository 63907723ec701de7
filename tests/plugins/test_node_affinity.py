"""NodeAffinity: spec node-plugins.md §7.4, rows 31-57."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
from attrs import evolve

from gangsched_framework.errors import ConfigurationError
from gangsched_framework.events import Hint
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import NodeAffinity as Rules
from gangsched_framework.pod_spec import NodeSelectorTerm, PreferredNodeTerm, Requirement
from gangsched_framework.testing import FakeHandle, NodeBuilder, PodBuilder, make_node, make_pod
from gangsched_plugins.node_affinity import NodeAffinity
from tests.plugins.judge import Case, HintCase, check, check_hint, roomy

NO = "UU node(s) didn't match Pod's node affinity/selector"
ENFORCED = "UU node(s) didn't match scheduler-enforced node affinity"
CONFLICT = "UU pod affinity terms conflict"
POD = make_pod("p")


def labelled(name: str, **labels: str) -> NodeBuilder:
    node = make_node(name)
    for key, value in labels.items():
        node = node.label(key, value)
    return node


NODES = [
    labelled("a", disk="ssd", n="5"),
    labelled("b", disk="hdd", n="10"),
    labelled("c", disk="", n="007"),
    labelled("d", n="x"),
]
NAMES = ("a", "b", "c", "d")


def only(*names: str, others: str = NO) -> dict[str, str]:
    """Verdicts on ``NODES``: Ok for the named ones."""
    return {name: "Ok" if name in names else others for name in NAMES}


def raw_and_normalized(*pairs: tuple[int, int]) -> dict[str, Any]:
    return dict(zip(NAMES, pairs, strict=True))


def on_name(*values: str, operator: str = "In") -> Requirement:
    return Requirement("metadata.name", operator, values)


def requires(*terms: NodeSelectorTerm) -> Pod:
    return _with_rules(Rules(required=terms))


def prefers(*terms: tuple[int, NodeSelectorTerm]) -> Pod:
    return _with_rules(Rules(preferred=tuple(PreferredNodeTerm(weight, term) for weight, term in terms)))


def _with_rules(rules: Rules, builder: PodBuilder = POD) -> Pod:
    pod = builder.obj()
    return evolve(pod, spec=evolve(pod.spec, node_affinity=rules))


def expression(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm((Requirement(key, operator, values),))


def field(*requirements: Requirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=requirements)


def empty_selector() -> Pod:
    pod = POD.obj()
    return evolve(pod, spec=evolve(pod.spec, node_selector={}))


ADDED = {
    "addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "hdd"]}]},
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 3,
                "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["hdd"]}]},
            },
        ],
    }
}

FILTER = [
    Case(name="nodeSelector", pod=POD.node_selector("disk", "ssd"), nodes=NODES, want=only("a")),
    Case(
        name="an empty value must be there too",
        pod=POD.node_selector("disk", ""),
        nodes=NODES,
        want=only("c"),
    ),
    Case(
        name="an empty nodeSelector restricts nothing but PreFilter does not skip",
        pod=empty_selector(),
        nodes=NODES,
        want=only(*NAMES),
        want_scores="Skip",
    ),
    Case(name="no rules at all skip", pod=POD, nodes=NODES, want_pre_filter="Skip", want=only(*NAMES)),
    Case(
        name="nodeSelector and affinity must both hold",
        pod=POD.node_selector("disk", "hdd").node_affinity("n", operator="Exists"),
        nodes=NODES,
        want=only("b"),
    ),
    Case(name="In", pod=POD.node_affinity("disk", "ssd", "nvme"), nodes=NODES, want=only("a")),
    Case(name="In on an absent label is false", pod=POD.node_affinity("nope", "x"), nodes=NODES, want=only()),
    Case(
        name="NotIn holds for an absent label",
        pod=POD.node_affinity("disk", "ssd", operator="NotIn"),
        nodes=NODES,
        want=only("b", "c", "d"),
    ),
    Case(
        name="DoesNotExist",
        pod=POD.node_affinity("disk", operator="DoesNotExist"),
        nodes=NODES,
        want=only("d"),
    ),
    Case(
        name="Gt compares integers, 007 is 7 and x is none",
        pod=POD.node_affinity("n", "5", operator="Gt"),
        nodes=NODES,
        want=only("b", "c"),
    ),
    Case(name="Lt", pod=POD.node_affinity("n", "10", operator="Lt"), nodes=NODES, want=only("a", "c")),
    Case(
        name="Gt on an absent label is false",
        pod=POD.node_affinity("nope", "0", operator="Gt"),
        nodes=NODES,
        want=only(),
    ),
    Case(
        name="Gt with a negative value is malformed, for the value must be a label value",
        pod=POD.node_affinity("v", "-2", operator="Gt"),
        nodes=[labelled("a", v="5")],
        want={"a": NO},
    ),
    Case(
        name="the label of Gt is a signed 64-bit decimal",
        pod=POD.node_affinity("v", "0", operator="Gt"),
        nodes=[
            labelled("plus", v="+6"),
            labelled("minus", v="-1"),
            labelled("fraction", v="1.5"),
            labelled("blank", v=""),
            labelled("max", v="9223372036854775807"),
            labelled("over", v="9223372036854775808"),
            labelled("zeros", v="007"),
        ],
        want={"plus": "Ok", "minus": NO, "fraction": NO, "blank": NO, "max": "Ok", "over": NO, "zeros": "Ok"},
    ),
    Case(
        name="terms are ORed",
        pod=POD.node_affinity("disk", "ssd").node_affinity("n", "x"),
        nodes=NODES,
        want=only("a", "d"),
    ),
    Case(
        name="requirements of a term are ANDed",
        pod=requires(NodeSelectorTerm((Requirement("disk", "Exists"), Requirement("n", "In", ("10", "x"))))),
        nodes=NODES,
        want=only("b"),
    ),
    Case(
        name="a term on the name narrows the search",
        pod=requires(field(on_name("b"))),
        nodes=NODES,
        want=only("b", others="excluded"),
    ),
    Case(
        name="a term on an unknown name excludes every node",
        pod=requires(field(on_name("zz"))),
        nodes=NODES,
        want=only(others="excluded"),
    ),
    Case(
        name="the names of two terms are united",
        pod=requires(field(on_name("a")), field(on_name("c"))),
        nodes=NODES,
        want=only("a", "c", others="excluded"),
    ),
    Case(
        name="one term without a name opens the search to every node",
        pod=requires(field(on_name("a")), expression("disk", "In", "hdd")),
        nodes=NODES,
        want=only("a", "b"),
    ),
    Case(
        name="a named node may still fail its expressions",
        pod=requires(NodeSelectorTerm((Requirement("disk", "In", ("hdd",)),), (on_name("a"),))),
        nodes=NODES,
        want=only(others="excluded") | {"a": NO},
    ),
    Case(
        name="two values of one name requirement narrow, and then the malformed term never matches",
        pod=requires(field(on_name("a", "b"))),
        nodes=NODES,
        want={"a": NO, "b": NO, "c": "excluded", "d": "excluded"},
    ),
    Case(
        name="names that exclude each other conflict",
        pod=requires(field(on_name("a"), on_name("b"))),
        nodes=NODES,
        want_pre_filter=CONFLICT,
        want={},
    ),
    Case(
        name="NotIn of a name does not narrow",
        pod=requires(field(on_name("a", operator="NotIn"))),
        nodes=NODES,
        want=only("b", "c", "d"),
    ),
    Case(
        name="a field other than the name is empty",
        pod=requires(field(Requirement("spec.x", "In", ("",)), Requirement("spec.y", "NotIn", ("z",)))),
        nodes=NODES,
        want=only(*NAMES),
    ),
    Case(name="a value of Gt that is no number", pod=requires(expression("n", "Gt", "abc")), nodes=NODES, want=only()),
    Case(name="In without values", pod=requires(expression("disk", "In")), nodes=NODES, want=only()),
    Case(
        name="a malformed term does not spoil the others",
        pod=requires(expression("disk", "Foo", "x"), expression("disk", "In", "ssd")),
        nodes=NODES,
        want=only("a"),
    ),
    Case(name="a term that says nothing matches nothing", pod=requires(NodeSelectorTerm()), nodes=NODES, want=only()),
    Case(name="an empty list of terms matches nothing", pod=requires(), nodes=NODES, want=only()),
]
SCORE = [
    Case(
        name="no preference matches",
        pod=prefers((5, expression("nope", "Exists"))),
        nodes=NODES,
        want_scores=raw_and_normalized((0, 0), (0, 0), (0, 0), (0, 0)),
    ),
    Case(
        name="weight 0 is passed over even when malformed",
        pod=prefers((0, expression("disk", "Foo", "x")), (5, expression("disk", "Exists"))),
        nodes=NODES,
        want_scores=raw_and_normalized((5, 100), (5, 100), (5, 100), (0, 0)),
    ),
    Case(
        name="an empty preference never scores",
        pod=prefers((50, NodeSelectorTerm()), (1, expression("disk", "Exists"))),
        nodes=NODES,
        want_scores=raw_and_normalized((1, 100), (1, 100), (1, 100), (0, 0)),
    ),
    Case(
        name="a malformed preference is an error",
        pod=prefers((5, expression("disk", "Foo", "x"))),
        nodes=NODES,
        want_scores='E [0].matchExpressions[0].operator: Unsupported value: "Foo": supported values: "In", "NotIn", '
        '"Exists", "DoesNotExist", "Gt", "Lt"',
    ),
    Case(
        name="a preference by name",
        pod=prefers((9, field(on_name("c")))),
        nodes=NODES,
        want_scores=raw_and_normalized((0, 0), (0, 0), (9, 100), (0, 0)),
    ),
    Case(
        name="a preference with NotIn",
        pod=prefers((10, expression("disk", "NotIn", "ssd"))),
        nodes=NODES,
        want_scores=raw_and_normalized((0, 0), (10, 100), (10, 100), (10, 100)),
    ),
    Case(
        name="added affinity refuses first and adds its preference",
        pod=POD,
        nodes=NODES,
        args=ADDED,
        want=only("a", "b", others=ENFORCED),
        want_scores={"a": (0, 0), "b": (3, 100)},
    ),
    Case(
        name="the pod's preference comes on top of the added one",
        pod=prefers((2, expression("disk", "In", "ssd"))),
        nodes=NODES,
        args=ADDED,
        want=only("a", "b", others=ENFORCED),
        want_scores={"a": (2, 66), "b": (3, 100)},
    ),
]
LABEL = "Node/UpdateNodeLabel"
WANTS_SSD = POD.node_selector("disk", "ssd")
HINTS = [
    HintCase(
        name="the label appears",
        event=LABEL,
        pod=WANTS_SSD,
        old=roomy("a"),
        new=labelled("a", disk="ssd"),
        want=Hint.QUEUE,
    ),
    HintCase(name="a matching node", event="Node/Add", pod=WANTS_SSD, new=labelled("a", disk="ssd"), want=Hint.QUEUE),
    HintCase(name="another node", event="Node/Add", pod=WANTS_SSD, new=roomy("a"), want=Hint.SKIP),
    HintCase(
        name="a node that matched before",
        event=LABEL,
        pod=WANTS_SSD,
        old=labelled("a", disk="ssd"),
        new=labelled("a", disk="ssd", x="1"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="no term matches, and one is malformed: a hint that fails queues",
        event="Node/Add",
        pod=requires(expression("disk", "Foo", "x"), expression("disk", "In", "ssd")),
        new=roomy("a"),
        want=Hint.QUEUE,
    ),
    HintCase(
        name="another term matched before and does: the malformed one is not asked",
        event=LABEL,
        pod=requires(expression("disk", "In", "ssd"), expression("disk", "Foo", "x")),
        old=labelled("a", disk="ssd"),
        new=labelled("a", disk="ssd", x="1"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="the node selector refuses before a malformed term is asked",
        event="Node/Add",
        pod=_with_rules(Rules((expression("disk", "Foo", "x"),)), WANTS_SSD),
        new=roomy("a"),
        want=Hint.SKIP,
    ),
    HintCase(
        name="a taint is not registered",
        event="Node/UpdateNodeTaint",
        pod=WANTS_SSD,
        old=roomy("a"),
        new=roomy("a").taint("k"),
        want=None,
    ),
]


@pytest.mark.parametrize("case", FILTER, ids=attrgetter("name"))
def test_verdicts(case: Case) -> None:
    check(NodeAffinity, case)


@pytest.mark.parametrize("case", SCORE, ids=attrgetter("name"))
def test_scores(case: Case) -> None:
    check(NodeAffinity, case)


@pytest.mark.parametrize("case", HINTS, ids=attrgetter("name"))
def test_hints(case: HintCase) -> None:
    check_hint(NodeAffinity, case)


def test_a_node_outside_the_added_affinity_gives_no_hint() -> None:
    registration = next(iter(NodeAffinity(ADDED, FakeHandle()).events_to_register()))
    assert registration.hint is not None
    assert registration.hint(POD.obj(), None, labelled("n", disk="nvme").obj()) is Hint.SKIP
    assert registration.hint(POD.obj(), None, labelled("n", disk="ssd").obj()) is Hint.QUEUE


@pytest.mark.parametrize("key", ["requiredDuringScheduling", "preferredDuringScheduling"])
def test_malformed_added_affinity_is_refused_when_built(key: str) -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "Foo"}]}
    required = {"nodeSelectorTerms": [term]}
    preferred = [{"weight": 1, "preference": term}]
    path = f"{key}IgnoredDuringExecution"
    added = {path: required if key.startswith("required") else preferred}
    with pytest.raises(ConfigurationError, match=rf"^parsing addedAffinity\.{path}: \[0\]\.matchExpressions\[0\]\.op"):
        NodeAffinity({"addedAffinity": added}, FakeHandle())

"""Label selectors and node selector terms: spec node-plugins.md §7.4.4-7, §7.9.2, §7.10.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.objects import Node
from gangsched_framework.pod_spec import LabelSelector, NodeSelectorTerm, Requirement
from gangsched_plugins.common.selectors import NodeTerm, SelectorError, compile_label_selector, parse_int64


def where(*requirements: tuple[str, ...], **labels: str) -> LabelSelector:
    expressions = tuple(Requirement(key, operator, tuple(values)) for key, operator, *values in requirements)
    return LabelSelector(tuple(labels.items()), expressions)


MATCHES = [
    ("an absent selector matches nothing", None, {}, False),
    ("an empty selector matches everything", LabelSelector(), {"a": "1"}, True),
    ("labels are ANDed", where(a="1", b="2"), {"a": "1", "b": "2", "c": "3"}, True),
    ("one wrong label spoils it", where(a="1", b="2"), {"a": "1", "b": "3"}, False),
    ("an empty value is not an absent label", where(a=""), {}, False),
    ("In", where(("a", "In", "1", "2")), {"a": "2"}, True),
    ("In of one value", where(("a", "In", "1")), {"a": "2"}, False),
    ("In wants the label", where(("a", "In", "")), {}, False),
    ("NotIn", where(("a", "NotIn", "1", "2")), {"a": "2"}, False),
    ("NotIn does not want the label", where(("a", "NotIn", "1")), {}, True),
    ("Exists", where(("a", "Exists")), {"a": ""}, True),
    ("DoesNotExist", where(("a", "DoesNotExist")), {"a": ""}, False),
    ("labels and expressions are ANDed", where(("b", "Exists"), a="1"), {"a": "1"}, False),
]


@pytest.mark.parametrize("name, selector, labels, want", MATCHES, ids=[name for name, *_ in MATCHES])
def test_matching(name: str, selector: LabelSelector | None, labels: dict[str, str], want: bool) -> None:
    assert compile_label_selector(selector).matches(labels) is want


def test_only_the_empty_selector_is_everything() -> None:
    assert compile_label_selector(LabelSelector()).everything
    assert not compile_label_selector(None).everything
    assert not compile_label_selector(where(("a", "Exists"))).everything


def test_matchers_combine() -> None:
    both = compile_label_selector(where(a="1")).also(compile_label_selector(where(("b", "Exists"))))
    assert both.matches({"a": "1", "b": ""})
    assert not both.matches({"a": "1"})


NAME_RULE = "must consist of alphanumeric characters, '-', '_' or '.'"
MALFORMED = [
    ("an unknown operator", where(("a", "Foo")), '"Foo" is not a valid label selector operator'),
    ("Gt is for nodes", where(("a", "Gt", "1")), '"Gt" is not a valid label selector operator'),
    ("In without values", where(("a", "In")), "values: Invalid value: null: for 'in', 'notin' operators, values set"),
    ("Exists with a value", where(("a", "Exists", "1")), 'values: Invalid value: ["1"]: values set must be empty for'),
    ("an illegal key", where(("a b", "Exists")), f'key: Invalid value: "a b": name part {NAME_RULE}'),
    (
        "an empty key",
        where(("", "Exists")),
        f'key: Invalid value: "": name part must be non-empty; name part {NAME_RULE}',
    ),
    ("a key with an empty prefix", where(("/a", "Exists")), 'key: Invalid value: "/a": prefix part must be non-empty'),
    (
        "a key with an illegal prefix",
        where(("A/a", "Exists")),
        'key: Invalid value: "A/a": prefix part a lowercase RFC',
    ),
    ("a key of three parts", where(("a/b/c", "Exists")), 'key: Invalid value: "a/b/c": a valid label key must consist'),
    ("a long key", where(("a" * 64, "Exists")), "name part must be no more than 63 bytes"),
    (
        "an illegal value",
        where(("a", "In", "x", "-")),
        'values[1][a]: Invalid value: "-": a valid label must be an empty',
    ),
    (
        "an illegal value of matchLabels",
        where(a="-"),
        'values[0][a]: Invalid value: "-": a valid label must be an empty',
    ),
    (
        "several complaints stand in brackets",
        where(("a b", "In")),
        f'[key: Invalid value: "a b": name part {NAME_RULE}',
    ),
]


@pytest.mark.parametrize("name, selector, want", MALFORMED, ids=[name for name, *_ in MALFORMED])
def test_malformed_selectors(name: str, selector: LabelSelector, want: str) -> None:
    with pytest.raises(SelectorError) as refused:
        compile_label_selector(selector)
    assert want in str(refused.value)


KEYS = st.sampled_from("ab")
VALUES = st.sampled_from(["", "1", "2"])
VALUED = st.builds(Requirement, KEYS, st.sampled_from(["In", "NotIn"]), st.lists(VALUES, min_size=1).map(tuple))
BARE = st.builds(Requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"]))
REQUIREMENTS = st.lists(VALUED | BARE).map(tuple)


def holds(requirement: Requirement, labels: dict[str, str]) -> bool:
    value = labels.get(requirement.key)
    if requirement.operator in ("Exists", "In"):
        return value is not None and (requirement.operator == "Exists" or value in requirement.values)
    return value is None or (requirement.operator == "NotIn" and value not in requirement.values)


@given(REQUIREMENTS, st.dictionaries(KEYS, VALUES))
def test_a_selector_is_the_conjunction_of_its_requirements(
    requirements: tuple[Requirement, ...], labels: dict[str, str]
) -> None:
    want = all(holds(requirement, labels) for requirement in requirements)
    assert compile_label_selector(LabelSelector((), requirements)).matches(labels) is want
    term = NodeTerm(NodeSelectorTerm(requirements))
    assert term.matches(Node("n", labels=labels)) is (want and not term.empty)


TERM_ERRORS = [
    ("an unknown operator", NodeSelectorTerm((Requirement("a", "Foo"),)), '[0].operator: Unsupported value: "Foo"'),
    (
        "a field knows In and NotIn only",
        NodeSelectorTerm(match_fields=(Requirement("metadata.name", "Exists"),)),
        'matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
    ),
    (
        "a field takes one value",
        NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("a", "b")),)),
        'matchFields[0].values: Invalid value: ["a","b"]: must have one element',
    ),
    (
        "Gt takes one value",
        NodeSelectorTerm((Requirement("a", "Gt", ("1", "2")),)),
        "matchExpressions[0].values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is",
    ),
    (
        "Lt takes an integer",
        NodeSelectorTerm((Requirement("a", "Lt", ("x",)),)),
        "matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ),
]


@pytest.mark.parametrize("name, term, want", TERM_ERRORS, ids=[name for name, *_ in TERM_ERRORS])
def test_malformed_terms_never_match(name: str, term: NodeSelectorTerm, want: str) -> None:
    compiled = NodeTerm(term)
    assert any(want in error for error in compiled.errors)
    assert not compiled.matches(Node("n", labels={"a": "0"}))


@pytest.mark.parametrize(
    "text, want",
    [
        ("7", 7),
        ("007", 7),
        ("+6", 6),
        ("-3", -3),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("1.5", None),
        ("", None),
        (" 1", None),
        ("1_0", None),
        ("٣", None),
    ],
)
def test_labels_are_read_as_64_bit_decimals(text: str, want: int | None) -> None:
    assert parse_int64(text) == want

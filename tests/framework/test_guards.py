"""A plugin of others that raises, or returns what its point does not allow, is named with what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import frozen

from gangsched_framework.columns import (
    ColumnarPlugin,
    Columns,
    DomainFilter,
    DomainScore,
    FilterColumn,
    ScoreColumn,
)
from gangsched_framework.errors import ConfigurationError, GangschedError, InvariantError, PluginError
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.guards import CONTRACT
from gangsched_framework.handle import Handle
from gangsched_framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    NormalizeScorePlugin,
    PostFilterResult,
    ScorePlugin,
)
from gangsched_framework.profile import POINTS
from gangsched_framework.registry import Registry
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.testing import FakeHandle, make_pod

NODE_ADD = ClusterEvent(Resource.NODE, Action.ADD)


class Base:
    name = "Bad"
    locality = "node"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.args = args


def built(**methods: object) -> Any:
    """A guest ``Bad``, made as the registry makes it; functions take the arguments of the contract, without self."""
    body = {key: staticmethod(each) if callable(each) else each for key, each in methods.items()}
    registry = Registry()
    registry.register("Bad", type("Bad", (Base,), body))
    return registry.build("Bad", {"a": 1}, FakeHandle())


def returning(answer: object) -> Callable[..., object]:
    return lambda *_: answer


STATUS = "allowed Status or None"
PAIR = "allowed (frozenset of node names or None, Status or None)"
ROOM = "allowed (PostFilterResult or None, Status or None)"
WRONG: dict[str, tuple[str, object, str]] = {
    "filter says yes": ("filter", True, f"filter returned bool, {STATUS}"),
    "filter says no": ("filter", "no", f"filter returned str, {STATUS}"),
    "filter counts": ("filter", 5, f"filter returned int, {STATUS}"),
    "a status whose code is a word": (
        "filter",
        Status("Unschedulable", ("x",)),  # type: ignore[arg-type]
        f"filter returned Status(str, (str)), {STATUS}",
    ),
    "a reason that is no text": (
        "filter",
        unschedulable(ValueError("x")),  # type: ignore[arg-type]
        f"filter returned Status(Code, (ValueError)), {STATUS}",
    ),
    "a gate says yes": ("pre_enqueue", True, f"pre_enqueue returned bool, {STATUS}"),
    "pre_filter says nothing": ("pre_filter", None, f"pre_filter returned None, {PAIR}"),
    "pre_filter gives a list of nodes": ("pre_filter", (["n1"], None), f"pre_filter returned (list, None), {PAIR}"),
    "post_filter gives a status alone": (
        "post_filter",
        unschedulable(),
        f"post_filter returned Status(Code, ()), {ROOM}",
    ),
    "victims by name": (
        "post_filter",
        (PostFilterResult(victims=("p",)), None),  # type: ignore[arg-type]
        f"post_filter returned (PostFilterResult, None), {ROOM}",
    ),
    "a score is missing": ("score", None, "score returned None, allowed int or Status"),
    "a score is text": ("score", "5", "score returned str, allowed int or Status"),
    "a score is a tuple": ("score", (5, None), "score returned (int, None), allowed int or Status"),
    "a score is no integer": ("score", 0.5, "score returned float, allowed int or Status"),
    "a score is a truth": ("score", True, "score returned bool, allowed int or Status"),
    "permit says yes": ("permit", True, f"permit returned bool, {STATUS}"),
    "placements without a status": (
        "generate_placements",
        (),
        "generate_placements returned (), allowed (tuple of Placement, Status or None)",
    ),
    "placement_feasible says yes": ("placement_feasible", True, f"placement_feasible returned bool, {STATUS}"),
    "a key that is a number": ("sort_key", 1, "sort_key returned int, allowed tuple of int"),
    "a reason that is None": ("overused", None, "overused returned None, allowed str"),
    "events without hints": (
        "events_to_register",
        [NODE_ADD],
        "events_to_register returned (ClusterEvent), allowed ClusterEventWithHint for each event",
    ),
    "columns that are a list": ("columns", [], "columns returned list, allowed Columns or None"),
}


@pytest.mark.parametrize("method, answer, complaint", WRONG.values(), ids=WRONG)
def test_an_answer_of_a_wrong_type_is_refused_with_what_is_allowed(method: str, answer: object, complaint: str) -> None:
    ask = getattr(built(**{method: returning(answer)}), method)
    with pytest.raises(PluginError) as refused:
        ask(*range(CONTRACT[method].parameters))
    assert str(refused.value) == f"plugin Bad: {complaint}"


LEFT: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "fractions": (lambda scores: scores.__setitem__(0, 0.5), "3 scores (float, int)"),
    "fewer": (lambda scores: scores.pop(), "2 scores (int)"),
}


@pytest.mark.parametrize("change, left", LEFT.values(), ids=LEFT)
@pytest.mark.parametrize("method", ["normalize_score", "normalize_placement_score"])
def test_scores_are_normalised_to_as_many_integers(
    method: str, change: Callable[[list[Any]], object], left: str
) -> None:
    def normalize(*arguments: Any) -> None:
        change(arguments[-1])

    ask = getattr(built(**{method: normalize}), method)
    with pytest.raises(PluginError, match="allowed as many int as it was given, 3") as refused:
        ask(*range(CONTRACT[method].parameters - 1), [1, 2, 3])
    assert f"{method} left {left}" in str(refused.value)


@pytest.mark.parametrize("method", CONTRACT)
def test_what_any_method_raises_is_told_on_one_line_with_its_place_and_chained(method: str) -> None:
    def fail(*_: object) -> None:
        raise ValueError("two\nlines")

    ask = getattr(built(**{method: fail}), method)
    arguments: list[list[int]] = [[] for _ in range(CONTRACT[method].parameters)]
    line = fail.__code__.co_firstlineno + 1
    with pytest.raises(GangschedError) as refused:
        ask(*arguments)
    assert str(refused.value) == f"plugin Bad: {method} raised ValueError: two\\nlines ({__file__}:{line})"
    assert isinstance(refused.value.__cause__, ValueError)


def test_the_place_is_the_plugins_own_line_where_a_library_raised() -> None:
    def fail(*_: object) -> None:
        make_pod("p").requests(cpu="much")

    with pytest.raises(PluginError, match=rf"\({__file__}:{fail.__code__.co_firstlineno + 1}\)"):
        built(filter=fail).filter(None, None, None)


PASSED = {
    "of another plugin that this one called back": PluginError("plugin Other: …"),
    "of the engine's own bookkeeping": InvariantError("twice"),
}


@pytest.mark.parametrize("problem", PASSED.values(), ids=PASSED)
def test_an_error_of_somebody_else_is_passed_on_as_it_is(problem: Exception) -> None:
    def fail(*_: object) -> None:
        raise problem

    with pytest.raises(type(problem)) as raised:
        built(pod_group_post_filter=fail).pod_group_post_filter(None, None, None)
    assert raised.value is problem


def _fail(*_: object) -> Any:
    raise ValueError("column")


FORMS: dict[str, tuple[Columns, Callable[[Any], object]]] = {
    "a mask": (Columns(FilterColumn(_fail, _fail)), lambda form: form.filter.mask()),
    "refusals": (Columns(FilterColumn(_fail, _fail)), lambda form: form.filter.refusals(())),
    "a row": (Columns(FilterColumn(_fail, _fail, _fail)), lambda form: form.filter.test(0)),
    "domains": (
        Columns(FilterColumn(_fail, _fail, domain=DomainFilter((), _fail))),
        lambda form: form.filter.domain.passes(()),
    ),
    "a score": (Columns(score=ScoreColumn(_fail)), lambda form: form.score.vector()),
    "a relative score": (Columns(score=DomainScore((), _fail)), lambda form: form.score.scores((), None)),
    "a guard": (Columns(guard=_fail), lambda form: form.guard()),
}


@pytest.mark.parametrize(("form", "ask"), FORMS.values(), ids=FORMS)
def test_what_a_function_of_a_columnar_form_raises_is_told_alike(form: Columns, ask: Callable[[Any], object]) -> None:
    guarded = built(columns=returning(form)).columns(None, None)
    with pytest.raises(PluginError, match=r"^plugin Bad: columns raised ValueError: column \("):
        ask(guarded)


def test_kinds_of_pods_share_the_facts_of_a_guarded_form() -> None:
    bad = built(columns=returning(Columns(FilterColumn(_fail, _fail, facts=_fail))))
    one, other = bad.columns(None, None).filter.facts, bad.columns(None, None).filter.facts
    assert (one, hash(one)) == (other, hash(other))
    assert built(columns=returning(None)).columns(None, None) is None


def test_a_hint_is_guarded_like_a_method() -> None:
    def forgets(*_: object) -> Any:
        return None

    def generates() -> Any:
        yield ClusterEventWithHint(NODE_ADD, lambda *_: Hint.QUEUE, within_tree=True)
        yield ClusterEventWithHint(NODE_ADD, forgets)
        yield ClusterEventWithHint(NODE_ADD)

    right, wrong, plain = built(events_to_register=generates).events_to_register()
    assert (right.hint(None, None, None), right.within_tree, plain.hint) == (Hint.QUEUE, True, None)
    with pytest.raises(PluginError, match="plugin Bad: hint returned None, allowed Hint"):
        wrong.hint(None, None, None)


class Full(Base):
    """One of each kind of method."""

    def filter(self, state: object, pod: object, node: object) -> Status | None:
        return unschedulable(str(self.args))

    @classmethod
    def normalize_score(cls, state: object, pod: object, nodes: object, scores: list[int]) -> None:
        scores[:] = [0 if cls is Full else 1 for _ in scores]

    @staticmethod
    def columns(pod: object, table: object) -> None: ...

    def score(self, *arguments: object) -> int:
        return 7


@frozen
class Slotted:
    args: object
    handle: object
    name = "Bad"

    def filter(self, state: object, pod: object, node: object) -> None: ...


def guest(cls: type[Any]) -> Any:
    registry = Registry()
    registry.register("Bad", cls)
    return registry.build("Bad", {"a": 1}, FakeHandle())


def test_a_guarded_plugin_is_what_its_class_says_and_no_more() -> None:
    plugin = guest(Full)
    assert isinstance(plugin, Full)
    assert (type(plugin).__name__, type(plugin).__module__, plugin.locality) == ("Full", __name__, "node")
    for protocol in (FilterPlugin, NormalizeScorePlugin, ScorePlugin, ColumnarPlugin):
        assert isinstance(plugin, protocol)
    assert not isinstance(plugin, EnqueueExtensions)
    assert not hasattr(plugin, "inert")


def test_methods_of_every_kind_answer_as_before() -> None:
    plugin, scores = guest(Full), [5, 6]
    assert plugin.filter(None, None, None).message == "{'a': 1}"
    assert (plugin.score(None, None, None), plugin.columns(None, None)) == (7, None)
    plugin.normalize_score(None, None, None, scores)
    assert scores == [1, 1]
    assert guest(Slotted).filter(None, None, None) is None


def test_plugins_a_registry_begins_with_are_called_as_they_are() -> None:
    assert type(Registry({"Bad": Full}).build("Bad", {}, FakeHandle())) is Full


def test_a_constructor_that_raises_is_named_unless_it_refuses_its_arguments() -> None:
    def fail(self: object, args: object, handle: object) -> None:
        raise KeyError("zone")

    with pytest.raises(PluginError, match=r"plugin Bad: constructor raised KeyError: 'zone' \(.*test_guards.py:\d+\)"):
        guest(type("Bad", (Base,), {"__init__": fail}))


def test_a_class_that_refuses_subclasses_is_no_plugin() -> None:
    class Final(Base):
        def __init_subclass__(cls) -> None:
            raise TypeError("final")

    with pytest.raises(ConfigurationError, match='plugin "Bad": its class cannot be subclassed: final'):
        guest(Final)


def test_every_method_of_the_extension_points_has_a_contract() -> None:
    assert {method for methods in POINTS.values() for method in methods} <= CONTRACT.keys()

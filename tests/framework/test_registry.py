"""The registry refuses a malformed plugin when it is registered, not when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from gangsched_framework import registry as registry_module
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.handle import Handle
from gangsched_framework.profile import POINTS
from gangsched_framework.registry import ENTRY_POINT_GROUP, Registry
from gangsched_framework.testing import AlwaysFits, FakeHandle


class Base:
    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.args, self.handle = args, handle

    @property
    def name(self) -> str:
        return type(self).__name__


class Good(Base):
    def filter(self, state: object, pod: object, node: object) -> None: ...
    def score(self, state: object, pod: object, node: object, more: int = 0) -> int:
        return 0

    def sort_key(self, *anything: object) -> tuple[int, ...]:
        return ()


def broken(method: str, function: Callable[..., object]) -> type[Any]:
    return type("Broken", (Base,), {method: function})


MALFORMED = {
    "too few arguments": (broken("filter", lambda self, state, pod: None), "filter takes 2 arguments", 3),
    "too many arguments": (broken("pre_enqueue", lambda self, pod, more: None), "pre_enqueue takes 2 arguments", 1),
    "a single argument": (broken("post_bind", lambda self, pod: None), "post_bind takes 1 argument,", 2),
    "too many even without the optional one": (
        broken("permit", lambda self, a, b, c, d, e=1: None),
        "permit takes 4 to 5 arguments",
        3,
    ),
    "a keyword that must be given": (
        broken("score", lambda self, state, pod, node, *, weight: 0),
        "score takes keyword arguments",
        3,
    ),
    "an extension of PreFilter": (broken("add_pod", lambda self, state, pod: None), "add_pod takes 2 arguments", 4),
    "a normaliser of placements": (
        broken("normalize_placement_score", lambda self, scores: None),
        "normalize_placement_score takes 1 argument,",
        2,
    ),
    "events that want an argument": (
        broken("events_to_register", lambda self, handle: ()),
        "events_to_register takes 1 argument,",
        0,
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_method_with_a_wrong_signature_is_refused_by_name(name: str) -> None:
    plugin, complaint, wanted = MALFORMED[name]
    with pytest.raises(ConfigurationError) as refused:
        Registry({"Broken": plugin})
    assert str(refused.value).startswith(f'plugin "Broken": {complaint}')
    assert str(refused.value).endswith(f"the contract gives it {wanted}")


def test_optional_and_variable_arguments_are_fine() -> None:
    assert "Good" in Registry({"Good": Good})
    assert "Any" in Registry({"Any": broken("filter", lambda *anything, **more: None)})


class Detached(Base):
    @staticmethod
    def filter(state: object, pod: object, node: object) -> None: ...
    @classmethod
    def pre_enqueue(cls, pod: object) -> None: ...


def test_static_and_class_methods_have_no_self_to_count() -> None:
    assert "Detached" in Registry({"Detached": Detached})
    with pytest.raises(ConfigurationError, match="filter takes 2 arguments"):
        Registry({"Broken": broken("filter", staticmethod(lambda state, pod: None))})


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ConfigurationError, match='plugin "Good" is registered twice'):
        Registry({"Good": Good}).register("Good", Good)


def test_a_plugin_is_built_with_its_arguments_and_the_handle() -> None:
    handle, args = FakeHandle(), {"weight": 3}
    plugin = Registry({"Good": Good}).build("Good", args, handle)
    assert isinstance(plugin, Good)
    assert (plugin.args, plugin.handle) == (args, handle)


class Refusing(Base):
    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        raise ConfigurationError(f"unknown argument {sorted(args)}")


def test_arguments_a_plugin_refuses_are_reported_with_its_name() -> None:
    with pytest.raises(ConfigurationError) as refused:
        Registry({"Refusing": Refusing}).build("Refusing", {"zon": "b"}, FakeHandle())
    assert str(refused.value) == """initializing plugin "Refusing": unknown argument ['zon']"""


NO_PLUGINS = {
    "a function": (lambda args, handle: Good(args, handle), "found a function, allowed a class"),
    "an object": (Good({}, FakeHandle()), "found a Good, allowed a class"),
    "a module": (registry_module, "found a module, allowed a class"),
}


@pytest.mark.parametrize("thing, complaint", NO_PLUGINS.values(), ids=NO_PLUGINS)
def test_what_is_no_plugin_class_is_refused_instead_of_serving_no_point(thing: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Registry({"X": thing})
    assert str(refused.value) == f'plugin "X": {complaint}'


class Bare:
    """A class as a beginner may write it: it takes nothing."""

    name = "Bare"


def test_a_plugin_whose_constructor_takes_something_else_cannot_be_built() -> None:
    complaint = 'plugin "Bare": its constructor takes 0 arguments, the contract gives it 2: args, handle'
    with pytest.raises(ConfigurationError, match=complaint):
        Registry({"Bare": Bare}).build("Bare", {}, FakeHandle())


class Nameless:
    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None: ...


NAMELESS = {
    "no name": (Nameless, 'plugin "X": its class has no name, allowed name = "X"'),
    "another name": (Bare, 'plugin "X" calls itself "Bare"'),
    "a name that is no text": (type("Numbered", (Bare,), {"name": 5}), 'plugin "X" calls itself "5"'),
}


@pytest.mark.parametrize("cls, complaint", NAMELESS.values(), ids=NAMELESS)
def test_a_class_without_the_name_it_is_registered_under_is_refused(cls: type[Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Registry({"X": cls})
    assert str(refused.value) == complaint
    with pytest.raises(ConfigurationError):
        Registry().register("X", cls)


def test_an_unknown_plugin_cannot_be_built() -> None:
    with pytest.raises(ConfigurationError, match='plugin "Bad" does not exist'):
        Registry().build("Bad", {}, FakeHandle())


def test_a_plugin_that_works_out_its_name_must_call_itself_by_the_name_it_is_registered_under() -> None:
    with pytest.raises(ConfigurationError, match='plugin "Other" calls itself "Good"'):
        Registry({"Other": Good}).build("Other", {}, FakeHandle())


def test_a_plugin_serves_the_points_whose_methods_it_has() -> None:
    registry = Registry({"Good": Good})
    assert [point for point in POINTS if registry.implements("Good", point)] == ["queueSort", "filter", "score"]


def test_half_a_reserve_plugin_does_not_serve_reserve() -> None:
    half = broken("reserve", lambda self, state, pod, node: None)
    assert not Registry({"Broken": half}).implements("Broken", "reserve")


def test_plugins_are_listed_in_order_of_registration() -> None:
    assert list(Registry({"Good": Good, "AlwaysFits": AlwaysFits})) == ["Good", "AlwaysFits"]


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, ENTRY_POINT_GROUP)


def with_points(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    def entry_points(group: str) -> list[EntryPoint]:
        return [p for p in points if p.group == group]

    monkeypatch.setattr(registry_module, "entry_points", entry_points)


def test_installed_plugins_join_in_order_of_name(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "gangsched_framework.testing:"
    with_points(monkeypatch, point("ScriptedScore", f"{where}ScriptedScore"), point("AlwaysFits", f"{where}AlwaysFits"))
    registry = Registry()
    registry.load_entry_points()
    assert list(registry) == ["AlwaysFits", "ScriptedScore"]
    assert registry.build("AlwaysFits", {}, FakeHandle()).name == "AlwaysFits"


@pytest.mark.parametrize("value", ["no_such_module_here:Plugin", "gangsched_framework.testing:NoSuchPlugin"])
def test_an_installed_plugin_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    with_points(monkeypatch, point("Lost", value))
    with pytest.raises(ConfigurationError, match=f'plugin "Lost" cannot be loaded from {value}'):
        Registry().load_entry_points()


@pytest.mark.parametrize("text", ["def (", "raise RuntimeError('boom')", "1 / 0", "raise SystemExit(3)"])
def test_an_installed_plugin_whose_module_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    module = f"failing_plugin_{len(text)}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with_points(monkeypatch, point("Failing", f"{module}:Plugin"))
    with pytest.raises(ConfigurationError, match=rf'plugin "Failing" cannot be loaded from {module}:Plugin: \w+: '):
        Registry().load_entry_points()


def test_an_installed_plugin_cannot_take_the_name_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with_points(monkeypatch, point("AlwaysFits", "gangsched_framework.testing:AlwaysFits"))
    with pytest.raises(ConfigurationError, match="registered twice"):
        Registry({"AlwaysFits": AlwaysFits}).load_entry_points()

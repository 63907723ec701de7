"""Guards around plugins of others: what one raises, or returns against its contract, becomes one clear error.

What joins by ``Registry.register`` is guarded, in a subclass made when it is built; the plugins a registry begins with,
those of the house, are called as they are. The functions of a columnar form may raise, too; what they return is not
looked at.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from types import new_class
from typing import Any, cast

from attrs import evolve, fields, frozen

from gangsched_framework.columns import Columns, DomainFilter, DomainScore, FilterColumn, ScoreColumn
from gangsched_framework.errors import ConfigurationError, InvariantError, PluginError, on_one_line
from gangsched_framework.events import ClusterEvent, ClusterEventWithHint, Hint
from gangsched_framework.interface import PodGroupPostFilterResult, PostFilterResult, PreHint
from gangsched_framework.objects import Pod
from gangsched_framework.placement import Placement
from gangsched_framework.status import Code, Status


def _is(kind: type, found: object) -> bool:
    return isinstance(found, kind)


def _is_status(found: object) -> bool:
    if not isinstance(found, Status):
        return found is None
    return _is(Code, found.code) and _is(tuple, found.reasons) and _all(str, found.reasons)


def _is_int(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool)


def _is_score(found: object) -> bool:
    return _is_int(found) or (found is not None and _is_status(found))


def _all(kind: type, found: object) -> bool:
    return all(isinstance(each, kind) for each in cast("tuple[object, ...]", found))


def _with_status(found: object, fits: Callable[[Any], bool]) -> bool:
    return isinstance(found, tuple) and len(found) == 2 and fits(found[0]) and _is_status(found[1])


def _is_names(found: object) -> bool:
    return found is None or isinstance(found, frozenset)


def _is_room(found: object) -> bool:
    if not isinstance(found, PostFilterResult):
        return found is None
    if not all(_is(tuple, each) and _all(Pod, each) for each in (found.victims, found.cleared)):
        return False
    return found.nominated_node is None or _is(str, found.nominated_node)


def _is_group_room(found: object) -> bool:
    if not isinstance(found, PodGroupPostFilterResult):
        return found is None
    return _is(Mapping, found.nominations) and _is(tuple, found.victims) and _all(Pod, found.victims)


def _is_placements(found: object) -> bool:
    return isinstance(found, tuple) and _all(Placement, found)


def _is_order(found: object) -> bool:
    return isinstance(found, tuple) and all(_is_int(each) for each in found)


def _is_events(found: object) -> bool:
    return all(
        isinstance(each, ClusterEventWithHint) and _is(ClusterEvent, each.event)
        for each in cast("tuple[object, ...]", found)
    )


@frozen
class Method:
    """``parameters``: how many arguments it is given. ``allowed``, ``fits``: what it may return, in words, as a test.

    ``scores_in_place``: its last argument is a list of integers that it may change, but not their number.
    """

    parameters: int
    allowed: str
    fits: Callable[[Any], bool]
    scores_in_place: bool = False


def _ignored(parameters: int) -> Method:
    return Method(parameters, "anything", lambda _: True)


def _verdict(parameters: int, *, scores_in_place: bool = False) -> Method:
    return Method(parameters, "Status or None", _is_status, scores_in_place)


def _of(kind: type, parameters: int, words: str = "") -> Method:
    return Method(parameters, words or kind.__name__, lambda found: isinstance(found, kind))


CONTRACT: Mapping[str, Method] = {
    "sort_key": Method(1, "tuple of int", _is_order),
    "tenant_key": _of(tuple, 1),
    "key_in_branch": _of(tuple, 1),
    "branch": _of(tuple, 1),
    "job_key": _of(tuple, 1),
    "settle": _ignored(0),
    "overused": _of(str, 1),
    "refuses": _of(str, 2),
    "pre_enqueue": _verdict(1),
    "events_to_register": Method(0, "ClusterEventWithHint for each event", _is_events),
    "pre_queueing_hint": _of(PreHint, 3),
    "pre_filter": Method(
        3, "(frozenset of node names or None, Status or None)", lambda found: _with_status(found, _is_names)
    ),
    "add_pod": _verdict(4),
    "remove_pod": _verdict(4),
    "filter": _verdict(3),
    "post_filter": Method(3, "(PostFilterResult or None, Status or None)", lambda found: _with_status(found, _is_room)),
    "pre_score": _verdict(3),
    "score": Method(3, "int or Status", _is_score),
    "normalize_score": _verdict(4, scores_in_place=True),
    "reserve": _verdict(3),
    "unreserve": _ignored(3),
    "permit": _verdict(3),
    "pre_bind": _verdict(3),
    "bind": _verdict(3),
    "post_bind": _ignored(2),
    "generate_placements": Method(
        3, "(tuple of Placement, Status or None)", lambda found: _with_status(found, _is_placements)
    ),
    "placement_feasible": _verdict(3),
    "score_placement": Method(4, "int or Status", _is_score),
    "score_pods": Method(3, "int", _is_int),
    "normalize_placement_score": _verdict(2, scores_in_place=True),
    "pod_group_post_filter": Method(
        3, "(PodGroupPostFilterResult or None, Status or None)", lambda found: _with_status(found, _is_group_room)
    ),
    "clears": _of(bool, 1),
    "rests_on": _of(Hashable, 1, "something hashable"),
    "powerless": _of(bool, 1),
    "columns": Method(2, "Columns or None", lambda found: found is None or isinstance(found, Columns)),
    "column_key": _of(Hashable, 2, "something hashable"),
    "column_version": _of(Hashable, 1, "something hashable"),
}
"""Every method by which a plugin may be asked."""

_HINT = _of(Hint, 3)
_COLUMNAR = (Columns, FilterColumn, ScoreColumn, DomainFilter, DomainScore)


@frozen
class Guard:
    """Around one plugin: its name, its class, and who must know that it broke its contract."""

    name: str
    cls: type[Any]
    give_up: Callable[[PluginError], None]

    def guest(self) -> type[Any]:
        """A subclass whose methods raise PluginError, and nothing else.

        Raises ConfigurationError when the class refuses to have subclasses.
        """
        cls = self.cls
        body: dict[str, Any] = {key: getattr(cls, key, None) for key in ("__module__", "__qualname__", "__doc__")}
        body["__slots__"] = ()
        for method in CONTRACT:
            if not callable(getattr(cls, method, None)):
                continue
            static = inspect.getattr_static(cls, method)
            if isinstance(static, staticmethod | classmethod):
                body[method] = type(static)(self._method(method, static.__func__))
            else:
                body[method] = self._method(method, _inherited(method))
        try:
            return new_class(cls.__name__, (cls,), {}, lambda namespace: namespace.update(body))
        except Exception as refusal:
            raise ConfigurationError(f'plugin "{self.name}": its class cannot be subclassed: {refusal}') from None

    def _method(self, method: str, call: Callable[..., Any]) -> Callable[..., Any]:
        contract = CONTRACT[method]
        if method == "columns":
            form = self._checked(method, contract, call)
            return lambda *arguments: self._columnar(form(*arguments))
        if method != "events_to_register":
            return self._checked(method, contract, call)
        # a generator runs to its end here, and a hint is asked long after
        asked = self._checked(method, contract, lambda *arguments: tuple(call(*arguments)))

        def events(*arguments: Any) -> tuple[ClusterEventWithHint, ...]:
            return tuple(
                each if each.hint is None else evolve(each, hint=self._checked("hint", _HINT, each.hint))
                for each in asked(*arguments)
            )

        return events

    def _checked(self, method: str, contract: Method, call: Callable[..., Any]) -> Callable[..., Any]:
        def guard(*arguments: Any) -> Any:
            count = len(arguments[-1]) if contract.scores_in_place else 0
            with self.blaming(method):
                found = call(*arguments)
            if not contract.fits(found):
                raise self._broken(f"{method} returned {_kind(found)}, allowed {contract.allowed}")
            if contract.scores_in_place and not (len(arguments[-1]) == count and all(map(_is_int, arguments[-1]))):
                left = ", ".join(dict.fromkeys(_kind(each) for each in arguments[-1]))
                held = f"{len(arguments[-1])} scores ({left})"
                raise self._broken(f"{method} left {held}, allowed as many int as it was given, {count}")
            return found

        return guard

    def _columnar(self, part: Any) -> Any:
        """A columnar form, or a part of one, with each of its functions guarded."""
        if isinstance(part, _COLUMNAR):
            held = {each.name: getattr(part, each.name) for each in fields(type(part))}
            return evolve(part, **{name: self._columnar(each) for name, each in held.items()})
        return _OfColumns(self, part) if callable(part) else part

    @contextmanager
    def blaming(self, where: str, *passed: type[Exception]) -> Iterator[None]:
        """What the plugin raises inside, as PluginError with the place of the raise, chained to what was raised.

        ``passed`` may be raised.
        """
        try:
            yield
        except (Exception, SystemExit) as failure:
            if isinstance(failure, (PluginError, InvariantError, *passed)):  # the former of whom it called back
                raise
            text = on_one_line(f"{type(failure).__name__}: {failure}".removesuffix(": "))
            raise self._broken(f"{where} raised {text}{_place(failure, self.cls)}") from failure

    def _broken(self, what: str) -> PluginError:
        problem = PluginError(f"plugin {self.name}: {what}")
        self.give_up(problem)
        return problem


@frozen
class _OfColumns:
    """A function of a columnar form. Two around one function are equal, as kinds of pods share ``facts`` by that."""

    _guard: Guard
    _call: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        with self._guard.blaming("columns"):
            return self._call(*arguments)


def _inherited(method: str) -> Callable[..., Any]:
    """The method as ``super()`` finds it, whatever kind of descriptor it is."""

    def call(plugin: Any, *arguments: Any) -> Any:
        return getattr(super(type(plugin), plugin), method)(*arguments)

    return call


def _place(failure: BaseException, cls: type[Any]) -> str:
    """`` (file:line)``: the last line of the class's own file on the way to the raise, else the last of all."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    steps = [step for step in traceback.extract_tb(failure.__traceback__) if step.filename != __file__]
    steps = [step for step in steps if step.filename == file] or steps
    return f" ({steps[-1].filename}:{steps[-1].lineno})" if steps else ""


def _kind(found: object) -> str:
    if found is None:
        return "None"
    if isinstance(found, tuple):
        inner = ", ".join(_kind(each) for each in found[:4])
        return f"({inner}{', …' if len(found) > 4 else ''})"
    if isinstance(found, Status):
        return f"Status({_kind(found.code)}, {_kind(found.reasons)})"
    return type(found).__name__

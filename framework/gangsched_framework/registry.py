"""Registry: plugin name -> class; third parties join through the entry-point group ``gangsched.plugins``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from gangsched_framework.errors import ConfigurationError
from gangsched_framework.fair_order import DYNAMIC_SORT
from gangsched_framework.guards import CONTRACT, Guard
from gangsched_framework.handle import Handle
from gangsched_framework.interface import Plugin
from gangsched_framework.profile import POINTS

ENTRY_POINT_GROUP = "gangsched.plugins"


class Registry:
    """Maps names to plugin classes, which are called as ``cls(args, handle)``.

    ``plugins`` are trusted; those that join by ``register`` are guarded: each call is checked (``guards.py``).
    """

    def __init__(self, plugins: Mapping[str, type[Any]] | None = None) -> None:
        self._classes: dict[str, type[Any]] = {}
        self._guests: set[str] = set()
        for name, cls in (plugins or {}).items():
            self._add(name, cls)

    def register(self, name: str, cls: type[Any]) -> None:
        """Add a plugin class.

        Raises ConfigurationError if the name is taken or not the one the class bears, it is no class, or a method is
        wrong.
        """
        self._add(name, cls)
        self._guests.add(name)

    def _add(self, name: str, cls: type[Any]) -> None:
        if name in self._classes:
            raise ConfigurationError(f'plugin "{name}" is registered twice')
        if not isinstance(cls, type):  # a factory has no methods, so it would serve no point and pass unnoticed
            raise ConfigurationError(f'plugin "{name}": found a {type(cls).__name__}, allowed a class')
        called = getattr(cls, "name", None)
        if called is None:
            raise ConfigurationError(f'plugin "{name}": its class has no name, allowed name = "{name}"')
        if called != name and not hasattr(called, "__get__"):  # what works it out is asked when the plugin is built
            raise ConfigurationError(f'plugin "{name}" calls itself "{called}"')
        for method, contract in CONTRACT.items():
            function = getattr(cls, method, None)
            if function is None or not callable(function):
                continue
            takes = _positional(function, bound=not inspect.isfunction(inspect.getattr_static(cls, method)))
            if takes is not None and contract.parameters not in takes:
                raise ConfigurationError(
                    f'plugin "{name}": {method} takes {_count(takes)}, the contract gives it {contract.parameters}'
                )
        self._classes[name] = cls

    def load_entry_points(self) -> None:
        """Register every installed third-party plugin (group ``gangsched.plugins``), in name order."""
        for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: p.name):
            try:
                cls = point.load()
            except (Exception, SystemExit) as failure:  # whatever a module of somebody else may do while it is imported
                reason = f"{type(failure).__name__}: {failure}"
                raise ConfigurationError(
                    f'plugin "{point.name}" cannot be loaded from {point.value}: {reason}'
                ) from None
            self.register(point.name, cls)

    def __contains__(self, name: str) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def implements(self, name: str, point: str) -> bool:
        """Whether the plugin has the methods of extension point ``point``."""
        if point == "queueSort" and self.sorts_dynamically(name):
            return True
        return all(hasattr(self._classes[name], method) for method in POINTS[point])

    def sorts_dynamically(self, name: str) -> bool:
        """Whether the plugin is a tier of a dynamic queueSort (``fair_order.py``)."""
        return any(hasattr(self._classes[name], method) for method in DYNAMIC_SORT)

    def build(self, name: str, args: Mapping[str, Any], handle: Handle) -> Plugin:
        """Make the plugin. Raises ConfigurationError for an unknown name or refused arguments, PluginError for one
        that raises anything else."""
        if name not in self._classes:
            raise ConfigurationError(f'plugin "{name}" does not exist')
        constructor: Callable[..., Any] = self._classes[name]
        takes = _positional(constructor, bound=True)
        if takes is not None and 2 not in takes:
            raise ConfigurationError(
                f'plugin "{name}": its constructor takes {_count(takes)}, the contract gives it 2: args, handle'
            )
        make = _guarded(Guard(name, self._classes[name], handle.give_up)) if name in self._guests else constructor
        try:
            plugin: Plugin = make(args, handle)
        except ConfigurationError as refusal:
            raise ConfigurationError(f'initializing plugin "{name}": {refusal}') from None
        called = getattr(plugin, "name", None)
        if called != name:  # statuses, rejector sets and profiles must speak of the same plugin
            raise ConfigurationError(f'plugin "{name}" calls itself "{called}"')
        return plugin


def _guarded(guard: Guard) -> Callable[..., Any]:
    guest = guard.guest()

    def make(*arguments: Any) -> Any:
        with guard.blaming("constructor", ConfigurationError):
            return guest(*arguments)

    return make


@lru_cache(maxsize=4096)
def _positional(function: Any, *, bound: bool) -> range | None:
    """How many positional arguments (self excluded) a method can take; None when it cannot be told."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    parameters = parameters[0 if bound else 1 :]
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return range(0)  # no positional call can succeed
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return range(sum(p.default is p.empty for p in positional), len(positional) + 1)


def _count(takes: range) -> str:
    if not takes:
        return "keyword arguments"
    few, many = takes.start, takes.stop - 1
    return f"{few if few == many else f'{few} to {many}'} argument{'' if many == 1 else 's'}"

"""Which plugin of which profile wants to hear of which event (spec §2.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import Factory, field, frozen

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Resource
from gangsched_framework.interface import PreEnqueuePlugin, Sortable


class QueueFramework(Protocol):
    """What the queue uses of ``gangsched_framework.framework.Framework``: one profile's plugins."""

    @property
    def registrations(self) -> Mapping[str, tuple[ClusterEventWithHint, ...]]:
        """Plugin name -> the events it registered."""
        ...

    @property
    def pre_enqueue_plugins(self) -> Sequence[PreEnqueuePlugin]: ...

    def sort_key(self, entity: Sortable, /) -> tuple[int, ...]: ...


Frameworks = Mapping[str, QueueFramework]
"""Scheduler name -> framework of that profile."""

Interested = Mapping[str, tuple[ClusterEventWithHint, ...]]
"""Plugin name -> its registrations that cover one event."""


MEMBER_ADD = ClusterEvent(Resource.UNSCHEDULED_POD, Action.ADD)
"""A waiting member appears (spec §2.12)."""


@frozen
class Audience:
    """Who registered one event. ``plugins``: name -> whether all of its registrations are within a tree.

    ``everywhere`` and ``within_tree`` are those of either kind. ``gates``: whom it wakes of those that any event of
    their gate wakes, '' = what is not gated.
    """

    plugins: Mapping[str, bool]
    everywhere: tuple[str, ...] = field(
        init=False, default=Factory(lambda self: tuple(p for p, within in self.plugins.items() if not within), True)
    )
    within_tree: tuple[str, ...] = field(
        init=False, default=Factory(lambda self: tuple(p for p, within in self.plugins.items() if within), True)
    )
    gates: tuple[str, ...] = field(init=False, default=Factory(lambda self: ("", *self.plugins), True))


class Registrations:
    """Answers per event, worked out once per kind of event."""

    def __init__(self, frameworks: Frameworks) -> None:
        self._frameworks = frameworks
        self._by_profile: dict[tuple[str, ClusterEvent], Interested] = {}
        self._by_event: dict[ClusterEvent, Audience] = {}
        self.of_arrival = self.of_any(MEMBER_ADD)
        """Plugins that registered the arrival of waiting members."""
        self.all_hear = bool(self.of_arrival.everywhere)
        """Whether the arrival of a member may help pods of other trees."""
        self.arrival_gates = frozenset(() if self.all_hear else self.of_arrival.plugins)
        """Whose gated trees are woken by the arrival of their own members, and only by that (spec §2.7.6c)."""

    def of_profile(self, scheduler_name: str, event: ClusterEvent) -> Interested | None:
        """Plugins of one profile that registered the event; None when there is no such profile."""
        question = (scheduler_name, event)
        found = self._by_profile.get(question)
        if found is None:
            framework = self._frameworks.get(scheduler_name)
            if framework is None:
                return None
            found = self._by_profile[question] = _covering(framework, event)
        return found

    def of_any(self, event: ClusterEvent) -> Audience:
        """Plugins of any profile that registered the event."""
        found = self._by_event.get(event)
        if found is None:
            merged: dict[str, bool] = {}
            for framework in self._frameworks.values():
                for plugin, registered in _covering(framework, event).items():
                    merged[plugin] = merged.get(plugin, True) and all(each.within_tree for each in registered)
            found = self._by_event[event] = Audience(merged)
        return found


def _covering(framework: QueueFramework, event: ClusterEvent) -> dict[str, tuple[ClusterEventWithHint, ...]]:
    found: dict[str, tuple[ClusterEventWithHint, ...]] = {}
    for plugin, registrations in framework.registrations.items():
        covering = tuple(each for each in registrations if each.event.matches(event))
        if covering:
            found[plugin] = covering
    return found

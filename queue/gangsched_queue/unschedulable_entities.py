"""Entities parked until an event, an update or the flush: rejected plain pods, and all gated ones (spec §2.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import Entity, rejectors
from gangsched_queue.entity_heap import EntityHeap, SortKey
from gangsched_queue.registrations import Audience


class UnschedulableEntities:
    """By key, and indexed by the plugins whose events an entity waits for, so that an event visits those alone.

    A gated entity waits for the events of the plugin that gates it (spec §2.7.6c), any other for those of all its
    rejectors. An entity is *open* when it has a member nobody rejected: then each of these events wakes it, whatever
    the hints say (spec §2.7.3a), and when it is not gated, any event at all.
    """

    def __init__(self) -> None:
        self._stays = EntityHeap(_stay_began)
        self.waits_for: dict[EntityKey, tuple[str, ...]] = {}
        """Every entity here, and the plugins whose events may help it."""
        self._by_plugin: dict[str, dict[EntityKey, Entity]] = {}
        self.open: dict[str, dict[EntityKey, Entity]] = {}
        """The open ones by the plugin that gates them, '' = none."""
        self._opened: dict[EntityKey, str] = {}
        """Under which of these each of them stands."""
        self.unlisted: dict[EntityKey, Entity] = {}
        """Gated ones that came since somebody looked, none of them open. Most gangs go on before anybody does."""

    def __iter__(self) -> Iterator[Entity]:
        self.enlist()
        return iter(self._stays)

    def get(self, key: EntityKey) -> Entity | None:
        return self.unlisted.get(key) or self._stays.get(key)

    def add(self, entity: Entity) -> None:
        """Park an entity."""
        if entity.gating_plugin and _open_gate(entity) is None:
            self.unlisted[entity.key] = entity
        else:
            self._enlist(entity)

    def enlist(self) -> None:
        """Somebody looks: all are to be found by whom and how long they wait."""
        if self.unlisted:
            for entity in self.unlisted.values():
                self._enlist(entity)
            self.unlisted.clear()

    def _enlist(self, entity: Entity) -> None:
        self._stays.enter(entity)
        self._index(entity, _waits_for(entity))

    def refresh(self, entity: Entity) -> None:
        """An entity that is here gained or lost a member, a rejector or its gate."""
        key = entity.key
        if key in self.unlisted:
            if _open_gate(entity) is not None:
                self._enlist(self.unlisted.pop(key))
            return
        plugins = _waits_for(entity)
        if plugins != self.waits_for[key]:
            self._unindex(key)
            self._index(entity, plugins)
        elif (gate := _open_gate(entity)) != self._opened.get(key):
            self._close(key)
            if gate is not None:
                self._open(entity, gate)

    def _index(self, entity: Entity, plugins: tuple[str, ...]) -> None:
        key = entity.key
        self.waits_for[key] = plugins
        gate = _open_gate(entity)
        if gate is not None:
            self._open(entity, gate)
        for plugin in plugins:
            self._by_plugin.setdefault(plugin, {})[key] = entity

    def _unindex(self, key: EntityKey) -> None:
        self._close(key)
        for plugin in self.waits_for.pop(key):
            _take(self._by_plugin, plugin, key)

    def _open(self, entity: Entity, gate: str) -> None:
        self._opened[entity.key] = gate
        self.open.setdefault(gate, {})[entity.key] = entity

    def _close(self, key: EntityKey) -> None:
        gate = self._opened.pop(key, None)
        if gate is not None:
            _take(self.open, gate, key)

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entity = self.unlisted.pop(key, None)
        if entity is not None:
            return entity
        entity = self._stays.remove(key)
        if entity is not None:
            self._unindex(key)
        return entity

    def concerned(self, audience: Audience, tree: EntityKey | None) -> Collection[Entity]:
        """Entities an event may wake; those in its audience who care for one tree alone are asked about ``tree``."""
        self.enlist()
        found: dict[EntityKey, Entity] = {}
        if self.open:
            for gate in audience.gates:
                found.update(self.open.get(gate, ()))
        for plugin in audience.everywhere:
            found.update(self._by_plugin.get(plugin, ()))
        if tree is not None and tree in self.waits_for and tree not in found:
            for plugin in self.waits_for[tree]:
                if plugin in audience.within_tree:
                    found[tree] = self._by_plugin[plugin][tree]
        return found.values()

    def pop_overdue(self, before: int) -> Entity | None:
        """Take out some entity whose stay began earlier than ``before``."""
        self.enlist()
        head = self._stays.head()
        return self.remove(head[1].key) if head is not None and head[0][0] < before else None

    def oldest_stay(self) -> int | None:
        """When the longest stay began."""
        self.enlist()
        head = self._stays.head()
        return head[0][0] if head is not None else None

    def _check(self) -> None:
        self._stays._check()
        for entity in self.unlisted.values():
            assert entity.key not in self.waits_for
            assert entity.gating_plugin
            assert _open_gate(entity) is None
        by_plugin: dict[str, dict[EntityKey, Entity]] = {}
        for entity in self._stays:
            assert self.waits_for[entity.key] == _waits_for(entity), f"{entity.key}: stale index"
            assert not (entity.gating_plugin and entity.was_flushed)
            for plugin in _waits_for(entity):
                by_plugin.setdefault(plugin, {})[entity.key] = entity
        assert by_plugin == self._by_plugin
        opened = {entity.key: gate for entity in self._stays if (gate := _open_gate(entity)) is not None}
        assert opened == self._opened == {key: gate for gate, entities in self.open.items() for key in entities}
        assert all(self.open.values())
        assert len(self.waits_for) == len(self._stays)


def _take(index: dict[str, dict[EntityKey, Entity]], plugin: str, key: EntityKey) -> None:
    entities = index[plugin]
    del entities[key]
    if not entities:
        del index[plugin]


def _stay_began(entity: Entity) -> SortKey:
    began, flushed = entity.timestamp, entity.flush_timestamp
    return (began if began > flushed else flushed,)


def _waits_for(entity: Entity) -> tuple[str, ...]:
    if entity.gating_plugin:
        return (entity.gating_plugin,)
    return tuple(rejectors(entity)) if isinstance(entity, QueuedPodInfo) else tuple(entity.rejected.by_plugin)


def _open_gate(entity: Entity) -> str | None:
    """The gate of an open entity, '' = it has none; None for one that is not open."""
    if isinstance(entity, QueuedPodInfo):
        return None if entity.gating_plugin or entity.unschedulable_plugins or entity.pending_plugins else ""
    return entity.gating_plugin if entity.is_open() else None

"""Entities parked until an event, an update or the flush: rejected plain pods, and all gated ones (spec §2.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_queue.entities import Entity, rejectors
from gangsched_queue.entity_heap import EntityHeap

Tag = tuple[str, bool]
"""Index entry: a plugin whose events the entity waits for ('' = all events), and whether it is *open*: it has a member
nobody rejected, so that each of these events wakes it, whatever the hints say (spec §2.7.3a)."""

_ANY_EVENT: Tag = ("", True)


class UnschedulableEntities:
    """By key, and indexed by the plugins whose events an entity waits for, so that an event visits those alone.

    A gated entity waits for the events of the plugin that gates it (spec §2.7.6c), any other for those of all its
    rejectors.
    """

    def __init__(self) -> None:
        self._stays = EntityHeap()
        self._tags: dict[EntityKey, tuple[Tag, ...]] = {}
        self._by_tag: dict[Tag, dict[EntityKey, Entity]] = {}

    def __len__(self) -> int:
        return len(self._stays)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._stays)

    def get(self, key: EntityKey) -> Entity | None:
        return self._stays.get(key)

    def add(self, entity: Entity) -> None:
        """Park an entity."""
        self._stays.add(entity, (_stay_began(entity),))
        self._index(entity, _tags(entity))

    def refresh(self, entity: Entity) -> None:
        """An entity that is here gained or lost a member, a rejector or its gate."""
        tags = _tags(entity)
        if tags != self._tags[entity.key]:
            self._unindex(entity.key)
            self._index(entity, tags)

    def _index(self, entity: Entity, tags: tuple[Tag, ...]) -> None:
        key = entity.key
        self._tags[key] = tags
        for tag in tags:
            self._by_tag.setdefault(tag, {})[key] = entity

    def _unindex(self, key: EntityKey) -> None:
        for tag in self._tags.pop(key):
            entities = self._by_tag[tag]
            del entities[key]
            if not entities:
                del self._by_tag[tag]

    def remove(self, key: EntityKey) -> Entity | None:
        """Take an entity out; None when it is not here."""
        entity = self._stays.remove(key)
        if entity is not None:
            self._unindex(key)
        return entity

    def concerned(self, plugins: Mapping[str, bool], tree: EntityKey | None) -> list[Entity]:
        """Entities an event may wake: ``plugins`` registered it; those True there care for the tree ``tree`` only."""
        found: dict[EntityKey, Entity] = dict(self._by_tag.get(_ANY_EVENT, {}))
        for plugin, within_tree in plugins.items():
            found.update(self._by_tag.get((plugin, True), {}))
            waiting = self._by_tag.get((plugin, False), {})
            if not within_tree:
                found.update(waiting)
            elif tree is not None and tree in waiting:
                found[tree] = waiting[tree]
        return list(found.values())

    def pop_overdue(self, before: int) -> Entity | None:
        """Take out some entity whose stay began earlier than ``before``."""
        head = self._stays.head()
        return self.remove(head[1].key) if head is not None and head[0][0] < before else None

    def oldest_stay(self) -> int | None:
        """When the longest stay began."""
        head = self._stays.head()
        return head[0][0] if head is not None else None

    def _check(self) -> None:
        self._stays._check()
        by_tag: dict[Tag, dict[EntityKey, Entity]] = {}
        for entity in self._stays:
            assert self._tags[entity.key] == _tags(entity), f"{entity.key}: stale index"
            for tag in _tags(entity):
                by_tag.setdefault(tag, {})[entity.key] = entity
        assert by_tag == self._by_tag
        assert len(self._tags) == len(self._stays)


def _stay_began(entity: Entity) -> int:
    return max(entity.timestamp, entity.flush_timestamp)


def _tags(entity: Entity) -> tuple[Tag, ...]:
    if isinstance(entity, QueuedPodInfo):
        waits_for = [entity.gating_plugin] if entity.gating_plugin else rejectors(entity)
        return tuple((plugin, False) for plugin in waits_for) or (_ANY_EVENT,)
    is_open = bool(entity.rejected.unrejected)
    if entity.gating_plugin:
        return ((entity.gating_plugin, is_open),)
    any_event = (_ANY_EVENT,) if is_open else ()
    return (*any_event, *((plugin, False) for plugin in entity.rejected.by_plugin))

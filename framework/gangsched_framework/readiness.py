"""Readiness (quorum) of groups: counters that move only when a threshold is crossed (spec §3.1-§3.4).

A leaf is ready when it knows at least M pods, waiting or scheduled; a composite group when at least M direct children
are ready. A crossing changes the parent's counter by one and may travel on: O(depth). A cycle of parents is harmless,
because every crossing fires once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter

from attrs import Factory, define, field

from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import POD_GROUP, EntityKey, Group, Pod

_CHILDLESS: list[Record] = []
_by_order = attrgetter("order")


@define(eq=False)
class Record:
    """State of one group key. ``group`` None = placeholder, known only from pods or children (M counts as 1)."""

    key: EntityKey
    group: Group | None = None
    order: tuple[object, ...] = ()
    parent: Record | None = None
    pods: dict[str, Pod] = field(factory=dict)
    scheduled: dict[str, str] = field(factory=dict)
    """UID -> node of the assigned and assumed pods."""
    ready_children: int = 0
    ready: bool = False
    is_leaf: bool = field(init=False, default=Factory(lambda record: record.key.startswith(POD_GROUP), takes_self=True))
    children: list[Record] = field(
        init=False, default=Factory(lambda record: _CHILDLESS if record.is_leaf else [], takes_self=True)
    )
    """In order; a leaf never has any, so all leaves share one empty list."""
    required: int = field(init=False, default=1)
    """M (spec §3.1)."""
    alone: PodGroupInfo | None = field(init=False, default=None)
    """The tree of the group while it has no children."""

    def observe(self, group: Group | None) -> None:
        """Take the group's object, None when it is not known any more."""
        self.group = group
        self.required = group.required if group is not None else 1

    def adopt(self, child: Record) -> None:
        """Take a child in at the place of its ``order``."""
        insort(self.children, child, key=_by_order)

    def disown(self, child: Record) -> None:
        """Take a child out."""
        at = bisect_left(self.children, child.order, key=_by_order)
        assert self.children[at] is child
        del self.children[at]

    def count(self) -> int:
        """What is compared with M: known pods of a leaf, ready children of a composite group."""
        return len(self.pods) if self.is_leaf else self.ready_children


def refresh(record: Record | None) -> None:
    """Recompute readiness from ``record`` upward, as far as thresholds are crossed."""
    while record is not None:
        ready = record.count() >= record.required
        if ready == record.ready:
            return
        record.ready = ready
        record = record.parent
        if record is not None:
            record.ready_children += 1 if ready else -1


def link(record: Record, parent: Record) -> None:
    """Hang a group under its parent; a ready child counts at once."""
    record.parent = parent
    if record.ready:
        parent.ready_children += 1
        refresh(parent)


def unlink(record: Record) -> None:
    """Take a group from its parent; a ready child no longer counts."""
    parent, record.parent = record.parent, None
    if record.ready and parent is not None:
        parent.ready_children -= 1
        refresh(parent)

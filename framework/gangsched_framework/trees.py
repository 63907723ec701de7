"""The frozen tree of a group, taken from the forest's records."""

from __future__ import annotations

from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.readiness import Record


def tree_of(root: Record) -> PodGroupInfo:
    """The tree below an observed, acyclic group, however deep. O(size of the tree)."""
    if not root.children:
        return _childless(root)
    records = [root]
    below: list[list[Record]] = []
    for record in records:
        children = [record.children[order] for order in record.children] if record.children else []
        below.append(children)
        records += children
    infos: dict[EntityKey, PodGroupInfo] = {}
    for record, children in zip(reversed(records), reversed(below), strict=True):
        assert record.group is not None
        if children:
            infos[record.key] = PodGroupInfo(record.group, tuple([infos[child.key] for child in children]))
        else:
            infos[record.key] = _childless(record)
    return infos[root.key]


def _childless(record: Record) -> PodGroupInfo:
    """The tree of a group without children, the same one as long as its object is the same."""
    assert record.group is not None
    if record.alone is None or record.alone.group is not record.group:
        record.alone = PodGroupInfo(record.group)
    return record.alone

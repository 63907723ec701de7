"""The frozen tree of a group, taken from the forest's records."""

from __future__ import annotations

from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.readiness import Record


def tree_of(root: Record) -> PodGroupInfo:
    """The tree below an observed, acyclic group, however deep. O(size of the tree)."""
    if not root.children:
        return _childless(root)
    records = [root]
    for record in records:  # level by level, so that the children of one stand in a row
        records += record.children
    infos: list[PodGroupInfo] = []  # from the last record on
    used = 0
    for record in reversed(records):
        count = len(record.children)
        if count:
            assert record.group is not None
            below = infos[used : used + count]
            used += count
            infos.append(PodGroupInfo(record.group, tuple(below[::-1]), record.key, False))
        else:
            infos.append(_childless(record))
    return infos[-1]


def _childless(record: Record) -> PodGroupInfo:
    """The tree of a group without children, the same one as long as its object is the same."""
    assert record.group is not None
    if record.alone is None or record.alone.group is not record.group:
        record.alone = PodGroupInfo(record.group, (), record.key, record.is_leaf)
    return record.alone

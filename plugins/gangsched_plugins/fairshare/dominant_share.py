"""Dominant share: the largest part of any one resource somebody holds (spec fair-share.md §3.1; Ghodsi et al. 2011)."""

from __future__ import annotations

from attrs import frozen

from gangsched_plugins.fairshare.amounts import Amounts
from gangsched_plugins.fairshare.differences import share


@frozen
class DominantShare:
    """``resource`` is '' and ``share`` 0 when nothing of the total is held."""

    share: float = 0
    resource: str = ""


def dominant_share(allocated: Amounts, total: Amounts) -> DominantShare:
    """max over the resources of ``total`` of allocated / total (D2).

    Ties keep the earlier of cpu, memory, others by name. ``pods`` is a resource like any other; resources that
    ``total`` does not have are ignored.
    """
    highest = DominantShare()
    for name in total.names():
        part = share(allocated.get(name), total.get(name))
        if part > highest.share:
            highest = DominantShare(part, name)
    return highest

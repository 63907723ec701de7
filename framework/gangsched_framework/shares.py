"""Shares for people: what every tenant and job deserves, holds and asks for now, and how that came about.

Amounts are in natural units: cpus, bytes, pods, pieces of everything else.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

Natural = Mapping[str, float]
"""Amounts by resource in natural units; resources of which there is nothing are left out."""


@frozen
class QueueShare:
    """A tenant. ``state`` is '' when no such Queue exists. ``share``: allocated / deserved, of the worst resource.

    ``refusal`` says why nothing of it may be popped now, '' when something may.
    """

    name: str
    state: str
    weight: int
    priority: int
    parent: str
    pods: int
    deserved: Natural
    allocated: Natural
    request: Natural
    guarantee: Natural
    capability: Natural
    share: float
    overused: bool
    refusal: str


@frozen
class JobShare:
    """A job: a root entity with all its unfinished pods."""

    key: str
    queue: str
    pods: int
    share: float
    dominant: str
    allocated: Natural
    request: Natural


@frozen
class ShareRound:
    """A round of water-filling: what was offered by which sum of weights, what each had then, who was met."""

    offered: Natural
    weights: int
    deserved: Mapping[str, Natural]
    met: tuple[str, ...]


@frozen
class TreeShare:
    """A level of the HDRF tree; jobs are counted, not listed."""

    name: str
    weight: float
    share: float
    dominant: str
    saturated: bool
    allocated: Natural
    jobs: int
    children: tuple[TreeShare, ...]


@frozen
class SharesView:
    """``policy``: who says what tenants deserve; in profiles without fair sharing Proportion measures and decides
    nothing. ``rounds`` of Proportion, ``tree`` of HDRF."""

    policy: str
    total: Natural
    queues: tuple[QueueShare, ...]
    jobs: tuple[JobShare, ...]
    rounds: tuple[ShareRound, ...] = ()
    tree: TreeShare | None = None

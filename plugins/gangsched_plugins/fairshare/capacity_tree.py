"""Quotas of a hierarchy of tenants (spec fair-share.md §4.6, K4, K12).

Jobs belong to leaves; an ancestor counts what is below it. A broken hierarchy is reported as a text, and then nobody is
served (K12 "not ready").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import define, field, frozen

from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, UNLIMITED, Amounts
from gangsched_plugins.fairshare.capacity import CapacityRank, capacity_rank
from gangsched_plugins.fairshare.demand import NO_DEMAND, Demand
from gangsched_plugins.fairshare.differences import excess
from gangsched_plugins.fairshare.entitlement import total_of

ROOT = "root"
UNLIMITED_SCALAR = 9223372036854775807
"""How the root's capability of a scalar is recorded when nobody limits it."""


@frozen
class Quota:
    """What the specification of a tenant says. ``parent`` '' = the root."""

    name: str
    parent: str = ""
    capability: Amounts | None = None
    deserved: Amounts = NO_AMOUNTS
    guarantee: Amounts = NO_AMOUNTS
    priority: int = 0


@define(eq=False)
class Branch:
    """A tenant in the hierarchy; amounts of an inner one include all below."""

    quota: Quota
    parent: Branch | None = None
    children: dict[str, Branch] = field(factory=dict)
    demand: Demand = NO_DEMAND
    guarantee: Amounts = NO_AMOUNTS
    deserved: Amounts = NO_AMOUNTS
    capability: Amounts = NO_AMOUNTS
    real_capability: Amounts = NO_AMOUNTS

    @property
    def name(self) -> str:
        return self.quota.name

    @property
    def rank(self) -> CapacityRank:
        return capacity_rank(self.demand.allocated, self.deserved)

    def path(self) -> list[Branch]:
        """From the root down to this tenant."""
        above = [] if self.parent is None else self.parent.path()
        return [*above, self]


class NotReady(Exception):
    """The hierarchy is broken: the text says where."""


def build_tree(quotas: Sequence[Quota], demands: Mapping[str, Demand], cluster: Amounts) -> dict[str, Branch]:
    """Every tenant of the hierarchy by name. ``demands``: those of leaves with jobs. Raises NotReady (K12)."""
    branches = {quota.name: Branch(quota) for quota in sorted(quotas, key=lambda quota: quota.name)}
    root = branches.get(ROOT)
    if root is None:
        raise NotReady(f"there is no queue {ROOT}")
    for branch in branches.values():
        if branch is not root:
            _link(branch, branches)
    for branch in branches.values():
        _check_path(branch)
    for name, demand in sorted(demands.items()):
        leaf = branches[name]
        if leaf.children:
            raise NotReady(f"queue {name} has jobs and children")
        for branch in leaf.path():
            branch.demand = branch.demand.plus(demand)
    _settle_root(root, cluster)
    _settle_below(root)
    return branches


def _link(branch: Branch, branches: Mapping[str, Branch]) -> None:
    parent = branches.get(branch.quota.parent or ROOT)
    if parent is None:
        raise NotReady(f"queue {branch.name}: there is no queue {branch.quota.parent}, its parent")
    branch.parent = parent
    parent.children[branch.name] = branch


def _check_path(branch: Branch) -> None:
    seen: dict[str, None] = {}
    above: Branch | None = branch
    while above is not None:
        if above.name in seen:
            raise NotReady(f"queue {branch.name} is among its own ancestors")
        seen[above.name] = None
        above = above.parent


def _settle_root(root: Branch, cluster: Amounts) -> None:
    """The root deserves and guarantees what its children do together; it is unlimited unless it says otherwise."""
    children = root.children.values()
    root.guarantee = total_of(_guarantee(child) for child in children)
    root.deserved = total_of(child.quota.deserved.raised_to(_guarantee(child)) for child in children)
    unlimited = Amounts(UNLIMITED, UNLIMITED, dict.fromkeys(cluster.others, UNLIMITED_SCALAR))
    root.capability = _inherited(root.quota.capability, unlimited)
    root.real_capability = root.capability


def _settle_below(parent: Branch) -> None:
    guaranteed = total_of(_guarantee(child) for child in parent.children.values())
    for child in parent.children.values():
        child.guarantee = _guarantee(child)
        child.deserved = child.quota.deserved.raised_to(child.guarantee)
        child.capability = _inherited(child.quota.capability, parent.capability)
        own = excess(parent.real_capability, guaranteed).plus(child.guarantee)
        child.real_capability = own.capped_by(child.capability, "infinity")
        _settle_below(child)


def _guarantee(branch: Branch) -> Amounts:
    return branch.quota.guarantee


def _inherited(written: Amounts | None, parent: Amounts) -> Amounts:
    """A capability, with the parent's where it says nothing; cpu and memory of 0 or less say nothing."""
    if written is None:
        return parent
    return Amounts(
        written.cpu if written.cpu > 0 else parent.cpu,
        written.memory if written.memory > 0 else parent.memory,
        {**parent.others, **written.others},
    )


def compare_branches(left: Branch, right: Branch) -> int:
    """-1, 0 or 1: who is served first (K4). Not transitive: ancestors that tie let their leaves' ages decide."""
    if left.quota.priority != right.quota.priority:
        return -1 if left.quota.priority > right.quota.priority else 1
    if bool(left.children) != bool(right.children):
        return 1 if left.children else -1
    for one, other in _parting(left, right):
        return (one.rank > other.rank) - (one.rank < other.rank)
    return 0


def _parting(left: Branch, right: Branch) -> Iterator[tuple[Branch, Branch]]:
    """The first pair of ancestors in which the two paths differ."""
    return ((one, other) for one, other in zip(left.path(), right.path(), strict=False) if one is not other)


def order_key(branch: Branch) -> tuple[object, ...]:
    """A total order that agrees with ``compare_branches`` unless ancestors tie: those go by name."""
    steps = tuple((*above.rank, above.name) for above in branch.path()[1:])
    return (-branch.quota.priority, bool(branch.children), steps)

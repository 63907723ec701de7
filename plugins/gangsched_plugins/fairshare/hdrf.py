"""Hierarchical DRF: the tree of shares (spec fair-share.md §3.4, D12-D17, D19; Bhattacharya et al. 2013).

Leaves are jobs, inner nodes are tenants and departments. What a parent holds is the sum of its children, in which every
child that still can use more is scaled down to the least share among these, so that a child with much of one resource
does not speak for its siblings. ``upstream`` mode is Volcano's; ``paper`` mode follows the publication and differs in
three points: scaling respects weights, shares of inner nodes leave out exhausted resources, and a job is blocked when
it wants nothing more or something it wants is exhausted.

An event costs O(children that hold something) a level; all jobs are looked at only when a resource runs out or comes
back. What results is bit for bit what building the tree anew would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from attrs import Factory, define, field
from sortedcontainers import SortedDict

from gangsched_plugins.fairshare.amounts import EPSILON

Mode = Literal["upstream", "paper"]
Vector = list[float]
"""An amount of each resource of the tree, in the order of its names."""


@define(eq=False)
class HdrfNode:
    """``share`` and ``dominant`` as of the node's (scaled) ``allocated``; ``request`` is of jobs only."""

    name: str
    weight: float
    allocated: Vector
    parent: HdrfNode | None = None
    request: Vector | None = None
    share: float = 0
    dominant: int = -1
    saturated: bool = False
    children: SortedDict[str, HdrfNode] = field(default=Factory(lambda: SortedDict()))
    holding: SortedDict[str, HdrfNode] = field(default=Factory(lambda: SortedDict()))
    """Children that hold anything, but for saturated jobs: each is scaled by itself, or may come to be."""
    full: Vector = field(factory=list)
    """The sum of the saturated jobs among the children: of integers, so it is exact in any order."""
    counted: Vector | None = None
    """What a job adds to ``full`` of its parent."""
    unsaturated: int = 0
    path: tuple[str, ...] = ()
    """Names of the levels from below the root; of inner nodes only."""

    @property
    def is_job(self) -> bool:
        return self.request is not None


_NOBODY: SortedDict[str, HdrfNode] = SortedDict()
"""The children of every job: dictionaries of their own would be most of what a job costs."""


@define(eq=False)
class HdrfTree:
    """Shares of all jobs and inner nodes under a ``total``. ``names``: its resources, cpu and memory first."""

    names: Sequence[str]
    total: Vector
    mode: Mode = "upstream"
    root: HdrfNode = field(init=False)
    allocated: Vector = field(init=False)
    _jobs: dict[str, HdrfNode] = field(init=False, factory=dict)
    _demanding: list[bool] = field(init=False)
    _nothing: Vector = field(init=False)
    _touched: dict[tuple[str, ...], None] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.allocated = self._nothing = [0] * len(self.names)
        self.root = self._inner("root", 1, None)
        self._demanding = self._find_demanding()

    # --- changes ----------------------------------------------------------------------------------------------------

    def place(self, path: Sequence[str], weights: Sequence[float]) -> HdrfNode:
        """The inner node at ``path`` below the root, made if need be. An existing node keeps its first weight (D14)."""
        node = self.root
        for name, weight in zip(path, weights, strict=True):
            child = node.children.get(name)
            if child is None:
                child = self._inner(name, max(weight, 1), node)
                child.path = (*node.path, name)
                self._touched[child.path] = None
                node.children[name] = child
            node = child
        return node

    def set_job(self, at: HdrfNode, job: str, request: Vector, allocated: Vector) -> None:
        """A job appears under ``at``, or changes what it wants or holds."""
        leaf = at.children.get(job)
        if leaf is None:
            leaf = HdrfNode(job, 1, self._nothing, at, request, children=_NOBODY, holding=_NOBODY)
            at.children[job] = self._jobs[job] = leaf
            at.unsaturated += 1
        assert leaf.is_job
        assert not at.is_job
        change = zip(self.allocated, allocated, leaf.allocated, strict=True)
        self.allocated = [held + new - old for held, new, old in change]
        leaf.request, leaf.allocated = request, allocated
        self._follow(leaf)

    def remove_job(self, job: str) -> None:
        """A job leaves, and with it the inner nodes that had no other."""
        leaf = self._jobs.pop(job)
        parent = leaf.parent
        assert parent is not None
        self.allocated = [held - old for held, old in zip(self.allocated, leaf.allocated, strict=True)]
        del parent.children[job]
        leaf.allocated = self._nothing
        self._hold(leaf)
        parent.unsaturated -= not leaf.saturated
        self._follow(None)
        self._climb(parent)
        while parent.parent is not None and not parent.children:  # it holds nothing and counts as saturated by now
            del parent.parent.children[parent.name]
            self._touched[parent.path] = None
            parent = parent.parent

    def take_touched(self) -> list[tuple[str, ...]]:
        """Paths of the inner nodes that came, went, or changed share or saturation since the last call."""
        touched, self._touched = self._touched, {}
        return list(touched)

    # --- recomputing ------------------------------------------------------------------------------------------------

    def _follow(self, leaf: HdrfNode | None) -> None:
        demanding = self._find_demanding()
        if demanding != self._demanding:
            self._demanding = demanding
            self._rebuild()
        elif leaf is not None:
            self._score(leaf, self._saturated(leaf))
            self._hold(leaf)
            assert leaf.parent is not None
            self._climb(leaf.parent)

    def _rebuild(self) -> None:
        for leaf in self._jobs.values():
            self._score(leaf, self._saturated(leaf))
            self._hold(leaf)
        for node in _bottom_up(self.root):
            self._combine(node)

    def _climb(self, node: HdrfNode | None) -> None:
        while node is not None and self._combine(node):
            node = node.parent

    def _combine(self, node: HdrfNode) -> bool:
        """Sum up one inner node (D16). False when nothing came of it."""
        before = node.allocated, node.share, node.saturated
        holding: list[HdrfNode] = list(node.holding.values())
        least = min([self._weighed(child) for child in holding if child.share and not child.saturated], default=1.0)
        if self.mode == "upstream":
            least = min(least, 1.0)
        summed = node.full
        for child in holding:
            if child.saturated:
                summed = [a + b for a, b in zip(summed, child.allocated, strict=True)]
            elif child.share:
                scale = least / self._weighed(child)
                summed = [a + b * scale for a, b in zip(summed, child.allocated, strict=True)]
        node.allocated = summed
        self._hold(node)
        self._score(node, node.unsaturated == 0)
        if before[1:] != (node.share, node.saturated):
            self._touched[node.path] = None
        return before != (node.allocated, node.share, node.saturated)

    def _weighed(self, node: HdrfNode) -> float:
        return node.share if self.mode == "upstream" else node.share / node.weight

    def _score(self, node: HdrfNode, saturated: bool) -> None:
        """Set share, dominant resource and saturation; tell the parent when the last changed."""
        node.share, node.dominant = 0, -1
        restricted = self.mode == "paper" and not node.is_job
        for index, (held, total) in enumerate(zip(node.allocated, self.total, strict=True)):
            if total >= EPSILON and held / total > node.share and not (restricted and not self._demanding[index]):
                node.share, node.dominant = held / total, index
        if saturated != node.saturated:
            node.saturated = saturated
            if node.parent is not None:
                node.parent.unsaturated += -1 if saturated else 1

    def _saturated(self, leaf: HdrfNode) -> bool:
        request = leaf.request
        assert request is not None
        rows = zip(leaf.allocated, request, self._demanding, strict=True)
        if self.mode == "paper":
            rest = [(wanted > held, free) for held, wanted, free in rows]
            return not any(more for more, _ in rest) or any(more and not free for more, free in rest)
        # D15: only what is held is looked at, and one satisfied or exhausted resource is enough
        return any(held >= EPSILON and wanted != 0 and (held >= wanted or not free) for held, wanted, free in rows)

    def _find_demanding(self) -> list[bool]:
        """Which resources the cluster has some of left (D15)."""
        pairs = zip(self.allocated, self.total, strict=True)
        return [total >= EPSILON and held < total for held, total in pairs]

    def _inner(self, name: str, weight: float, parent: HdrfNode | None) -> HdrfNode:
        return HdrfNode(name, weight, self._nothing, parent, saturated=True, full=self._nothing)

    @staticmethod
    def _hold(node: HdrfNode) -> None:
        """Let the parent know what a node adds to it, once its amounts and, of a job, its saturation are known."""
        parent = node.parent
        if parent is None:
            return
        holds = any(node.allocated)
        counted = node.allocated if holds and node.is_job and node.saturated else None
        if counted is not node.counted:
            parent.full = _exchange(parent.full, node.counted, counted)
            node.counted = counted
        if holds and counted is None:
            parent.holding[node.name] = node
        else:
            parent.holding.pop(node.name, None)


def _exchange(sum_: Vector, old: Vector | None, new: Vector | None) -> Vector:
    """A sum in which another amount has taken the place of one."""
    if old is not None:
        sum_ = [a - b for a, b in zip(sum_, old, strict=True)]
    return sum_ if new is None else [a + b for a, b in zip(sum_, new, strict=True)]


def _bottom_up(root: HdrfNode) -> Iterator[HdrfNode]:
    """Inner nodes, children before parents."""
    inner, stack = [], [root]
    while stack:
        node = stack.pop()
        inner.append(node)
        stack.extend(child for child in node.children.values() if not child.is_job)
    return reversed(inner)

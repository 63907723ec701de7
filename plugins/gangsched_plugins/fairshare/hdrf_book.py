"""Hierarchical DRF, live: the tree of all jobs, and the place of each tenant in it (spec fair-share.md §3.4)."""

from __future__ import annotations

from gangsched_framework.account import JobAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.moved import Branch
from gangsched_framework.objects import EntityKey, Queue
from gangsched_plugins.fairshare.book import Book
from gangsched_plugins.fairshare.hdrf import HdrfTree, Mode
from gangsched_plugins.fairshare.hdrf_order import HdrfKey, parse_hierarchy, path_key

HIERARCHY = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"

Path = tuple[tuple[str, ...], tuple[float, ...]]
"""Names of the levels below the root, and their weights."""


class HdrfBook(Book):
    """Keeps the tree in step: an event costs the siblings that hold something, on the way up.

    ``refusal`` says why a tenant has no place: its path runs through another tenant's, or gives a level another weight
    than an earlier one by name did (E54, D13).
    """

    def __init__(self, accounts: Accounts, mode: Mode) -> None:
        super().__init__(accounts)
        self.mode: Mode = mode
        self._tree: HdrfTree | None = None
        self._paths: dict[str, Path] = {}
        self._refusals: dict[str, str] = {}
        self._changed: dict[EntityKey, None] = {}
        self._home: dict[EntityKey, tuple[str, ...]] = {}
        self._tenants_at: dict[Branch, dict[str, None]] = {}
        self._branches_below: dict[Branch, dict[Branch, None]] = {}
        accounts.on_allocated.append(self._on_changed)
        accounts.on_requested.append(self._on_changed)
        accounts.on_total.append(self._start_anew)
        accounts.on_queue.append(self._start_anew)

    def _on_changed(self, job: JobAccount, grew: bool = False) -> None:
        self._changed[job.key] = None

    def _start_anew(self) -> None:
        self._tree = None

    # --- answers ----------------------------------------------------------------------------------------------------

    @property
    def tree(self) -> HdrfTree:
        self.settle()
        assert self._tree is not None
        return self._tree

    def key(self, tenant: str) -> HdrfKey:
        """(saturated, share / weight) of each level (D18)."""
        return path_key(self.tree, self._path(tenant)[0])

    def branch(self, tenant: str) -> Branch:
        """The levels above the tenant's own."""
        self.settle()
        return self._path(tenant)[0][:-1]

    def refusal(self, tenant: str) -> str:
        self.settle()
        return self._refusals.get(tenant, "")

    # --- bringing up to date ----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Bring the tree up to date; tenants whose level changed have moved, and branches where one above did."""
        tree = self._tree
        if tree is not None and not self._changed:
            return
        moved = self.accounts.moved
        if tree is None:
            known = self._paths
            tree = self._rebuild()
            self._changed.clear()
            for name in (*known, *self.accounts.tenants):  # one may wait whose pods count nowhere any more
                moved.note(name, grew=True)
            for below in self._branches_below.values():
                moved.branches.update(below)
        if self._changed:
            changed, self._changed = self._changed, {}
            for key in changed:
                self._put(tree, key)
            for path in tree.take_touched():
                for name in self._tenants_at.get(path, ()):
                    moved.note(name, grew=False)
                moved.branches.update(self._branches_below.get(path, {}))

    def _rebuild(self) -> HdrfTree:
        names = self.accounts.names
        tree = self._tree = HdrfTree(tuple(names), self.padded(self.accounts.total), self.mode)
        self._find_paths()
        self._home.clear()
        for key in self.accounts.jobs:
            self._put(tree, key)
        tree.take_touched()
        return tree

    def _put(self, tree: HdrfTree, key: EntityKey) -> None:
        """A job, as the accounts have it, at the place of its tenant; gone if they have it no more."""
        job, home = self.accounts.jobs.get(key), self._home.get(key)
        path = self._path(job.tenant.name) if job is not None else None
        if home is not None and (path is None or path[0] != home):
            tree.remove_job(key)
            del self._home[key]
        if job is not None and path is not None:
            self._home[key] = path[0]
            tree.set_job(tree.place(*path), key, self.padded(job.request), self.padded(job.allocated))

    def _path(self, tenant: str) -> Path:
        """Where the jobs of a tenant stand; one whose Queue does not exist gets a level of its own."""
        path = self._paths.get(tenant)
        if path is None:
            path = self._paths[tenant] = (tenant,), (1.0,)
            self._stand(tenant, path[0])
        return path

    def _stand(self, tenant: str, path: Branch) -> None:
        self._tenants_at.setdefault(path, {})[tenant] = None
        branch = path[:-1]
        for depth in range(len(branch)):
            self._branches_below.setdefault(branch[: depth + 1], {})[branch] = None

    def _find_paths(self) -> None:
        self._paths, self._refusals, self._tenants_at, self._branches_below = {}, {}, {}, {}
        weights: dict[tuple[str, ...], tuple[float, str]] = {}
        for name in sorted(self.accounts.tenants):
            queue = self.accounts.tenants[name].queue
            path, refusal = _written_path(name, queue)
            self._paths[name] = path
            self._refusals[name] = refusal or self._conflict(name, path, weights)
            steps = [path[0][: depth + 1] for depth in range(len(path[0]))]
            for step, weight in zip(steps, path[1], strict=True):
                weights.setdefault(step, (weight, name))
            self._stand(name, path[0])

    def _conflict(self, name: str, path: Path, weights: dict[tuple[str, ...], tuple[float, str]]) -> str:
        names, own = path
        for other in self._refusals:
            levels = self._paths[other][0]
            shorter = min(len(levels), len(names))
            if levels[:shorter] == names[:shorter]:
                return f"queue {name}: its hierarchy lies on the path of queue {other}"
        for depth, weight in enumerate(own):
            known, other = weights.get(names[: depth + 1], (weight, ""))
            if known != weight:
                level = "/".join(("root", *names[: depth + 1]))
                return f"queue {name}: weight {weight:g} of {level}, and {known:g} in queue {other}"
        return ""


def _written_path(name: str, queue: Queue | None) -> tuple[Path, str]:
    """The path a Queue gives, and what is wrong with it; without one, a level of its own under the root."""
    weight = float(queue.weight) if queue is not None else 1.0
    own, annotations = ((name,), (weight,)), queue.annotations if queue is not None else {}
    try:
        path = parse_hierarchy(annotations.get(HIERARCHY, ""), annotations.get(HIERARCHY_WEIGHTS, ""))
    except ValueError as problem:
        return own, f"queue {name}: its hierarchy has {problem}"  # E55
    return (path, "") if path[0] else (own, "")

"""A little cluster shared by hierarchical DRF, for tables: jobs on paths, tasks placed one by one."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field, frozen

from gangsched_plugins.fairshare.amounts import Amounts
from gangsched_plugins.fairshare.hdrf import HdrfNode, HdrfTree, Mode, Vector
from gangsched_plugins.fairshare.hdrf_order import compare_paths, parse_hierarchy, path_key

NAMES = ("cpu", "memory", "gpu", "pods")


def vector(amounts: Amounts) -> Vector:
    return [amounts.get(name) for name in NAMES]


@frozen
class TreeJob:
    """``path`` and ``weights`` as the two annotations, ``task`` one of ``count`` tasks, ``running`` of them placed."""

    name: str
    path: str
    weights: str
    task: Amounts
    count: int = 1
    running: int = 0
    created: int = 0


@define
class SharedTree:
    """Jobs in a tree under a total."""

    total: Amounts
    jobs: list[TreeJob]
    mode: Mode = "upstream"
    tree: HdrfTree = field(init=False)
    placed: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.tree = HdrfTree(NAMES, vector(self.total), self.mode)
        self.placed = {job.name: job.running for job in self.jobs}
        for job in self.jobs:
            self.put(job)

    def put(self, job: TreeJob) -> None:
        node = self.tree.place(*parse_hierarchy(job.path, job.weights))
        held = vector(job.task.times(self.placed[job.name]))
        self.tree.set_job(node, job.name, vector(job.task.times(job.count)), held)

    def node(self, path: str) -> HdrfNode:
        """``root/eng/dev`` or ``root/eng/dev/job``."""
        node = self.tree.root
        for name in path.split("/")[1:]:
            node = node.children[name]
        return node

    def compare(self, left: str, right: str) -> float:
        return compare_paths(self.tree, left.split("/")[1:], right.split("/")[1:])

    def serve(self) -> Mapping[str, int]:
        """Place the next task of the first job whose task fits, in order of paths, then age, until nothing fits."""
        while fitting := [job for job in self.jobs if self._fits(job)]:
            job = min(fitting, key=lambda job: (path_key(self.tree, job.path.split("/")[1:]), job.created, job.name))
            self.placed[job.name] += 1
            self.put(job)
        return self.placed

    def _fits(self, job: TreeJob) -> bool:
        if self.placed[job.name] == job.count:
            return False
        rows = zip(self.tree.allocated, vector(job.task), self.tree.total, strict=True)
        return all(task == 0 or held + task <= total for held, task, total in rows)

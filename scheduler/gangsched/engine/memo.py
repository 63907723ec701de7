"""Memo of refused trees: an attempt is not evaluated again while nothing changed that could change its outcome.

The key describes a tree by what its evaluation may read: the shape, the minimums, the scheduled counts, the signature
of each queued pod in order. Equal trees share an outcome, for its texts name no object. It holds for one version of the
world; trees whose pods need the per-node form, carry nominations, or are pinned to a topology domain are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from gangsched.engine.columns import ColumnCache
from gangsched.engine.complete import FinalPod
from gangsched.engine.world import World
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Nominations
from gangsched_framework.infos import PodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.status import Code, FitError, Status

MemoKey = tuple[object, ...]


@frozen(eq=False)
class Refusal:
    """The outcome of a refused tree by position: ``groups`` in tree order, ``pods`` in the order they are handled.

    ``raw`` holds the code of each group as evaluated, None where it was not evaluated.
    """

    root: Status
    groups: tuple[Status, ...]
    raw: tuple[Code | None, ...]
    pods: tuple[tuple[Status, str | None, FitError | None], ...]

    @property
    def record(self) -> tuple[object, ...]:
        """What a decision log shows of it: codes and rejecting plugins, no texts (architecture.md §4)."""
        pods = ((s.code, frozenset() if e is None else e.unschedulable_plugins) for s, _, e in self.pods)
        return (self.root.code, tuple(s.code for s in self.groups), tuple(pods))


@define(eq=False)
class Memo:
    """Refusals by key, for the current version of the world."""

    world: World
    nominations: Nominations
    columns: ColumnCache
    hits: int = 0
    _version: int = -1
    _refusals: dict[MemoKey, Refusal] = field(factory=dict)

    def key(
        self, framework: Framework, tree: PodGroupInfo, leaves: Mapping[EntityKey, Sequence[QueuedPodInfo]]
    ) -> MemoKey | None:
        """The key of a tree about to be tried; None when its outcome must not be kept."""
        if self.nominations.any() or not framework.all_nodes or framework.pod_judges:
            return None
        shape: list[object] = []
        for info in tree.walk():
            group = info.group
            scheduled = self.world.forest.scheduled_count(info.key) if info.is_leaf else 0
            if scheduled and (group.topology_key or info is not tree):
                return None
            shape.append((info.is_leaf, group.minimum, len(info.children), group.topology_key, scheduled))
            for queued in leaves.get(info.key, ()):
                pod = queued.pod
                column = self.columns.of(framework, pod)
                if pod.status.nominated_node_name or column is None or column.particular:
                    return None
                shape.append(column.number)
        root = tree.group
        policies = tuple(dict.fromkeys(q.pod.preemption_policy for infos in leaves.values() for q in infos))
        name = framework.profile.scheduler_name
        return (name, root.effective_priority, root.preemption_policy, policies, tuple(shape))

    def get(self, key: MemoKey) -> Refusal | None:
        """The refusal such a tree met in this very world."""
        refusal = None if self.empty else self._refusals.get(key)
        self.hits += refusal is not None
        return refusal

    @property
    def empty(self) -> bool:
        """Whether nothing is known of the world as it is now."""
        return self._version != self.world.version or not self._refusals

    def put(self, key: MemoKey, refusal: Refusal) -> None:
        """Keep a refusal that was found in the world as it is now."""
        if self._version != self.world.version:
            self._refusals.clear()
            self._version = self.world.version
        self._refusals[key] = refusal

    def refusal(
        self,
        tree: PodGroupInfo,
        root: Status,
        raw: Mapping[EntityKey, Code],
        groups: Mapping[EntityKey, Status],
        pods: Sequence[FinalPod],
    ) -> Refusal | None:
        """The outcome of a refused root by position; None when a pod of it is nominated."""
        kept: list[tuple[Status, str | None, FitError | None]] = []
        for final in pods:
            assert final.status is not None, "a pod of a refused root is bound"
            if final.nominate:
                return None
            kept.append((final.status, final.nominate, final.fit_error))
        keys = [info.key for info in tree.walk()]
        return Refusal(root, tuple(groups[k] for k in keys), tuple(raw.get(k) for k in keys), tuple(kept))

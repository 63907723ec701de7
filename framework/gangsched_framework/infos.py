"""Trees and queue records (spec podgroup-scheduling.md §2.2).

``PodGroupInfo`` is the frozen structural tree a cycle works on: children sorted by (name, type), one leaf per PodGroup.
``QueuedPodInfo`` / ``QueuedPodGroupInfo`` are what the queue holds; only queued pods stand in the queued form.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import Factory, define, field

from gangsched_framework.entity_key import key_of_pod
from gangsched_framework.objects import EntityKey, Group, Pod, PodGroup
from gangsched_framework.status import Status
from gangsched_framework.values import value


@value(eq=False)
class PodGroupInfo:
    """One group of a tree, as it was when the tree was taken."""

    group: Group
    children: tuple[PodGroupInfo, ...] = ()
    key: EntityKey = field(default=Factory(lambda info: info.group.key, takes_self=True))
    is_leaf: bool = field(default=Factory(lambda info: isinstance(info.group, PodGroup), takes_self=True))
    _walked: tuple[tuple[PodGroupInfo, ...], tuple[PodGroupInfo, ...]] | None = field(
        init=False, default=None, repr=False
    )
    """Everything, and the leaves, once asked for: a cached property would make each other look eight times dearer."""

    def walk(self) -> Sequence[PodGroupInfo]:
        """This group and everything below it, depth first in child order."""
        return self._below()[0] if self.children else (self,)

    def leaves(self) -> Sequence[PodGroupInfo]:
        """The PodGroups of the tree in evaluation order."""
        return (self,) if self.is_leaf else self._below()[1]

    def _below(self) -> tuple[tuple[PodGroupInfo, ...], tuple[PodGroupInfo, ...]]:
        found = self._walked
        if found is None:
            everything: list[PodGroupInfo] = []
            leaves: list[PodGroupInfo] = []
            stack: list[PodGroupInfo] = [self]
            while stack:
                info = stack.pop()
                everything.append(info)
                if info.is_leaf:
                    leaves.append(info)
                elif info.children:
                    stack += info.children[::-1]
            found = tuple(everything), tuple(leaves)
            object.__setattr__(self, "_walked", found)
        return found


NO_ENTITY = EntityKey("")
"""Key of a pod that is no entity of its own."""
NO_PLUGINS: frozenset[str] = frozenset()


@define(eq=False)
class QueueingParams:
    """What the queue remembers of a pod or of an entity (spec §2.2). Times in engine nanoseconds.

    Who has them is made at every arrival, so the constructors are written out: those of attrs cost twice as much.
    """

    priority: int
    """Of the pod, or of the root group, whatever its pods say (spec §2.9.1)."""
    timestamp: int
    initial_attempt_timestamp: int | None
    """When it was in the active queue for the first time, not gated (spec §2.2.2); None = not yet."""
    attempts: int
    unschedulable_count: int
    consecutive_errors: int
    backoff_expiration: int | None
    was_flushed: bool
    flush_timestamp: int
    gating_plugin: str
    refusal: Status | None
    """What the gating plugin said; for the debugging view."""

    def __lt__(self, other: object) -> bool:
        """Two of one key and sort key meet in an order only when one of them has left: either may stand first."""
        return False


@define(eq=False, init=False)
class QueuedPodInfo(QueueingParams):
    """A waiting pod: an entity of its own, or a member of a group entity.

    ``unschedulable_plugins`` / ``pending_plugins`` are the rejector sets; they survive a pop (spec §2.2.8) and are
    replaced, never changed: most pods share them.
    """

    pod: Pod
    key: EntityKey
    """Of the entity that a plain pod is; '' of a member, which is none."""
    unschedulable_plugins: frozenset[str]
    pending_plugins: frozenset[str]

    def __init__(self, pod: Pod, timestamp: int) -> None:
        self.timestamp = timestamp
        self.attempts = self.unschedulable_count = self.consecutive_errors = self.flush_timestamp = 0
        self.backoff_expiration = self.refusal = self.initial_attempt_timestamp = None
        self.was_flushed = False
        self.gating_plugin = ""
        self.pod = pod
        self.priority = pod.priority
        self.key = key_of_pod(pod.key) if pod.group_key is None else NO_ENTITY
        self.unschedulable_plugins = self.pending_plugins = NO_PLUGINS

    def renew(self, pod: Pod) -> None:
        """The pod's object changed."""
        self.pod = pod
        self.priority = pod.priority

    @property
    def source(self) -> Pod:
        """Whose annotations and age are the entity's."""
        return self.pod

    def members(self) -> Sequence[QueuedPodInfo]:
        return (self,)


@define(eq=False)
class PoppedPodGroupInfo:
    """A group entity as it leaves the queue: its tree frozen at the pop, its members in the order to be tried.

    ``leaves`` maps every leaf key of the tree *that has queued pods* to its pods. ``attempts`` counts this one, too.
    ``params``: the queue's own record of the entity, for its return.
    """

    key: EntityKey
    tree: PodGroupInfo
    leaves: dict[EntityKey, list[QueuedPodInfo]]
    attempts: int = 1
    params: QueueingParams | None = None

    @property
    def priority(self) -> int:
        return self.tree.group.effective_priority

    def members(self) -> list[QueuedPodInfo]:
        """Every queued pod in tree order (depth first, children order, member order)."""
        return [pod for leaf in self.tree.leaves() for pod in self.leaves.get(leaf.key, ())]


PoppedEntity = QueuedPodInfo | PoppedPodGroupInfo

"""All that a plugin may touch outside the arguments of a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from gangsched_framework.objects import EntityKey, Namespace, Pod, PodDisruptionBudget, SelectorOwner

if TYPE_CHECKING:
    from gangsched_framework.accounts import Accounts
    from gangsched_framework.framework import Framework
    from gangsched_framework.hierarchy import Forest
    from gangsched_framework.snapshot import Snapshot


class Clock(Protocol):
    """Engine time."""

    @property
    def time(self) -> int:
        """Nanoseconds since the start."""
        ...


NO_PRIORITY = -(1 << 63)
"""Below that of any pod."""


class Nominations(Protocol):
    """Which waiting pods hold a nomination (spec podgroup-scheduling.md §2.10)."""

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        """Pods nominated to the node, in a fixed order."""
        ...

    def nodes(self) -> Collection[str]:
        """Names of the nodes that pods are nominated to, in a fixed order."""
        ...

    def leaves(self) -> Collection[EntityKey]:
        """The PodGroups that have nominated members, in a fixed order."""
        ...

    def members(self, leaf: EntityKey) -> Collection[Pod]:
        """The nominated pods of a PodGroup, in a fixed order."""
        ...

    def any(self) -> bool:
        """Whether any pod holds a nomination."""
        ...

    @property
    def highest(self) -> int:
        """The highest priority of a pod that holds a nomination; ``NO_PRIORITY`` when none does."""
        ...

    def nominated_node(self, pod: Pod) -> str:
        """The node the pod is nominated to, or ''."""
        ...


class Handle(Protocol):
    """What the engine lends to plugins when it builds them; valid for their whole life.

    ``snapshot`` is the world of the running cycle; outside a cycle (hints, PreEnqueue) plugins read ``forest`` and the
    listers only.
    """

    @property
    def clock(self) -> Clock: ...
    @property
    def forest(self) -> Forest: ...
    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def nominations(self) -> Nominations: ...
    @property
    def accounts(self) -> Accounts:
        """What tenants and jobs hold and ask for; kept only when somebody asks for it while plugins are built."""
        ...

    @property
    def namespaces(self) -> Mapping[str, Namespace]: ...
    @property
    def selector_owners(self) -> Collection[SelectorOwner]: ...
    @property
    def lister_version(self) -> int:
        """Changes whenever ``namespaces``, ``selector_owners`` or ``disruption_budgets`` do."""
        ...

    def newest(self, pod: Pod) -> Pod | None:
        """The pod of that name as it is known by now, None when it has gone."""
        ...

    @property
    def disruption_budgets(self) -> Sequence[PodDisruptionBudget]: ...
    @property
    def oracle(self) -> bool:
        """Whether every answer is to be found the plain way, nothing remembered (architecture.md §5)."""
        ...

    @property
    def rehearsal(self) -> bool:
        """Whether the answer of a post-filter is for show only: nothing of it may be remembered."""
        ...

    @property
    def tracing(self) -> bool:
        """Whether somebody follows the steps of the cycle: only then ``trace`` is worth its text."""
        ...

    def trace(self, subject: str, text: str) -> None:
        """Tell a step of the running cycle, in the words of ``--trace``; heard only while ``tracing``."""
        ...

    @property
    def feature_gates(self) -> Mapping[str, bool]: ...
    def framework_for(self, scheduler_name: str) -> Framework | None:
        """The framework of a profile, None when no profile has that name."""
        ...

    def give_up(self, problem: BaseException, /) -> None:
        """A plugin broke its contract: what it was asked for stays half-done, and nothing may follow."""
        ...

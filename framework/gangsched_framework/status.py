"""Status: the expected verdict of a plugin or of a whole step (spec podgroup-scheduling.md §7.3).

A verdict is a value, never an exception. ``None`` stands for Success wherever a plugin may return a status.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import Factory, field, frozen

from gangsched_framework.refusals import GroupedRefusals
from gangsched_framework.values import value


class Code(Enum):
    """What became of a step; the value is the name the real scheduler prints.

    * ``SUCCESS``: go on. * ``ERROR``: something unexpected; the pod is retried after *error* backoff.
    * ``UNSCHEDULABLE``: refused now; preemption may help; retried after events or backoff.
    * ``UNSCHEDULABLE_AND_UNRESOLVABLE``: refused, and preemption cannot help.
    * ``WAIT``: not yet decided (PlacementFeasible, Permit). * ``SKIP``: the plugin has nothing to say about this pod.
    * ``PENDING``: refused until something outside the cluster state happens; a hint skips the backoff.
    """

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"

    @property
    def rejected(self) -> bool:
        """Whether the code refuses the pod without being an error."""
        return self in _REJECTED


# Before Python 3.12 a look-up on an Enum's class takes some ten times as long as a global name.
_SUCCESS, _ERROR = Code.SUCCESS, Code.ERROR
_UNSCHEDULABLE, _UNRESOLVABLE = Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE
_REJECTED = (_UNSCHEDULABLE, _UNRESOLVABLE, Code.PENDING)


@value(eq=False)
class Status:
    """A code with its reasons and the plugin that gave it.

    Compared by identity: "two groups share one status" is a fact the messages depend on (spec §4.9.2).
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    ok: bool = field(init=False, repr=False, default=Factory(lambda status: status.code is _SUCCESS, takes_self=True))
    """Kept: every cycle asks for it often, and a property costs ten times as much."""

    @property
    def message(self) -> str:
        """The reasons joined as the real scheduler prints them (spec §7.3)."""
        return ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        return self.code in _REJECTED

    def with_plugin(self, plugin: str) -> Status:
        """The same verdict, signed by ``plugin`` unless it already carries a name."""
        return self if self.plugin else Status(self.code, self.reasons, plugin)

    def with_reasons(self, *reasons: str) -> Status:
        """A new status with ``reasons`` appended."""
        return Status(self.code, (*self.reasons, *reasons), self.plugin)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str, plugin: str = "") -> Status:
    """Refused now; another state of the cluster may accept it."""
    return Status(_UNSCHEDULABLE, reasons, plugin)


def unresolvable(*reasons: str, plugin: str = "") -> Status:
    """Refused, and evicting pods cannot change that."""
    return Status(_UNRESOLVABLE, reasons, plugin)


def error(*reasons: str, plugin: str = "") -> Status:
    """Something unexpected happened."""
    return Status(_ERROR, reasons, plugin)


def skip() -> Status:
    """The plugin has nothing to say."""
    return SKIP


@frozen
class FitError:
    """Why a pod fits on no node: one status per node, or one PreFilter verdict (spec node-plugins.md §7.13).

    ``node_count`` counts the nodes of the current placement. ``node_statuses`` maps node names to their refusal; nodes
    that PreFilter excluded carry ``excluded`` instead, so that a cluster-wide exclusion costs one status.
    """

    node_count: int
    node_statuses: Mapping[str, Status] = field(factory=dict)
    excluded: Status | None = None
    excluded_count: int = 0
    pre_filter: Status | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()

    @property
    def message(self) -> str:
        """``0/N nodes are available: <count> <reason>, …`` with the counted reasons sorted as text (spec §7.4)."""
        head = f"0/{self.node_count} nodes are available:"
        if self.pre_filter is not None:
            return f"{head} {self.pre_filter.message}."
        counts = _reason_counts(self.node_statuses)
        if self.excluded is not None and self.excluded_count:
            for reason in self.excluded.reasons:
                counts[reason] = counts.get(reason, 0) + self.excluded_count
        if not counts:
            return head
        return f"{head} {', '.join(sorted(f'{n} {reason}' for reason, n in counts.items()))}."


def _reason_counts(statuses: Mapping[str, Status]) -> dict[str, int]:
    if isinstance(statuses, GroupedRefusals):
        return statuses.reason_counts()
    counts: dict[str, int] = {}
    for status in statuses.values():
        for reason in status.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    return counts

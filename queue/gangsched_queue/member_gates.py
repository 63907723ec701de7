"""Which members of a tree PreEnqueue holds back, kept so that a newcomer costs no questions about the others (§2.8).

PreEnqueue runs for every member at every move. What its plugins declare (``DeclaresPreEnqueueScope``) says which
verdicts cannot have changed: those of ``pod`` plugins while the pod object is the same. And of members whom all of
these let pass, a *cohort*, the ``tree`` plugins say the same. The outcome is that of asking everybody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import Factory, define, field, frozen

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.interface import PreEnqueuePlugin
from gangsched_framework.run_queueing import Question, questions_of
from gangsched_framework.status import Status

MemberOrder = tuple[int, int, int, str]
TreeOrder = Callable[[QueuedPodInfo], tuple[tuple[tuple[object, ...], ...], MemberOrder]]
"""Sort key of a member among all members of its tree."""


def member_order(info: QueuedPodInfo) -> MemberOrder:
    """Order of the members of one leaf: priority, attempts, timestamp, name (spec §2.9.2, DIV-13)."""
    return (-info.pod.priority, -info.attempts, info.timestamp, info.pod.name)


def are_in_order(infos: Sequence[QueuedPodInfo]) -> bool:
    """Whether members of one leaf stand in their order, as is plain to see of those tried equally often."""
    first = infos[0]
    attempts, priority, time, name = first.attempts, first.priority, first.timestamp, ""
    for info in infos:
        its_time, its_name = info.timestamp, info.pod.name
        if info.attempts != attempts or info.priority != priority:
            return False
        if its_time < time or (its_time == time and its_name < name):
            return False
        time, name = its_time, its_name
    return True


@frozen
class Gatekeepers:
    """PreEnqueue plugins of one profile, in profile order, and their scopes. ``declared``: all of them declare one."""

    plugins: Sequence[PreEnqueuePlugin] = ()
    pod: frozenset[str] = frozenset()
    tree: tuple[str, ...] = ()
    declared: bool = True
    questions: Sequence[Question] = field(
        init=False, default=Factory(lambda it: questions_of(it.plugins), takes_self=True)
    )
    marks: Mapping[str, frozenset[str]] = field(
        init=False, default=Factory(lambda it: {plugin: frozenset((plugin,)) for plugin in it.tree}, takes_self=True)
    )
    """``tree`` plugin -> the rejectors of a pod that nobody else has rejected."""
    telling: frozenset[str] = field(init=False, default=Factory(lambda it: it._telling(), takes_self=True))
    """Verdicts ('' = none) on a newcomer that hold for all whom the ``pod`` plugins let pass."""

    def _telling(self) -> frozenset[str]:
        return frozenset(verdict for verdict in ("", *self.tree) if self._asks_all_of_pod("", verdict))

    def speaks_for_all(self, first: str, verdict: str) -> bool:
        """Whether every ``pod`` plugin was asked when ``first`` was asked first and ``verdict`` ('' = none) refused.

        Then what the ``tree`` plugins said holds for all whom these let pass.
        """
        return verdict in self.telling if not first or not verdict else self._asks_all_of_pod(first, verdict)

    def _asks_all_of_pod(self, first: str, verdict: str) -> bool:
        asked = sorted((plugin.name for plugin in self.plugins), key=lambda name: name != first)
        return self.declared and (not verdict or self.pod.isdisjoint(asked[asked.index(verdict) :]))


@frozen(eq=False)
class Kind:
    """Members of one profile, whose leaves are equally deep: for all of them ``tree`` plugins say the same."""

    keepers: Gatekeepers
    profile: str
    depth: int


@define(eq=False)
class MemberSet:
    """Members, and the last of them in tree order, which is kept once it was asked for.

    That order cannot change while a member is here: it depends on the groups above its leaf, and when one of those
    goes, the member leaves.
    """

    members: OrderedDict[str, QueuedPodInfo] = field(factory=OrderedDict)
    _last: QueuedPodInfo | None = None

    def add(self, info: QueuedPodInfo, order: TreeOrder) -> None:
        self.members[info.pod.key] = info
        if self._last is not None and order(info) > order(self._last):
            self._last = info

    def discard(self, key: str) -> QueuedPodInfo | None:
        info = self.members.pop(key, None)
        if info is self._last:
            self._last = None
        return info

    def last(self, order: TreeOrder) -> QueuedPodInfo:
        if self._last is None:
            self._last = max(self.members.values(), key=order)
        return self._last


@define(eq=False)
class Cohort(MemberSet):
    """Members for whom ``tree`` plugins answer alike. ``plugin`` gates them ('' = none) with ``status``.

    ``unmarked`` maps each ``tree`` plugin to the members that do not carry it among their rejectors yet.
    """

    plugin: str = ""
    status: Status | None = None
    unmarked: dict[str, dict[str, QueuedPodInfo]] = field(factory=dict)

    def enter(self, info: QueuedPodInfo, plugins: Iterable[str], order: TreeOrder) -> None:
        """Let a member in; ``plugins``: the ``tree`` plugins of its profile."""
        self.add(info, order)
        marks = info.unschedulable_plugins
        for plugin in plugins:
            if plugin not in marks:
                self.unmarked.setdefault(plugin, {})[info.pod.key] = info

    def leave(self, info: QueuedPodInfo) -> None:
        key = info.pod.key
        self.discard(key)
        for members in self.unmarked.values():
            members.pop(key, None)
        info.gating_plugin = self.plugin


CohortKey = tuple[str, int, str, bool]
"""Scheduler name, depth of the leaves, gating plugin, whether all ``pod`` plugins are known to let the members pass.

Without that last certainty a member was refused by a ``tree`` plugin before some ``pod`` plugin could speak.
"""


@define(eq=False)
class Apart:
    """Members of no cohort: *volatile* ones are asked each time, those *held* were refused for what they are."""

    volatile: dict[str, QueuedPodInfo] = field(factory=dict)
    held: MemberSet = field(factory=MemberSet)
    status: dict[str, Status] = field(factory=dict)
    """What was said of those held."""

    def hold(self, info: QueuedPodInfo, status: Status, order: TreeOrder) -> None:
        self.held.add(info, order)
        self.status[info.pod.key] = status

    def leave(self, key: str) -> bool:
        """Take a member out, if it is here."""
        if self.held.discard(key):
            del self.status[key]
            return True
        return self.volatile.pop(key, None) is not None


@define(eq=False)
class MemberGates:
    """Every member is in exactly one place: not asked yet, asked each time, held for itself, or in a cohort."""

    unseen: dict[str, QueuedPodInfo] = field(factory=dict)
    cohorts: dict[CohortKey, Cohort] = field(factory=dict)
    """None is empty."""
    apart: Apart | None = None

    def set_apart(self) -> Apart:
        """The members of no cohort; there are none in most trees."""
        if self.apart is None:
            self.apart = Apart()
        return self.apart

    def leave(self, info: QueuedPodInfo) -> None:
        """The member leaves the tree, or its object changed and it will be unseen again."""
        key = info.pod.key
        if self.unseen.pop(key, None) or (self.apart is not None and self.apart.leave(key)):
            return
        for place, cohort in self.cohorts.items():
            if key in cohort.members:
                cohort.leave(info)
                if not cohort.members:
                    del self.cohorts[place]
                return

    @classmethod
    def of_alike(cls, kind: Kind, infos: Iterable[QueuedPodInfo], status: Status | None) -> MemberGates:
        """Of members who have all been told the same."""
        cohort = Cohort(plugin=status.plugin if status is not None else "", status=status)
        for info in infos:
            cohort.members[info.pod.key] = info
            for plugin in kind.keepers.tree:
                if plugin not in info.unschedulable_plugins:
                    cohort.unmarked.setdefault(plugin, {})[info.pod.key] = info
        return cls(cohorts={(kind.profile, kind.depth, cohort.plugin, True): cohort})

    def _check(self) -> None:
        assert all(cohort.members for cohort in self.cohorts.values()), "an empty cohort"
        assert all(cohort.plugin == key[2] for key, cohort in self.cohorts.items())
        assert all((cohort.status is None) == (not cohort.plugin) for cohort in self.cohorts.values())
        if self.apart is not None:
            assert self.apart.status.keys() == self.apart.held.members.keys()

    def everywhere(self) -> Iterator[str]:
        """Keys of all members, place by place (tests only)."""
        for place in (self.unseen, *(cohort.members for cohort in self.cohorts.values())):
            yield from place
        if self.apart is not None:
            yield from self.apart.volatile
            yield from self.apart.held.members

"""Fakes of what the engine lends to plugins, and plugins whose answers a test writes down."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from gangsched_framework.accounts import Accounts
from gangsched_framework.cycle_state import CycleState, PlacementCycleState
from gangsched_framework.framework import Framework
from gangsched_framework.handle import NO_PRIORITY, Handle
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.interface import Sortable
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import EntityKey, Group, Namespace, Node, Pod, PodDisruptionBudget, SelectorOwner
from gangsched_framework.placement import Progress
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import Status, unschedulable


def make_snapshot(nodes: Iterable[Node] = (), pods: Iterable[Pod] = (), groups: Iterable[Group] = ()) -> Snapshot:
    """A snapshot ready to be read: nodes, pods (those with ``node_name`` stand on it), groups and their members."""
    table, forest = NodeTable(), Forest()
    for node in nodes:
        table.add_node(node)
    table.settle()
    for group in groups:
        forest.add_group(group)
    for pod in pods:
        forest.add_pod(pod)
        if pod.node_name:
            table.add_pod(pod, pod.node_name)
    snapshot = Snapshot(table, forest)
    snapshot.refresh()
    return snapshot


@define
class FakeClock:
    """Engine time that moves when told; ``time`` in nanoseconds."""

    time: int = 0

    def advance(self, nanoseconds: int) -> None:
        self.time += nanoseconds


@define
class FakeNominations:
    """Nominations in a dict, ``by_node``: node name -> pods."""

    by_node: dict[str, list[Pod]] = field(factory=dict)

    def nominate(self, pod: Pod, node_name: str) -> None:
        self.by_node.setdefault(node_name, []).append(pod)

    def nominated_pods(self, node_name: str) -> Sequence[Pod]:
        return self.by_node.get(node_name, ())

    def nodes(self) -> Collection[str]:
        return [node for node, pods in self.by_node.items() if pods]

    def leaves(self) -> Collection[EntityKey]:
        return list(dict.fromkeys(pod.group_key for pod in self._pods() if pod.group_key is not None))

    def members(self, leaf: EntityKey) -> Collection[Pod]:
        return [pod for pod in self._pods() if pod.group_key == leaf]

    def any(self) -> bool:
        return any(self.by_node.values())

    @property
    def highest(self) -> int:
        return max((pod.priority for pod in self._pods()), default=NO_PRIORITY)

    def _pods(self) -> list[Pod]:
        return [pod for pods in self.by_node.values() for pod in pods]

    def nominated_node(self, pod: Pod) -> str:
        return next((node for node, pods in self.by_node.items() if any(p.uid == pod.uid for p in pods)), "")


@define
class FakeHandle:
    """A ``Handle`` whose every part a test may fill or replace. The forest is the snapshot's."""

    snapshot: Snapshot = field(factory=make_snapshot)
    clock: FakeClock = field(factory=FakeClock)
    nominations: FakeNominations = field(factory=FakeNominations)
    namespaces: dict[str, Namespace] = field(factory=dict)
    selector_owners: list[SelectorOwner] = field(factory=list)
    disruption_budgets: list[PodDisruptionBudget] = field(factory=list)
    feature_gates: dict[str, bool] = field(factory=dict)
    lister_version: int = 0
    oracle: bool = False
    rehearsal: bool = False
    tracing: bool = False
    told: list[str] = field(factory=list)
    given_up: list[str] = field(factory=list)
    frameworks: dict[str, Framework] = field(factory=dict)
    newer: dict[str, Pod | None] = field(factory=dict)
    _accounts: Accounts | None = None

    def trace(self, subject: str, text: str) -> None:
        self.told.append(f"{subject}: {text}")

    def give_up(self, problem: BaseException, /) -> None:
        self.given_up.append(str(problem))

    @property
    def accounts(self) -> Accounts:
        if self._accounts is None:
            self._accounts = Accounts(self.forest)
        return self._accounts

    @property
    def forest(self) -> Forest:
        return self.snapshot.forest

    def newest(self, pod: Pod) -> Pod | None:
        return self.newer.get(pod.key, pod)

    def framework_for(self, scheduler_name: str) -> Framework | None:
        return self.frameworks.get(scheduler_name)


class _Scripted:
    """Built by a registry like any plugin; a test sets ``answers`` afterwards, or passes ``args["answers"]``."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.answers = args.get("answers", {})

    @property
    def name(self) -> str:
        return type(self).__name__


class NameSort(_Scripted):
    """QueueSort by entity key alone."""

    def sort_key(self, entity: Sortable) -> tuple[int, ...]:
        return ()


class AlwaysFits(_Scripted):
    """Filter that every node passes."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return None


class ScriptedFilter(_Scripted):
    """Filter with ``answers``: node name -> status; other nodes pass."""

    answers: dict[str, Status]

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return self.answers.get(node.name)


class ScriptedScore(_Scripted):
    """Score with ``answers``: node name -> 0…100; other nodes get 0."""

    answers: dict[str, int]

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        return self.answers.get(node.name, 0)


class ScriptedPlacementFeasible(_Scripted):
    """PlacementFeasible with ``answers``: group name -> statuses of its calls in order; ``asked`` logs the calls.

    A group without answers is Success; one whose answers are used up is Unschedulable, so that a surplus call shows.
    """

    answers: dict[str, list[Status | None]]

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.asked: list[tuple[str, Progress]] = []

    def placement_feasible(self, state: PlacementCycleState, group: PodGroupInfo, progress: Progress) -> Status | None:
        name = group.group.name
        calls = sum(asked == name for asked, _ in self.asked)
        self.asked.append((name, progress))
        if name not in self.answers:
            return None
        answers = self.answers[name]
        return answers[calls] if calls < len(answers) else unschedulable(f"no answer {calls} for {name}")

"""What must hold whatever happens (spec podgroup-scheduling.md §8.7, §4.5, §5), told apart from how it is done.

Everything is counted anew from the objects the story delivered and the decisions it saw.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from gangsched.engine.decisions import Bind, Evict, SetGroupCondition
from gangsched.engine.report import CycleReport
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import SECOND
from gangsched_framework.hierarchy import MAX_PARENT_LINKS
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import POD, EntityKey, Group, Node, Pod
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.resources import PODS
from gangsched_framework.status import Status

if TYPE_CHECKING:
    from tests.properties.story import Story

TIMEOUT = 300 * SECOND
LEFTOVER_PERIOD = 30 * SECOND


@frozen
class Placed:
    """A pod that counts on a node: assigned, or its binding under way."""

    pod: Pod
    node: str


@frozen
class Seen:
    """The world at the moment of an algorithm; ``popped`` pods are as they were popped."""

    nodes: Mapping[str, Node]
    placed: Mapping[str, Placed]
    popped: Mapping[str, Pod]
    groups: Mapping[EntityKey, Group]
    groups_at_submit: Mapping[EntityKey, Group]

    def scheduled(self, leaf: EntityKey) -> int:
        return sum(placed.pod.group_key == leaf for placed in self.placed.values())


def see(story: Story) -> Seen:
    pods = dict(story.core.world.pods)
    placed = {key: Placed(pod, pod.node_name) for key, pod in pods.items() if pod.node_name}
    for bind in (*story.unanswered, *story.unseen):
        known = pods.get(bind.pod)
        if known is not None and known.uid == bind.uid:
            placed.setdefault(bind.pod, Placed(story.reserved[bind.uid], bind.node))
    groups = {group.key: group for group in story.core.world.forest.groups()}
    popped = {info.pod.key: info.pod for info in story.cycles[0].entity.members()}
    return Seen(dict(story.nodes), placed, popped, groups, groups)


def see_again(story: Story, seen: Seen) -> Seen:
    return evolve(seen, groups_at_submit={group.key: group for group in story.core.world.forest.groups()})


# --- one cycle ----------------------------------------------------------------------------------------------------


def check_report(story: Story, entity: QueuedPodInfo | PoppedPodGroupInfo, report: CycleReport, seen: Seen) -> None:
    binds = [d for d in report.decisions if isinstance(d, Bind)]
    victims = [d for d in report.decisions if isinstance(d, Evict)]
    _every_pod_has_a_verdict(report, seen)
    _nothing_is_over_committed(binds, seen)
    _no_gang_is_bound_below_its_minimum(story, binds, report, seen)
    _pods_stay_in_one_domain(story, binds, seen)
    _victims_are_lesser_and_whole(story, entity, victims, seen)
    if victims:
        assert not binds, "a cycle evicts and binds"
        nominated = any(verdict.nominated for verdict in report.pods.values())
        assert nominated or _somebody_was_replaced(story, seen), "evicted without a nomination"
    for decision in report.decisions:
        if isinstance(decision, SetGroupCondition):
            _success_stays(story, decision)


def _somebody_was_replaced(story: Story, seen: Seen) -> bool:
    """A pod of another uid took the place of a popped one: the failure handler stops (spec §4.9.6)."""
    current = {key: story.core.pod(key) for key in seen.popped}
    return any(now is not None and now.uid != seen.popped[key].uid for key, now in current.items())


def _every_pod_has_a_verdict(report: CycleReport, seen: Seen) -> None:
    assert report.pods.keys() <= seen.popped.keys()
    for key in seen.popped.keys() - report.pods.keys():
        assert seen.popped[key].deleting or key in seen.placed, f"{key} was popped and got no verdict"


def _nothing_is_over_committed(binds: list[Bind], seen: Seen) -> None:
    for name in {bind.node: None for bind in binds}:
        node = seen.nodes[name]
        newcomers = [seen.popped[bind.pod] for bind in binds if bind.node == name]
        others = [placed.pod for placed in seen.placed.values() if placed.node == name]
        assert len(others) + len(newcomers) <= node.allocatable.get(PODS), f"{name}: too many pods"
        for resource in ("cpu", "memory", "ephemeral-storage", *node.allocatable.scalars):
            asked = sum(pod.incoming.requested.get(resource) for pod in newcomers)
            used = sum(pod.usage.requested.get(resource) for pod in others)
            assert not asked or asked + used <= node.allocatable.get(resource), f"{name}: {resource}"


def _no_gang_is_bound_below_its_minimum(story: Story, binds: list[Bind], report: CycleReport, seen: Seen) -> None:
    bound: dict[EntityKey, int] = {}
    leaves = [seen.popped[bind.pod].group_key for bind in binds]
    placed = [key for key, v in report.pods.items() if v.status is not None and _failed_at_submit(v.status)]
    for leaf in [*leaves, *(seen.popped[key].group_key for key in placed)]:
        if leaf is not None:
            bound[leaf] = bound.get(leaf, 0) + 1
    for leaf in {leaf: None for leaf in leaves if leaf is not None}:
        for group in _chain(story, seen.groups, leaf):
            assert _satisfied(story, group, bound, seen), f"{bound} bound, but {group.key} lacks its minimum"


def _failed_at_submit(status: Status) -> bool:
    """The pod had found its place, but someone else assigned it, or Permit refused it (spec §8.3 row 147)."""
    return "can't be assumed" in status.message or status.message.endswith("1 not now.")


def _satisfied(story: Story, group: Group, bound: Mapping[EntityKey, int], seen: Seen) -> bool:
    if group.key.kind == "podgroup":
        return seen.scheduled(group.key) + bound.get(group.key, 0) >= group.required
    children = [other for other in seen.groups.values() if other.parent_key == group.key]
    return sum(_satisfied(story, child, bound, seen) for child in children) >= group.required


def _chain(story: Story, groups: Mapping[EntityKey, Group], leaf: EntityKey) -> Iterator[Group]:
    """From a leaf upwards, as far as it is known; a cycle is walked once."""
    key: EntityKey | None = leaf
    seen: dict[EntityKey, None] = {}
    while key is not None and key in groups and key not in seen:
        seen[key] = None
        yield groups[key]
        key = groups[key].parent_key if composite(story) else None


def composite(story: Story) -> bool:
    """Whether the gate of composite groups is on."""
    return story.core.world.forest._composite


def _pods_stay_in_one_domain(story: Story, binds: list[Bind], seen: Seen) -> None:
    framework = next(iter(story.core.frameworks.values()))
    if not framework.generates_placements:
        return
    domains: dict[EntityKey, dict[str | None, None]] = {}
    everybody = [(seen.popped[bind.pod], bind.node) for bind in binds]
    newly = {group.key for pod, _ in everybody if pod.group_key for group in _chain(story, seen.groups, pod.group_key)}
    everybody += [(placed.pod, placed.node) for placed in seen.placed.values()]
    for pod, node_name in everybody:
        for group in _chain(story, seen.groups, pod.group_key) if pod.group_key else ():
            if group.topology_key and group.key in newly:
                node = seen.nodes.get(node_name)
                label = node.labels.get(group.topology_key) if node is not None else None
                domains.setdefault(group.key, {})[label] = None
    for key, values in domains.items():
        assert len(values) == 1, f"{key}: pods in {list(values)}"
        assert None not in values, f"{key}: a pod outside every domain"


def _victims_are_lesser_and_whole(
    story: Story, entity: QueuedPodInfo | PoppedPodGroupInfo, victims: list[Evict], seen: Seen
) -> None:
    evicted = {victim.pod for victim in victims}
    assert len(evicted) == len(victims), "evicted twice"
    groups = seen.groups_at_submit
    for victim in victims:
        assert victim.pod in seen.placed, f"{victim.pod} did not run"
        pod = seen.placed[victim.pod].pod
        chain = _climbed(story, groups, pod.group_key)
        whole = [group for group in chain if group.disruption_mode == "all"]
        priority = chain[-1].effective_priority if chain else pod.priority
        assert priority < entity.priority, f"{victim.pod} of priority {priority} is a victim of {entity.priority}"
        if whole:
            _unit_is_whole(story, whole[-1], evicted, seen)


def _climbed(story: Story, groups: Mapping[EntityKey, Group], leaf: EntityKey | None) -> list[Group]:
    """What preemption looks at of the groups above a pod."""
    return [] if leaf is None else list(islice(_chain(story, groups, leaf), MAX_PARENT_LINKS))


def _unit_is_whole(story: Story, unit: Group, evicted: set[str], seen: Seen) -> None:
    under_way = {bind.uid for bind in (*story.unanswered, *story.unseen)}
    for key, placed in seen.placed.items():
        current = story.core.pod(key)
        if current is not None and not current.node_name and current.uid not in under_way:
            continue  # its binding has failed since
        if current is None or current.uid != placed.pod.uid or current.deleting or placed.node not in seen.nodes:
            continue
        chain = _climbed(story, seen.groups_at_submit, current.group_key)
        if any(group.key == unit.key for group in chain):
            assert key in evicted, f"{key} stays though its unit {unit.key} goes"


def _success_stays(story: Story, decision: SetGroupCondition) -> None:
    group = story.core.world.forest.group(decision.group)
    assert group is not None
    old = group.condition(decision.condition.type)
    assert old is None or old.status != "True" or decision.condition.status == "True", f"{decision.group} regresses"


# --- between steps ------------------------------------------------------------------------------------------------


def check_core(core: Scheduler, *, between_cycles: bool) -> None:
    """The owners' own checks."""
    if between_cycles:
        core._check()
    else:
        core.queue._check()
        core.world.forest._check()


def check_state(story: Story) -> None:
    """Spec §8.7 rows 1-4 and 8, and who may hold a nomination."""
    state = story.core.queue_state()
    _every_waiting_pod_is_in_one_place(story, state)
    _incomplete_pods_have_no_root(story, state)
    _entities_are_roots(story, state)
    _nobody_waits_for_ever(story, state)
    _nominations_are_of_waiting_pods(story)


def _every_waiting_pod_is_in_one_place(story: Story, state: QueueState) -> None:
    places: dict[str, list[str]] = {}
    for container in ("active", "backoff", "parked"):
        for entity in getattr(state, container):
            for key in _pods_of(entity):
                places.setdefault(key, []).append(container)
    for container in ("incomplete", "pending"):
        for leaf, names in getattr(state, container).items():
            for name in names:
                places.setdefault(f"{leaf.namespace}/{name}", []).append(container)
    popped = {info.pod.key: info.pod.uid for cycle in story.cycles for info in cycle.entity.members()}
    world = story.core.world
    for key, pod in world.pods.items():
        found = places.pop(key, [])
        if pod.node_name or pod.scheduler_name not in story.core.frameworks:
            assert not found, f"{key} waits in {found}"
            continue
        if popped.get(key) == pod.uid and key in state.in_flight:
            found.append("popped")
        if any(bind.uid == pod.uid for bind in (*story.unanswered, *story.unseen)):
            assert world.is_assumed(pod), f"{key}: its binding is under way, or not seen"
            found.append("binding")
        assert len(found) == 1 or (pod.deleting and not found), f"{key} is in {found}"
    assert not places, f"unknown pods in the queue: {places}"


def _pods_of(entity: EntityState) -> list[str]:
    if entity.key.kind == POD:
        return [entity.key.full_name]
    return [f"{leaf.namespace}/{name}" for leaf, names in entity.members.items() for name in names]


def _incomplete_pods_have_no_root(story: Story, state: QueueState) -> None:
    groups = {group.key: group for group in story.core.world.forest.groups()}
    for container, expected in (("incomplete", True), ("pending", False)):
        for leaf in getattr(state, container):
            assert _rootless(story, groups, leaf) is expected, f"{leaf} is {container}"
    for entity in (*state.active, *state.backoff, *state.parked):
        for leaf in entity.members:
            assert not _rootless(story, groups, leaf), f"{leaf} waits in {entity.key}"


def _broken(chain: list[Group], groups: Mapping[EntityKey, Group]) -> bool:
    parent = chain[-1].parent_key
    return parent is not None and (parent not in groups or parent in {group.key for group in chain})


def _rootless(story: Story, groups: Mapping[EntityKey, Group], leaf: EntityKey) -> bool:
    chain = list(_chain(story, groups, leaf))
    return not chain or (composite(story) and _broken(chain, groups))


def _entities_are_roots(story: Story, state: QueueState) -> None:
    entities = [entity.key for entity in (*state.active, *state.backoff, *state.parked)]
    assert len(set(entities)) == len(entities)
    for key in entities:
        if key.kind != POD:
            group = story.core.world.forest.group(key)
            assert group is not None
            assert not composite(story) or group.parent_key is None, f"{key} is no root"
            assert all(cycle.entity.key != key for cycle in story.cycles), f"{key} is queued while it is popped"


def _nobody_waits_for_ever(story: Story, state: QueueState) -> None:
    now = story.core.now
    flushed = now - now % SECOND
    limit = math.ceil(10 * SECOND * math.sqrt(100)) + SECOND
    for waiting in state.backoff:
        assert waiting.expires is not None
        assert waiting.expires + SECOND > flushed, f"{waiting.key} is due since long"
        assert waiting.expires - waiting.ts < limit
    flushed = now - now % LEFTOVER_PERIOD
    parked = {entity.key: entity for entity in story.core.queue.waiting.parked}
    before, story.parked = story.parked, {}
    for key, entity in parked.items():
        known, first = before.get(key, (None, now))
        story.parked[key] = (entity, first) if known is entity else (entity, now)
        since = max(entity.timestamp, entity.flush_timestamp)
        watched = story.period == 1  # else it may have been elsewhere meanwhile
        assert not watched or story.parked[key][1] >= flushed or flushed - since <= TIMEOUT, f"{key} is forgotten"


def _nominations_are_of_waiting_pods(story: Story) -> None:
    for pods in story.core.nominator._by_node.values():
        for pod in pods.values():
            known = story.core.pod(pod.key)
            assert known is not None, f"{pod.key}: nominated but gone"
            assert known.uid == pod.uid, f"{pod.key}: nominated but replaced"
            assert not known.node_name, f"{pod.key}: nominated but assigned"

"""The queue and the quorum again, as plainly as can be: flat lists, every question asked anew, O(n) everywhere.

It shares with the queue room the plain objects, the words of the conformance format, and nothing else. It has the
methods of ``cluster.Cluster``, so both can be told the same story.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from gangsched_framework.events import Action, ClusterEvent
from gangsched_framework.objects import EntityKey, Group, Node, Pod, PodGroup
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.status import SUCCESS, Status
from tests.queue_room.cluster import Outcome
from tests.queue_room.fakes import CLAIM, FIT, GANG, GATES, LOUD, PREEMPTION

SECOND = 10**9
SKIP, AFTER_BACKOFF, IMMEDIATELY = 0, 1, 2
BACK = {"active": IMMEDIATELY, "backoff": AFTER_BACKOFF, "parked": SKIP}


@define(eq=False)
class Waiting:
    """A waiting pod."""

    pod: Pod
    time: int
    attempts: int = 0
    rejected: set[str] = field(factory=set)
    pending: set[str] = field(factory=set)
    gated_by: str = ""
    unschedulable: int = 0
    errors: int = 0


@define(eq=False)
class Entity:
    """What waits as one."""

    key: EntityKey
    members: list[Waiting]
    time: int
    attempts: int = 0
    unschedulable: int = 0
    errors: int = 0
    expires: int | None = None
    flushed: int = 0
    gated_by: str = ""
    reason: str = ""
    place: str = ""


class Naive:
    def __init__(self, *, reverse: bool = False) -> None:
        self.now = 0
        self.groups: dict[EntityKey, Group] = {}
        self.known: dict[str, Pod] = {}
        self.held: set[EntityKey] = set()
        self.order = [GATES, PREEMPTION, GANG][:: -1 if reverse else 1]
        self.entities: list[Entity] = []
        self.incomplete: list[Waiting] = []
        self.pending: list[tuple[Waiting, bool]] = []
        self.log: list[tuple[Any, ...]] = []
        self.binding: dict[str, Waiting] = {}
        self.popped: Entity | None = None
        self.last_popped: EntityKey | None = None

    # --- trees ----------------------------------------------------------------------------------------------------

    def chain(self, start: EntityKey | None) -> list[Group]:
        """From a group to its root; empty when there is none."""
        found: list[Group] = []
        while start is not None:
            group = self.groups.get(start)
            if group is None or group in found:
                return []
            found.append(group)
            start = group.parent_key
        return found

    def root(self, start: EntityKey | None) -> EntityKey | None:
        chain = self.chain(start)
        return chain[-1].key if chain else None

    def ready(self, key: EntityKey) -> bool:
        group = self.groups[key]
        if isinstance(group, PodGroup):
            return sum(pod.group_key == key for pod in self.known.values()) >= group.required
        children = [child for child in self.groups.values() if child.parent_key == key]
        return sum(self.ready(child.key) for child in children) >= group.required

    def sorted_members(self, entity: Entity) -> list[Waiting]:
        def order(each: Waiting) -> Any:
            path = [(group.name, group.key.kind) for group in reversed(self.chain(each.pod.group_key))]
            return (path, -each.pod.priority, -each.attempts, each.time, each.pod.name)

        return sorted(entity.members, key=order)

    # --- PreEnqueue -----------------------------------------------------------------------------------------------

    def refusal(self, pod: Pod, plugin: str) -> str:
        """What a plugin says against a pod, '' when nothing."""
        if plugin == GATES:
            return f"gates: {' '.join(pod.scheduling_gates)}" if pod.scheduling_gates else ""
        if plugin == PREEMPTION:
            return "preemption runs" if (self.root(pod.group_key) or pod.entity_key) in self.held else ""
        if not pod.group_name:
            return ""
        chain = self.chain(pod.group_key)
        if len(chain) > 5:
            return "hierarchy"
        return "" if self.ready(chain[-1].key) else f"no quorum of {chain[-1].required}"

    def passes(self, entity: Entity) -> bool:
        entity.gated_by = entity.reason = ""
        for member in self.sorted_members(entity):
            first, member.gated_by = member.gated_by, ""
            for plugin in sorted(self.order, key=lambda name: name != first):
                refusal = self.refusal(member.pod, plugin)
                if refusal:
                    member.gated_by = entity.gated_by = plugin
                    entity.reason = refusal
                    member.rejected.add(plugin)
                    break
        return not entity.gated_by

    # --- hints ----------------------------------------------------------------------------------------------------

    def answers(self, plugin: str, pod: Pod, event: str, old: Any, new: Any) -> bool | None:
        """A plugin's hint; None = it did not register the event."""
        if plugin == GANG and event in ("UnscheduledPod/Add", "AssignedPod/Add"):
            return self.root(pod.group_key) is not None and self.root(pod.group_key) == self.root(new.group_key)
        if plugin == GANG and event in ("PodGroup/Add", "CompositePodGroup/Add"):
            return self.root(pod.group_key) is not None and self.root(pod.group_key) == self.root(new.key)
        if plugin == GANG and event in ("PodGroup/Update", "CompositePodGroup/Update"):
            lowered = old.minimum is not None and new.minimum is not None and new.minimum < old.minimum
            return lowered and self.root(pod.group_key) is not None and self.root(pod.group_key) == self.root(new.key)
        table: dict[tuple[str, str], Callable[[], bool]] = {
            (GATES, "TargetPod/UpdatePodSchedulingGatesEliminated"): lambda: True,
            (PREEMPTION, "AssignedPod/Delete"): lambda: False,
            (FIT, "Node/Add"): lambda: pod.labels.get("fits") == new.name,
            (FIT, "AssignedPod/Delete"): lambda: pod.labels.get("room") == "yes",
            (FIT, "TargetPod/UpdatePodLabel"): lambda: bool(new.labels.get("fits")),
            (CLAIM, "Node/UpdateNodeTaint"): lambda: True,
            (CLAIM, "AssignedPod/Delete"): lambda: True,
            (LOUD, "Node/UpdateNodeLabel"): lambda: True,
        }
        answer = table.get((plugin, event))
        return None if answer is None else answer()

    def registered(self, plugin: str, event: str, old: Any, new: Any) -> bool:
        anybody = Pod("x", "x", "x")
        return self.answers(plugin, anybody, event, old, new) is not None

    def worth(self, member: Waiting, event: str, old: Any, new: Any) -> int:
        if not member.rejected and not member.pending:
            return AFTER_BACKOFF
        if event == "*":
            return AFTER_BACKOFF
        if any(self.answers(plugin, member.pod, event, old, new) for plugin in sorted(member.pending)):
            return IMMEDIATELY
        return int(any(self.answers(plugin, member.pod, event, old, new) for plugin in sorted(member.rejected)))

    # --- moves ----------------------------------------------------------------------------------------------------

    def backing_off(self, entity: Entity) -> bool:
        if entity.expires is None:
            count = entity.errors or entity.unschedulable
            if not count:
                return False
            maximum = 10 * SECOND
            if len(entity.members) > 1:
                maximum = int(maximum * math.sqrt(len(entity.members)))
            duration = SECOND
            for _ in range(count - 1):
                duration = min(2 * duration, maximum)
            entity.expires = (entity.time + duration) // SECOND * SECOND
        return entity.expires >= self.now // SECOND * SECOND

    def put(self, entity: Entity, worth: int) -> str:
        if worth == SKIP:
            entity.place = "parked"
        else:
            backing_off = worth == AFTER_BACKOFF and self.backing_off(entity)
            place = "backoff" if backing_off else "active"
            entity.place = place if self.passes(entity) else "parked"
        if entity not in self.entities:
            self.entities.append(entity)
        return entity.place

    def find(self, key: EntityKey | None) -> Entity | None:
        return next((entity for entity in self.entities if entity.key == key), None)

    def place_member(self, member: Waiting, *, attempted: bool = False) -> None:
        root = self.root(member.pod.group_key)
        entity = self.find(root)
        if root is None:
            self.incomplete.append(member)
        elif root == self.last_popped:
            self.pending.append((member, attempted))
        elif entity is not None:
            entity.members.append(member)
            self.put(entity, BACK[entity.place])
        else:
            self.put(Entity(root, [member], member.time), IMMEDIATELY)

    def event(self, name: str, old: Any, new: Any, only: Callable[[Pod], bool] = lambda pod: True) -> None:
        everyone = (GATES, PREEMPTION, GANG, FIT, CLAIM, LOUD)
        if not any(self.registered(plugin, name, old, new) for plugin in everyone):
            return
        for entity in list(self.entities):
            if entity.place != "parked" or not any(only(member.pod) for member in entity.members):
                continue
            if entity.gated_by and not self.registered(entity.gated_by, name, old, new):
                continue
            worth = max(self.worth(member, name, old, new) for member in entity.members)
            if worth != SKIP:
                self.put(entity, worth)
        self.remember(name, old, new)

    def remember(self, name: str, old: Any, new: Any, uid: str = "") -> None:
        if any(each[0] == "mark" for each in self.log):
            self.log.append(("event", name, old, new, uid))

    # --- groups ---------------------------------------------------------------------------------------------------

    def add_group(self, new: Group) -> None:
        self.groups[new.key] = new
        released = [each for each in self.incomplete if self.root(each.pod.group_key) is not None]
        self.incomplete = [each for each in self.incomplete if each not in released]
        for member in sorted(released, key=lambda each: (each.time, each.pod.key)):
            self.place_member(member)
        self.event(f"{_kind(new)}/Add", None, new)

    def update_group(self, new: Group) -> None:
        old = self.groups[new.key]
        if old.parent_name != new.parent_name:
            self.delete_group(old.key)
            self.add_group(new)
            return
        self.groups[new.key] = new
        self.event(f"{_kind(new)}/Update", old, new)

    def delete_group(self, key: EntityKey) -> None:
        root = self.root(key)
        del self.groups[key]
        lost = [each for each, _ in self.pending if self.root(each.pod.group_key) is None]
        self.pending = [pair for pair in self.pending if pair[0] not in lost]
        entity = self.find(root)
        if entity is not None:
            mine = [each for each in entity.members if self.root(each.pod.group_key) is None]
            entity.members = [each for each in entity.members if each not in mine]
            lost += mine
            self.settle(entity)
        self.incomplete += lost

    def settle(self, entity: Entity) -> None:
        """Members went away: back to the same place, or out."""
        if entity.members:
            self.put(entity, BACK[entity.place])
        else:
            self.entities.remove(entity)

    # --- pods -----------------------------------------------------------------------------------------------------

    def add_pod(self, new: Pod) -> None:
        self.known[new.key] = new
        if new.node_name:
            self.event("AssignedPod/Add", None, new)
            return
        self.enqueue(new)
        if new.group_name:
            self.event("UnscheduledPod/Add", None, new)

    def enqueue(self, new: Pod) -> None:
        member = Waiting(new, self.now)
        if new.group_name:
            self.place_member(member)
        else:
            self.put(Entity(new.entity_key, [member], self.now), IMMEDIATELY)

    def update_pod(self, new: Pod) -> None:
        old = self.known[new.key]
        self.known[new.key] = new
        if new.node_name:
            self.dequeue(old)
            self.event("AssignedPod/Add", None, new)
        else:
            self.changed(old, new)

    def changed(self, old: Pod, new: Pod) -> None:
        if old.uid != new.uid:
            self.dequeue(old)
            self.enqueue(new)
            return
        names = self.changes(old, new)
        if ("mark", new.uid) in self.log:
            for name in names:
                self.remember(name, old, new, new.uid)
            return
        for member in (*self.incomplete, *(each for each, _ in self.pending)):
            if member.pod.key == new.key:
                member.pod = new
                return
        for entity in self.entities:
            for member in entity.members:
                if member.pod.key == new.key:
                    member.pod = new
                    if entity.place == "parked":
                        self.wake(entity, member, names, old, new)
                    return
        self.enqueue(new)

    def changes(self, old: Pod, new: Pod) -> list[str]:
        names = ["TargetPod/UpdatePodLabel"] if old.labels != new.labels else []
        if old.scheduling_gates and not new.scheduling_gates:
            names.append("TargetPod/UpdatePodSchedulingGatesEliminated")
        return names or ["TargetPod/Update"]

    def wake(self, entity: Entity, member: Waiting, names: list[str], old: Pod, new: Pod) -> None:
        for name in names:
            worth = self.worth(member, name, old, new)
            if any(not each.rejected and not each.pending for each in entity.members):
                worth = max(worth, AFTER_BACKOFF)
            if worth != SKIP and self.put(entity, worth) != "parked":
                return

    def show_status(self, new: Pod) -> None:
        self.update_pod(new)

    def delete_pod(self, name: str) -> None:
        old = self.known[f"default/{name}"]
        if old.node_name:
            del self.known[old.key]
            self.event("AssignedPod/Delete", old, None)
            return
        self.dequeue(old)
        del self.known[old.key]

    def dequeue(self, old: Pod) -> None:
        self.incomplete = [each for each in self.incomplete if each.pod.key != old.key]
        self.pending = [pair for pair in self.pending if pair[0].pod.key != old.key]
        for entity in list(self.entities):
            left = [each for each in entity.members if each.pod.key != old.key]
            if len(left) < len(entity.members):
                entity.members = left
                self.settle(entity)

    def replace_pod(self, new: Pod) -> None:
        old = self.known[new.key]
        self.known[new.key] = new
        self.changed(old, new)

    # --- other events and time --------------------------------------------------------------------------------------

    def node_event(self, event: ClusterEvent, name: str = "n") -> None:
        node = Node(name)
        self.event(event.label, None if event.action is Action.ADD else node, node)

    def activate(self, *names: str) -> None:
        for name in names:
            known = self.known.get(f"default/{name}")
            if known is None:
                continue
            if ("mark", known.uid) in self.log:
                self.remember("*", None, known, known.uid)
                continue
            for entity in list(self.entities):
                if entity.place != "active" and any(each.pod.key == known.key for each in entity.members):
                    self.put(entity, IMMEDIATELY)

    def advance(self, nanoseconds: int) -> None:
        target = self.now + nanoseconds
        while (self.now // SECOND + 1) * SECOND <= target:
            self.now = (self.now // SECOND + 1) * SECOND
            for entity in self.entities:
                if entity.place == "backoff" and not self.backing_off(entity):
                    entity.place = "active"
            if self.now % (30 * SECOND) == 0:
                self.flush_leftovers()
        self.now = target

    def flush_leftovers(self) -> None:
        overdue = [
            entity
            for entity in self.entities
            if entity.place == "parked" and self.now - max(entity.time, entity.flushed) > 300 * SECOND
        ]
        for entity in overdue:
            entity.flushed = self.now
            self.put(entity, AFTER_BACKOFF)
        if overdue:
            self.remember("*", None, None)

    # --- one cycle ------------------------------------------------------------------------------------------------

    def pop(self) -> Entity | None:
        while True:
            self.popped = self.next()
            if self.popped is None:
                return None
            entity = self.popped
            self.entities.remove(entity)
            entity.members = [m for m in self.sorted_members(entity) if ("mark", m.pod.uid) not in self.log]
            if not entity.members:
                continue
            entity.attempts += 1
            for member in entity.members:
                member.attempts += 1
                member.gated_by = ""
                self.log.append(("mark", member.pod.uid))
            self.last_popped = entity.key
            return entity

    def next(self) -> Entity | None:
        active = [entity for entity in self.entities if entity.place == "active"]
        if active:
            return min(active, key=lambda entity: (-self.priority(entity), entity.time, entity.key))
        early = [entity for entity in self.entities if entity.place == "backoff" and self.heap(entity) == "entity"]
        return min(early, key=lambda e: (e.expires, -self.priority(e), e.time, e.key), default=None)

    def priority(self, entity: Entity) -> int:
        group = self.groups.get(entity.key)
        return group.effective_priority if group is not None else entity.members[0].pod.priority

    def heap(self, entity: Entity) -> str:
        plain = not entity.members[0].pod.group_name
        return "entity" if plain and (entity.members[0].rejected or entity.members[0].pending) else "error"

    def finish(self, outcomes: Mapping[str, Outcome] | Outcome, root: Status = SUCCESS) -> None:
        entity, self.popped = self.popped, None
        assert entity is not None
        for member in entity.members:
            outcome = outcomes if isinstance(outcomes, Outcome) else outcomes[member.pod.name]
            newest = self.known.get(member.pod.key)
            if newest is None or newest.node_name or newest.uid != member.pod.uid:
                self.done(member)
            elif outcome.verdict == "fail":
                member.pod, member.rejected, member.pending = newest, set(outcome.unschedulable), set(outcome.pending)
                self.failed(member, entity)
            else:
                self.binding[member.pod.key] = member
                if outcome.verdict == "bind":
                    self.confirm(member.pod.name)
        self.last_popped = None
        if entity.key in self.groups or entity.members[0].pod.group_name:
            self.end_tree(entity, root.code.value)

    def failed(self, member: Waiting, plain: Entity | None) -> None:
        """A pod comes back; ``plain`` is its entity when it names no group."""
        member.time = self.now
        if member.pod.group_name:
            self.done(member)
            self.place_member(member, attempted=True)
            return
        if member.rejected or member.pending:
            member.unschedulable, member.errors = member.unschedulable + 1, 0
        else:
            member.errors += 1
        worth = SKIP if member.rejected or member.pending else AFTER_BACKOFF
        behind = self.log[self.log.index(("mark", member.pod.uid)) :]
        for _, name, old, new, uid in (each for each in behind if each[0] == "event"):
            if uid in ("", member.pod.uid):
                worth = max(worth, self.worth(member, name, old, new))
        entity = Entity(member.pod.entity_key, [member], self.now, member.attempts, member.unschedulable, member.errors)
        entity.flushed = 0
        self.put(entity, worth)
        self.done(member)

    def end_tree(self, entity: Entity, code: str) -> None:
        drained, self.pending = self.pending, []
        if not drained:
            return
        entity.members = [member for member, _ in drained]
        entity.expires, entity.flushed, entity.gated_by, entity.place = None, 0, "", ""
        if code == "Success":
            entity.unschedulable = entity.errors = 0
            entity.time = entity.time if any(attempted for _, attempted in drained) else self.now
            self.put(entity, IMMEDIATELY)
            return
        if code == "Error":
            entity.errors += 1
        else:
            entity.unschedulable, entity.errors = entity.unschedulable + 1, 0
        entity.time = self.now
        self.put(entity, AFTER_BACKOFF)

    def done(self, member: Waiting) -> None:
        if ("mark", member.pod.uid) in self.log:
            self.log.remove(("mark", member.pod.uid))
        while self.log and self.log[0][0] == "event":
            self.log.pop(0)

    def confirm(self, name: str) -> None:
        member = self.binding.pop(f"default/{name}")
        self.done(member)
        newest = self.known.get(member.pod.key)
        if newest is not None and newest.uid == member.pod.uid and not newest.node_name:
            self.update_pod(newest.bound_to("node"))

    def refuse(self, name: str) -> None:
        member = self.binding.pop(f"default/{name}")
        newest = self.known.get(member.pod.key)
        if newest is None or newest.uid != member.pod.uid or newest.node_name:
            self.done(member)
            return
        self.event("AssignedPod/Delete", newest, None, lambda other: other.uid != newest.uid)
        member.pod, member.rejected, member.pending = newest, set(), set()
        self.failed(member, None)

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def state(self) -> QueueState:
        active = [entity for entity in self.entities if entity.place == "active"]
        active.sort(key=lambda entity: (-self.priority(entity), entity.time, entity.key))
        backoff = [entity for entity in self.entities if entity.place == "backoff"]
        backoff.sort(key=lambda entity: (entity.expires, entity.key))
        parked = [entity for entity in self.entities if entity.place == "parked"]
        parked.sort(key=lambda entity: entity.key)
        marks = {each[1] for each in self.log if each[0] == "mark"}
        return QueueState(
            active=tuple(map(self.shown, active)),
            backoff=tuple(map(self.shown, backoff)),
            parked=tuple(map(self.shown, parked)),
            incomplete=_by_leaf([member.pod for member in self.incomplete]),
            pending=_by_leaf([member.pod for member, _ in self.pending]),
            in_flight=tuple(sorted(uid.split("|")[1].split("#")[0] for uid in marks)),
        )

    def shown(self, entity: Entity) -> EntityState:
        members: dict[EntityKey, tuple[str, ...]] = {}
        rejected_by: dict[str, tuple[str, ...]] = {}
        for member in self.sorted_members(entity):
            leaf = member.pod.group_key
            if leaf is not None:
                members[leaf] = (*members.get(leaf, ()), member.pod.name)
            if member.rejected or member.pending:
                pending = [f"pending:{name}" for name in sorted(member.pending)]
                rejected_by[member.pod.key] = (*sorted(member.rejected), *pending)
        backoff = entity.place == "backoff"
        return EntityState(
            key=entity.key,
            ts=entity.time,
            attempts=entity.attempts,
            unschedulable=entity.unschedulable,
            errors=entity.errors,
            members=members,
            gated_by=entity.gated_by,
            reason=entity.reason,
            rejected_by=rejected_by,
            expires=entity.expires if backoff else None,
            heap=self.heap(entity) if backoff else "",
        )


def _kind(group: Group) -> str:
    return "PodGroup" if isinstance(group, PodGroup) else "CompositePodGroup"


def _by_leaf(pods: list[Pod]) -> dict[EntityKey, tuple[str, ...]]:
    leaves = sorted({pod.group_key for pod in pods if pod.group_key is not None})
    return {leaf: tuple(sorted(pod.name for pod in pods if pod.group_key == leaf)) for leaf in leaves}

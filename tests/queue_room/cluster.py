"""The caller of the queue as the engine is: known objects, the forest, and the order of steps of spec §2.12."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from gangsched_framework.events import Action, ClusterEvent, Resource
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import COMPOSITE_POD_GROUP, POD_GROUP, EntityKey, Group, Node, Pod, PodGroup
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_framework.status import SUCCESS, Status
from gangsched_framework.testing import FakeClock, make_composite_pod_group, make_pod, make_pod_group
from gangsched_queue.nominator import Nominator
from gangsched_queue.scheduling_queue import SchedulingQueue
from gangsched_queue.settings import SECOND, QueueSettings
from tests.queue_room.fakes import ASSIGNED_ADD, ASSIGNED_DELETE, FakeFramework


@frozen
class Outcome:
    """What a cycle made of a pod: ``bind``, ``binding`` (not confirmed yet) or ``fail`` with these rejectors."""

    verdict: str
    unschedulable: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()


BIND, BINDING, ERROR = Outcome("bind"), Outcome("binding"), Outcome("fail")


def rejected(*plugins: str, pending: str = "") -> Outcome:
    return Outcome("fail", frozenset(plugins), frozenset([pending] if pending else []))


def key(name: str) -> EntityKey:
    """``g`` is a PodGroup, ``G`` a CompositePodGroup of namespace default."""
    return EntityKey.of(COMPOSITE_POD_GROUP if name.isupper() else POD_GROUP, "default", name)


def group(name: str, minimum: int | None = None, parent: str = "", priority: int | None = None) -> Group:
    """A leaf ``g`` or an inner group ``G``; ``minimum`` None = basic."""
    built: Group
    built = make_composite_pod_group(name).obj() if name.isupper() else make_pod_group(name).obj()
    return evolve(built, minimum=minimum, parent_name=parent, priority=priority)


def pod(
    name: str,
    of: str = "",
    *,
    gates: int = 0,
    node: str = "",
    priority: int = 0,
    uid: str = "",
    labels: Mapping[str, str] | None = None,
) -> Pod:
    built = make_pod(name).priority(priority).node(node)
    built = built.in_group(of) if of else built
    built = built.gate(*(f"gate-{i}" for i in range(gates))) if gates else built
    for label, value in (labels or {}).items():
        built = built.label(label, value)
    return built.uid(uid).obj() if uid else built.obj()


class Cluster:
    """Every method is one delivered change, or one stage of a cycle. Pods and groups go by their short names."""

    def __init__(
        self,
        settings: QueueSettings | None = None,
        *,
        scoped: bool = True,
        reverse: bool = False,
        composite: bool = True,
    ) -> None:
        self.forest = Forest(composite=composite)
        self.clock = FakeClock()
        self.known: dict[str, Pod] = {}
        self.binding: dict[str, QueuedPodInfo] = {}
        self.framework = FakeFramework(self.forest, scoped, reverse)
        self.nominator = Nominator(self.known.get)
        frameworks = {"default-scheduler": self.framework}
        self.queue = SchedulingQueue(self.forest, frameworks, self.clock, self.nominator, settings or QueueSettings())
        self.popped: QueuedPodInfo | PoppedPodGroupInfo | None = None

    # --- groups ---------------------------------------------------------------------------------------------------

    def add_group(self, new: Group) -> None:
        self.forest.add_group(new)
        self.queue.add_group(new)
        self.queue.move_all(ClusterEvent(_resource(new), Action.ADD), None, new)

    def update_group(self, new: Group) -> None:
        old = self.forest.group(new.key)
        assert old is not None
        if old.parent_name != new.parent_name:
            self.delete_group(old.key)
            self.add_group(new)
            return
        self.forest.update_group(new)
        self.queue.update_group(new)
        self.queue.move_all(ClusterEvent(_resource(new), Action.UPDATE_OTHER), old, new)

    def delete_group(self, group_key: EntityKey) -> None:
        root = self.forest.root(group_key)
        self.forest.delete_group(group_key)
        self.queue.delete_group(group_key, root)

    # --- pods -----------------------------------------------------------------------------------------------------

    def add_pod(self, new: Pod) -> None:
        self.known[new.key] = new
        self.forest.add_pod(new)
        if new.node_name:
            self.queue.move_all(ASSIGNED_ADD, None, new)
            return
        self.queue.add(new)

    def update_pod(self, new: Pod) -> None:
        old = self.known[new.key]
        self.known[new.key] = new
        self.forest.update_pod(old, new)
        if new.node_name:
            self.queue.delete(old)
            self.queue.move_all(ASSIGNED_ADD, None, new)
        else:
            self.queue.update(old, new)

    def show_status(self, new: Pod) -> None:
        """Only the status of a waiting pod changes."""
        old = self.known[new.key]
        self.known[new.key] = new
        self.forest.update_pod(old, new)
        self.queue.update(old, new, status_only=True)

    def delete_pod(self, name: str) -> None:
        old = self.known[f"default/{name}"]
        if old.node_name:
            del self.known[old.key]
            self.forest.delete_pod(old)
            self.queue.move_all(ASSIGNED_DELETE, old, None)
            return
        self.queue.delete(old)
        del self.known[old.key]
        self.forest.delete_pod(old)

    def replace_pod(self, new: Pod) -> None:
        """A deletion and an addition seen as one update."""
        old = self.known[new.key]
        self.known[new.key] = new
        self.forest.update_pod(old, new)
        self.queue.update(old, new)

    # --- other events and time --------------------------------------------------------------------------------------

    def node_event(self, event: ClusterEvent, name: str = "n") -> None:
        node = Node(name)
        self.queue.move_all(event, None if event.action is Action.ADD else node, node)

    def activate(self, *names: str) -> None:
        self.queue.activate([self.known.get(f"default/{name}") or pod(name) for name in names])

    def advance(self, nanoseconds: int) -> None:
        """The clock stops at every whole second on the way (conformance README §3)."""
        target = self.clock.time + nanoseconds
        while (second := self.clock.time - self.clock.time % SECOND + SECOND) <= target:
            self.clock.time = second
            self.queue.flush_backoff()
            if second % (30 * SECOND) == 0:
                self.queue.flush_leftovers()
        self.clock.time = target

    # --- one cycle ------------------------------------------------------------------------------------------------

    def pop(self) -> QueuedPodInfo | PoppedPodGroupInfo | None:
        self.popped = self.queue.pop()
        return self.popped

    def finish(self, outcomes: Mapping[str, Outcome] | Outcome, root: Status = SUCCESS) -> None:
        """End the cycle; one outcome for all pods, or by short name."""
        popped, self.popped = self.popped, None
        assert popped is not None
        for info in popped.members():
            self._submit(info, outcomes if isinstance(outcomes, Outcome) else outcomes[info.pod.name])
        if isinstance(popped, PoppedPodGroupInfo):
            self.queue.add_attempted(popped, root)

    def _submit(self, info: QueuedPodInfo, outcome: Outcome) -> None:
        newest = self.known.get(info.pod.key)
        if newest is None or newest.node_name or newest.uid != info.pod.uid:
            self.queue.done(info.pod.uid)
            return
        if outcome.verdict == "fail":
            info.renew(newest)
            info.unschedulable_plugins = outcome.unschedulable
            info.pending_plugins = outcome.pending
            self.queue.add_unschedulable(info)
        else:
            self.forest.assume(newest, "node")
            self.binding[info.pod.key] = info
            if outcome.verdict == "bind":
                self.confirm(info.pod.name)

    def confirm(self, name: str) -> None:
        """A binding succeeded."""
        info = self.binding.pop(f"default/{name}")
        self.queue.done(info.pod.uid)
        newest = self.known.get(info.pod.key)
        if newest is not None and newest.uid == info.pod.uid and not newest.node_name:
            self.update_pod(newest.bound_to("node"))

    def refuse(self, name: str) -> None:
        """A binding failed."""
        info = self.binding.pop(f"default/{name}")
        newest = self.known.get(info.pod.key)
        if newest is None or newest.uid != info.pod.uid or newest.node_name:
            self.queue.done(info.pod.uid)
            return
        self.forest.forget(newest)
        self.queue.move_all(ASSIGNED_DELETE, newest, None, lambda other: other.uid != newest.uid)
        info.renew(newest)
        info.unschedulable_plugins = info.pending_plugins = frozenset()
        self.queue.add_unschedulable(info)

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def state(self) -> QueueState:
        self.queue._check()
        self.forest._check()
        return self.queue.state()

    @property
    def where(self) -> dict[str, str]:
        """Short name of every pod in the queue -> its place: active, backoff, parked, gated, incomplete, pending."""
        state = self.state
        found: dict[str, str] = {}
        for place, entities in (("active", state.active), ("backoff", state.backoff), ("parked", state.parked)):
            for entity in entities:
                shown = "gated" if entity.gated_by else place
                for name in _names(entity):
                    assert name not in found
                    found[name] = shown
        for place, leaves in (("incomplete", state.incomplete), ("pending", state.pending)):
            for names in leaves.values():
                found |= dict.fromkeys(names, place)
        return found

    def entity(self, name: str) -> EntityState:
        """The waiting entity that holds a pod."""
        state = self.state
        (found,) = (e for e in (*state.active, *state.backoff, *state.parked) if name in _names(e))
        return found


def _names(entity: EntityState) -> list[str]:
    if not entity.members:
        return [entity.key.name]
    return [name for names in entity.members.values() for name in names]


def _resource(one: Group) -> Resource:
    return Resource.POD_GROUP if isinstance(one, PodGroup) else Resource.COMPOSITE_POD_GROUP

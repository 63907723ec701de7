"""From a cluster event to world, queue and hints, in the order of spec podgroup-scheduling.md §2.12."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import define

from gangsched.engine.world import World
from gangsched_framework.errors import GangschedError
from gangsched_framework.events import Action, ClusterEvent, Resource
from gangsched_framework.objects import (
    QUEUE_NAME,
    ClusterObject,
    CompositePodGroup,
    Condition,
    EntityKey,
    Group,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PodStatus,
    PriorityClass,
    Queue,
    SelectorOwner,
)
from gangsched_queue.node_events import node_update_events
from gangsched_queue.pod_events import pod_update_events
from gangsched_queue.scheduling_queue import SchedulingQueue

_POD_ADD = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
_POD_DELETE = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
_POD_GROUP_ADD = ClusterEvent(Resource.POD_GROUP, Action.ADD)
_COMPOSITE_ADD = ClusterEvent(Resource.COMPOSITE_POD_GROUP, Action.ADD)
_POD_GROUP_UPDATE = ClusterEvent(Resource.POD_GROUP, Action.UPDATE_OTHER)
_COMPOSITE_UPDATE = ClusterEvent(Resource.COMPOSITE_POD_GROUP, Action.UPDATE_OTHER)
_QUEUE_ADD = ClusterEvent(Resource.QUEUE, Action.ADD)
_QUEUE_UPDATE = ClusterEvent(Resource.QUEUE, Action.UPDATE_OTHER)
_QUEUE_DELETE = ClusterEvent(Resource.QUEUE, Action.DELETE)
_NODE_ADD = ClusterEvent(Resource.NODE, Action.ADD)
_NODE_DELETE = ClusterEvent(Resource.NODE, Action.DELETE)


@define(eq=False)
class EventHandlers:
    """Delivers one change completely. ``profiles`` holds the scheduler names the core answers for."""

    world: World
    queue: SchedulingQueue
    profiles: Mapping[str, object]

    def add(self, obj: ClusterObject) -> None:
        """An object other than a pod appears, or a known one changes."""
        if isinstance(obj, PodGroup | CompositePodGroup):
            self._set_group(obj)
        elif isinstance(obj, Node):
            self._set_node(obj)
        elif isinstance(obj, Queue):
            known = obj.name in self.world.queues
            self.world.set_queue(obj.name, obj)
            self.queue.move_all(_QUEUE_UPDATE if known else _QUEUE_ADD, None, None)
        else:
            self._store(obj)[_store_key(obj)] = obj

    def _set_node(self, node: Node) -> None:
        old = self.world.node(node.name)
        if old is None:
            self.world.add_node(node)
            self.queue.move_all(_NODE_ADD, None, node)
            return
        self.world.update_node(old, node)
        for event in node_update_events(old, node):
            self.queue.move_all(event, old, node)

    def delete(self, obj: ClusterObject) -> None:
        """A known object vanishes; unknown ones are ignored."""
        known = self.known(obj)
        if known is None:
            return
        if isinstance(known, Pod):
            self._delete_pod(known)
        elif isinstance(known, Node):
            self.world.delete_node(known.name)
            self.queue.move_all(_NODE_DELETE, known, None)
        elif isinstance(known, PodGroup | CompositePodGroup):
            root = self.world.forest.root(known.key)
            self._rouse(root)
            self.world.forest.delete_group(known.key)
            self.world.regroup(known.key)
            self.queue.delete_group(known.key, root)
        elif isinstance(known, Queue):
            self.world.set_queue(known.name, None)
            self.queue.move_all(_QUEUE_DELETE, None, None)
        else:
            del self._store(known)[_store_key(known)]

    def _rouse(self, key: EntityKey | None) -> None:
        """The retries of a dormant tree are made up before it changes its shape: they were those of the old one."""
        root = self.world.forest.root(key) if key is not None else None
        if root is not None:
            self.queue.rouse((root,))

    def known(self, obj: ClusterObject) -> ClusterObject | None:
        """The core's version of an object with the same identity."""
        if isinstance(obj, Pod):
            return self.world.pods.get(obj.key)
        if isinstance(obj, Node):
            return self.world.node(obj.name)
        if isinstance(obj, PodGroup | CompositePodGroup):
            return self.world.forest.group(obj.key)
        if isinstance(obj, Queue):
            return self.world.queues.get(obj.name)
        return self._store(obj).get(_store_key(obj))

    def _set_group(self, new: Group) -> None:
        forest = self.world.forest
        old = forest.group(new.key)
        if old is not None and (old.uid != new.uid or old.parent_name != new.parent_name):
            self.delete(old)  # a deletion and a creation seen as one (§3.4)
            old = None
        if old is None:
            self._rouse(new.parent_key)
            forest.add_group(new)
            self.world.regroup(new.key)
            self.queue.add_group(new)
            self.queue.move_all(_POD_GROUP_ADD if isinstance(new, PodGroup) else _COMPOSITE_ADD, None, new)
            return
        forest.update_group(new)
        if _what_pods_take_over(old) != _what_pods_take_over(new):
            self.world.regroup(new.key)
        self._tell_of_group(old, new)

    def update_group_status(self, key: EntityKey, condition: Condition) -> None:
        """A group, if it is known, shows another condition, which changes nothing that its pods take over."""
        forest = self.world.forest
        old = forest.group(key)
        if old is not None:
            new = old.with_condition(condition)
            forest.renew_group(new)
            self._tell_of_group(old, new)

    def _tell_of_group(self, old: Group, new: Group) -> None:
        self.queue.update_group(new)
        # DIV-16: a changed CompositePodGroup is an event too (v1.37.2 sends none)
        self.queue.move_all(_POD_GROUP_UPDATE if isinstance(new, PodGroup) else _COMPOSITE_UPDATE, old, new)

    # --- pods -------------------------------------------------------------------------------------------------------

    def _responsible(self, pod: Pod) -> bool:
        return pod.scheduler_name in self.profiles

    def add_pod(self, pod: Pod) -> None:
        """A pod appears."""
        if pod.terminal:
            return
        takes_part = self.world.add_pod(pod)
        if pod.node_name:
            self.queue.move_all(_POD_ADD, None, pod)
        elif takes_part:
            self.queue.add(pod)

    def update_pod(self, old: Pod, new: Pod) -> None:
        """A known pod changes."""
        lost_node = old.node_name and not new.node_name  # no assigned pod any more, but a waiting one (B-05)
        if old.uid != new.uid or lost_node or new.terminal:
            self._delete_pod(old)
            self.add_pod(new)
        elif old.node_name:
            self.world.update_pod(old, new)
            for event in pod_update_events(old, new):
                self.queue.move_all(event, old, new)
            if new.deleting and not old.deleting:
                self._shares_moved()
        elif new.node_name:
            assumed = self.world.update_pod(old, new)  # then its binding was decided here, and it waits nowhere
            if not assumed and self._responsible(old):
                self.queue.delete(old)
            self.queue.move_all(_POD_ADD, None, new)
        elif not self.world.update_pod(old, new):
            self._update_queued(old, new)

    def update_status(self, pod: Pod, node_name: str, status: PodStatus) -> None:
        """A known pod shows a status, of the phase and with the amounts as before, and the node it is on, if any."""
        new, known = pod.bound_to(node_name, status), self.world.pods.get(pod.key)
        if known is not pod:  # not the newest copy: an update like any other
            self.add_pod(new) if known is None else self.update_pod(known, new)
        elif node_name:
            if self.world.confirm(pod, new):
                self.queue.move_all(_POD_ADD, None, new)
            else:
                self.update_pod(pod, new)
        elif pod.node_name:
            self.update_pod(pod, new)
        elif not self.world.renew_pod(new):
            self._update_queued(pod, new, True)

    def _update_queued(self, old: Pod, new: Pod, status_only: bool = False) -> None:
        if new.scheduler_name not in self.profiles:
            return
        self.queue.update(old, new, status_only)
        nominated = old.status.nominated_node_name
        if nominated and nominated != new.status.nominated_node_name:
            self.queue.move_all(_POD_DELETE, old, None, _at_most(old.priority))

    def _delete_pod(self, pod: Pod) -> None:
        if pod.node_name:
            self.world.delete_pod(pod)
            self.queue.move_all(_POD_DELETE, pod, None)
            return
        # the queue hears of a waiting pod's deletion before the cache does (spec §2.12)
        if self._responsible(pod):
            self.queue.delete(pod)
        self.world.delete_pod(pod)
        self._shares_moved()
        if self._responsible(pod) and pod.status.nominated_node_name:
            self.queue.move_all(_POD_DELETE, pod, None, _at_most(pod.priority))

    def _shares_moved(self) -> None:
        """A tenant asks for less or gives way: others may deserve more (an event of its own, as no other tells it)."""
        if self.world.accounts is not None:
            self.queue.move_all(_QUEUE_UPDATE, None, None)

    # --- objects without events -------------------------------------------------------------------------------------

    def _store(self, obj: ClusterObject) -> dict[str, ClusterObject]:
        world = self.world
        stores: dict[type, dict[str, ClusterObject]] = {
            Namespace: world.namespaces,  # type: ignore[dict-item]
            PriorityClass: world.priority_classes,  # type: ignore[dict-item]
            PodDisruptionBudget: world.disruption_budgets,  # type: ignore[dict-item]
            SelectorOwner: world.selector_owners,  # type: ignore[dict-item]
        }
        store = stores.get(type(obj))
        if store is None:
            raise GangschedError(f"found a {type(obj).__name__}, allowed a framework object (of a builder: its .obj())")
        world.version += 1
        world.listed += 1
        return store


def _what_pods_take_over(group: Group) -> tuple[object, ...]:
    """What a group's pods have of it: tenant, importance as victims, and whether they go together."""
    return (group.annotations.get(QUEUE_NAME), group.effective_priority, group.disruption_mode)


def _store_key(obj: ClusterObject) -> str:
    if isinstance(obj, SelectorOwner):
        return f"{obj.kind}/{obj.namespace}/{obj.name}"
    if isinstance(obj, PodDisruptionBudget):
        return f"{obj.namespace}/{obj.name}"
    return obj.name


def _at_most(priority: int) -> Callable[[Pod], bool]:
    return lambda pod: pod.priority <= priority

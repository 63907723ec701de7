"""The one door of the queue room (docs/design.md). Single-threaded; time comes from the clock alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from gangsched_framework.events import ClusterEvent
from gangsched_framework.handle import Clock
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey, Group, Pod
from gangsched_framework.queue_state import QueueState
from gangsched_framework.status import Status
from gangsched_queue import operations_cycle, operations_events, operations_groups, operations_pods, views
from gangsched_queue.containers import Containers
from gangsched_queue.dormant import DormantTrees
from gangsched_queue.in_flight import EventObject, InFlight
from gangsched_queue.incomplete_pods import IncompletePods
from gangsched_queue.nominator import Nominator
from gangsched_queue.pending_pods import PendingPods
from gangsched_queue.registrations import Frameworks, Registrations
from gangsched_queue.settings import QueueSettings
from gangsched_queue.waiting import WaitingEntities


class SchedulingQueue:
    """Waiting pods and trees, from their arrival to the end of their attempts (spec §2).

    ``frameworks``: scheduler name -> framework; at least one, and pods of other schedulers are not to be handed in.
    Costs are O(log n + depth) per pod operation, pop and requeue (a popped tree costs its members, once); an event
    costs what the entities cost whose rejectors registered it.
    """

    def __init__(
        self,
        forest: Forest,
        frameworks: Frameworks,
        clock: Clock,
        nominator: Nominator,
        settings: QueueSettings,
    ) -> None:
        self.nominator = nominator
        self._settings = settings
        self._queue = Containers(
            forest=forest,
            clock=clock,
            nominator=nominator,
            registrations=Registrations(frameworks),
            waiting=WaitingEntities(forest, frameworks, clock, settings),
            incomplete=IncompletePods(),
            pending=PendingPods(),
            in_flight=InFlight(),
        )

    # --- pods: the forest is updated before add and update, and after delete (spec §2.12) -------------------------

    def add(self, pod: Pod) -> None:
        """A waiting pod appears; that of a member is an event, too (spec §2.12)."""
        operations_pods.add(self._queue, pod)

    def update(self, old: Pod, new: Pod) -> None:
        """A waiting pod changes; one that is nowhere is added."""
        operations_pods.update(self._queue, old, new)

    def delete(self, pod: Pod) -> None:
        """A waiting pod goes away or is assigned. A mark of its attempt stays until ``done``."""
        operations_pods.delete(self._queue, pod)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Call the entities of some pods into the active queue, whatever they wait for; gates still hold."""
        operations_pods.activate(self._queue, pods)

    # --- groups: the forest is updated before all three -----------------------------------------------------------

    def add_group(self, group: Group) -> None:
        """A group appears: members that waited for it join the entity of their root."""
        operations_groups.add_group(self._queue, group)

    def update_group(self, group: Group) -> None:
        """A group changes. One whose parent changed is to be deleted and added instead."""
        operations_groups.update_group(self._queue, group)

    def delete_group(self, key: EntityKey, root: EntityKey | None) -> None:
        """A group goes away; ``root`` is what ``forest.root(key)`` said before."""
        operations_groups.delete_group(self._queue, key, root)

    # --- events and time ------------------------------------------------------------------------------------------

    def move_all(
        self,
        event: ClusterEvent,
        old: EventObject = None,
        new: EventObject = None,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """An event happened: wake the parked entities it may help, and remember it for the pods in flight.

        ``pre_check`` must hold for some pod of an entity, else the entity is passed by.
        """
        operations_events.move_all(self._queue, event, old, new, pre_check)

    def flush_backoff(self) -> None:
        """Release every entity whose penalty is over at ``clock.now()``; due every whole second."""
        self._queue.waiting.flush_backoff()

    def flush_leftovers(self) -> None:
        """Give every entity parked for more than the timeout another try; due every 30 s."""
        operations_events.flush_leftovers(self._queue, self._settings)

    # --- cycle ----------------------------------------------------------------------------------------------------

    def pop(self) -> QueuedPodInfo | PoppedPodGroupInfo | None:
        """The next entity, its pods marked as in flight; None when nothing may be popped now."""
        return operations_cycle.pop(self._queue)

    def done(self, uid: str) -> None:
        """The attempt of one pod is over; unknown UIDs do nothing."""
        self._queue.in_flight.done(uid)

    def add_unschedulable(self, info: QueuedPodInfo) -> None:
        """Give back a pod whose attempt or binding failed, its rejector sets filled anew. Ends its attempt.

        Raises InvariantError when the pod is queued already.
        """
        operations_cycle.add_unschedulable(self._queue, info)

    def add_attempted(self, entity: PoppedPodGroupInfo, root_status: Status) -> None:
        """End the cycle of a tree; ``root_status`` decides its penalty. Every popped tree must come back through here.

        Raises InvariantError when the tree is queued already.
        """
        operations_cycle.add_attempted(self._queue, entity, root_status)

    def forget_popped(self) -> None:
        """End the cycle of a plain pod."""
        self._queue.last_popped = None

    # --- dormant trees: retries that pass without being carried out -------------------------------------------------

    @property
    def dormant(self) -> DormantTrees:
        """Refused trees that sleep; any operation on one of them rouses it first."""
        return self._queue.waiting.dormant

    def lay_down(self, key: EntityKey, kind: Hashable, outcome: object, version: int) -> None:
        """Let a tree that has just been refused sleep, if nothing but time brings it back."""
        self._queue.waiting.lay_down(key, kind, outcome, version)

    def rouse(self, keys: Iterable[EntityKey]) -> None:
        """Bring dormant trees back to the backoff queue, their retries made up."""
        for key in keys:
            self._queue.waiting.rouse(key)

    def as_popped(self, key: EntityKey) -> PoppedPodGroupInfo:
        """A dormant tree as a pop would give it, left where it is."""
        return operations_cycle.popped_tree(self._queue, self.dormant.entity(key))

    def rehearsed(self, key: EntityKey) -> QueuedPodInfo | PoppedPodGroupInfo | None:
        """A waiting entity as a pop would give it, left where it is; None when it is not waiting, or gated."""
        waiting = self._queue.waiting
        found = waiting.find_tree(key) or waiting.find_pod(key)
        if found is None or found[0].gating_plugin:
            return None
        entity = found[0]
        return entity if isinstance(entity, QueuedPodInfo) else operations_cycle.popped_tree(self._queue, entity)

    def head(self) -> tuple[tuple[int, ...], EntityKey] | None:
        """Sort key and key of the active queue's head; None when it is empty."""
        head = self._queue.waiting.active.head()
        return (head[0], head[1].key) if head is not None else None

    # --- views ----------------------------------------------------------------------------------------------------

    def has_ready(self) -> bool:
        """Whether the active queue has anybody to pop; under a dynamic QueueSort all may be passed over."""
        return self._queue.waiting.active.head() is not None

    def can_pop(self) -> bool:
        """Whether ``pop`` would find an entity, one served early from the backoff queue included."""
        return self.has_ready() or self._queue.waiting.backoff.can_pop_early

    def peek(self) -> EntityKey | None:
        """Key of the entity ``pop`` would try first; None when nothing may be popped now."""
        head = self._queue.waiting.active.head() or self._queue.waiting.backoff.early_head()
        return head[1].key if head is not None else None

    def next_due(self) -> int | None:
        """First engine time at which a flush would move somebody; None when nobody waits for time."""
        return operations_events.next_flush(self._queue, self._settings)

    def state(self) -> QueueState:
        """Every container as frozen values; rouses all dormant trees. O(everything in the queue)."""
        self.rouse(self.dormant.keys())
        return views.queue_state(self._queue)

    def _check(self) -> None:
        """Assert the invariants of spec §8.7 rows 1-4 (tests only)."""
        self._queue._check()

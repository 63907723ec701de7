"""The one door of the queue room (docs/design.md). Single-threaded; time comes from the clock alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from gangsched_framework.handle import Clock
from gangsched_framework.hierarchy import Forest
from gangsched_framework.infos import PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import EntityKey
from gangsched_framework.queue_state import QueueState
from gangsched_queue import operations_cycle, operations_events, operations_groups, operations_pods, views
from gangsched_queue.containers import Containers
from gangsched_queue.dormant import DormantTrees
from gangsched_queue.in_flight import InFlight
from gangsched_queue.incomplete_pods import IncompletePods
from gangsched_queue.nominator import Nominator
from gangsched_queue.pending_pods import PendingPods
from gangsched_queue.registrations import Frameworks, Registrations
from gangsched_queue.settings import QueueSettings
from gangsched_queue.waiting import WaitingEntities


class SchedulingQueue(Containers):
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
        super().__init__(
            forest=forest,
            clock=clock,
            nominator=nominator,
            settings=settings,
            registrations=Registrations(frameworks),
            waiting=WaitingEntities(forest, frameworks, clock, settings),
            incomplete=IncompletePods(),
            pending=PendingPods(),
            in_flight=InFlight(),
        )

    # --- pods: the forest is updated before add and update, and after delete (spec §2.12) -------------------------

    add = operations_pods.add
    update = operations_pods.update
    delete = operations_pods.delete
    activate = operations_pods.activate

    # --- groups: the forest is updated before all three -----------------------------------------------------------

    add_group = operations_groups.add_group
    update_group = operations_groups.update_group
    delete_group = operations_groups.delete_group

    # --- events and time ------------------------------------------------------------------------------------------

    move_all = operations_events.move_all
    flush_leftovers = operations_events.flush_leftovers
    next_due = operations_events.next_due

    def flush_backoff(self) -> None:
        """Release every entity whose penalty is over at ``clock.time``; due every whole second."""
        self.waiting.flush_backoff()

    # --- cycle ----------------------------------------------------------------------------------------------------

    pop = operations_cycle.pop
    add_unschedulable = operations_cycle.add_unschedulable
    add_attempted = operations_cycle.add_attempted

    def done(self, uid: str) -> None:
        """The attempt of one pod is over; unknown UIDs do nothing."""
        self.in_flight.done(uid)

    # --- dormant trees: retries that pass without being carried out -------------------------------------------------

    @property
    def dormant(self) -> DormantTrees:
        """Refused trees that sleep; any operation on one of them rouses it first."""
        return self.waiting.dormant

    def lay_down(self, key: EntityKey, kind: Hashable, outcome: object, version: int) -> None:
        """Let a tree that has just been refused sleep, if nothing but time brings it back."""
        self.waiting.lay_down(key, kind, outcome, version)

    def rouse(self, keys: Iterable[EntityKey]) -> None:
        """Bring dormant trees back to the backoff queue, their retries made up."""
        for key in keys:
            self.waiting.rouse(key)

    def as_popped(self, key: EntityKey) -> PoppedPodGroupInfo:
        """A dormant tree as a pop would give it, left where it is."""
        return operations_cycle.popped_tree(self, self.dormant.entity(key))

    def rehearsed(self, key: EntityKey) -> QueuedPodInfo | PoppedPodGroupInfo | None:
        """A waiting entity as a pop would give it, left where it is; None when it is not waiting, or gated."""
        waiting = self.waiting
        found = waiting.find_tree(key) or waiting.find_pod(key)
        if found is None or found[0].gating_plugin:
            return None
        entity = found[0]
        return entity if isinstance(entity, QueuedPodInfo) else operations_cycle.popped_tree(self, entity)

    def head(self) -> tuple[tuple[int, ...], EntityKey] | None:
        """Sort key and key of the active queue's head; None when it is empty."""
        head = self.waiting.active.head()
        return (head[0], head[1].key) if head is not None else None

    # --- views ----------------------------------------------------------------------------------------------------

    def has_ready(self) -> bool:
        """Whether the active queue has anybody to pop; under a dynamic QueueSort all may be passed over."""
        return self.waiting.active.head() is not None

    def peek(self) -> EntityKey | None:
        """Key of the entity ``pop`` would try first; None when nothing may be popped now."""
        head = self.waiting.active.head() or self.waiting.backoff.early_head()
        return head[1].key if head is not None else None

    def state(self) -> QueueState:
        """Every container as frozen values; rouses all dormant trees. O(everything in the queue)."""
        self.rouse(self.dormant.keys())
        return views.queue_state(self)

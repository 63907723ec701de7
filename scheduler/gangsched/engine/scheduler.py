"""The core: takes objects and time, gives decisions (architecture.md §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import evolve

from gangsched.engine.column_search import ColumnSearch
from gangsched.engine.columns import ColumnCache
from gangsched.engine.complete import NOMINATION_CLEARED, Failure
from gangsched.engine.cycle import CYCLES, AnyCycle, Cycle, rehearse
from gangsched.engine.decisions import Decision, RecordEvent
from gangsched.engine.event_handlers import EventHandlers
from gangsched.engine.given_up import give_up
from gangsched.engine.handle import EngineClock, EngineHandle
from gangsched.engine.idle import IdleRetries
from gangsched.engine.memo import Memo
from gangsched.engine.outbox import Outbox
from gangsched.engine.placement_board import PlacementBoards
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.report import CycleReport, MadeUp
from gangsched.engine.run_ahead import RunAhead
from gangsched.engine.settings import BASE_GATES, SECOND, Settings
from gangsched.engine.stage_log import StageLog
from gangsched.engine.submit import Submitter
from gangsched.engine.tools import Tools
from gangsched.engine.trace import Tracer, TraceStep
from gangsched.engine.world import World
from gangsched_framework import node_order
from gangsched_framework.errors import GangschedError, whole
from gangsched_framework.events import Action, ClusterEvent, Resource
from gangsched_framework.framework import Framework
from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import ClusterObject, Condition, EntityKey, Node, Pod, PodStatus
from gangsched_framework.profile import Profile
from gangsched_framework.queue_state import QueueState
from gangsched_framework.registry import Registry
from gangsched_framework.snapshot import Snapshot
from gangsched_framework.status import error
from gangsched_queue.nominator import Nominator
from gangsched_queue.scheduling_queue import SchedulingQueue
from gangsched_queue.settings import QueueSettings

LEFTOVER_PERIOD = 30 * SECOND


class Scheduler:
    """The scheduling core: sans-IO, single-threaded, deterministic.

    In: ``add`` / ``update`` / ``delete`` of objects, ``advance`` of time, ``bound`` / ``bind_failed``. Out: a
    ``CycleReport`` per cycle with the decisions. Raises ConfigurationError when a profile cannot be built.
    """

    _open: Cycle | None = None  # what was popped last for a host to walk

    def __init__(
        self,
        profiles: Sequence[Profile],
        registry: Registry,
        *,
        settings: Settings | None = None,
        feature_gates: Mapping[str, bool] | None = None,
    ) -> None:
        settings = settings or Settings()
        gates = {**BASE_GATES, **(feature_gates or {})}
        self.clock = EngineClock()
        self._popped = 0
        composite = all(gates[g] for g in ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup"))
        by_creation = settings.groups.child_order == "creation"
        forest = Forest(composite=composite, child_order="creation" if by_creation else "name")
        self.world = World(forest, frozenset(profile.scheduler_name for profile in profiles))
        upstream = settings.node_order == "upstream"
        order = node_order.upstream if upstream else node_order.by_name
        self.snapshot = Snapshot(self.world.table, forest, order)
        self.nominator = Nominator(self.world.pods.get, self.world.touch)
        self.tracer = Tracer(settings.tracing)
        stop = partial(give_up, self)
        self._handle = EngineHandle(
            self.clock, self.world, self.snapshot, self.nominator, gates, self.tracer, stop, settings.oracle
        )
        for profile in profiles:
            self._handle.frameworks[profile.scheduler_name] = Framework(profile, registry, self._handle)
        self.frameworks: Mapping[str, Framework] = self._handle.frameworks
        self._hears_of_bindings = any(framework.hears_of_bindings for framework in self.frameworks.values())
        queue_settings = QueueSettings(
            initial_backoff=settings.initial_backoff,
            max_backoff=settings.max_backoff,
            unschedulable_timeout=settings.unschedulable_timeout,
            pop_from_backoff=gates["SchedulerPopFromBackoffQ"],
        )
        self.queue = SchedulingQueue(forest, self.frameworks, self.clock, self.nominator, queue_settings)
        self._events = EventHandlers(self.world, self.queue, self.frameworks)
        self.columns = None if upstream or settings.oracle else ColumnCache(self.world.table)
        search = None
        if self.columns is not None:
            search = ColumnSearch(self.snapshot, self.nominator, self.columns, RunAhead(self.world))
        boards = PlacementBoards(self.snapshot, search) if search is not None else None
        self.algorithm = PodAlgorithm(self.snapshot, self.nominator, search, boards, upstream)
        self._outbox = Outbox()
        self._submitter = Submitter(self.world, self.queue, self.clock, self._outbox)
        self._tools = Tools(
            self.world,
            self.snapshot,
            self.queue,
            self.algorithm,
            self._submitter,
            self._outbox,
            self.tracer,
            self.frameworks,
            StageLog(settings.logging),
            settings.groups,
            Memo(self.world, self.nominator, self.columns) if self.columns is not None and settings.memo else None,
            policy_gate=gates.get("PodGroupPreemptionPolicy", False),
        )
        self._tools.idle = self._idle = self._idle_retries(gates) if settings.idle and not settings.tracing else None

    def _idle_retries(self, gates: Mapping[str, bool]) -> IdleRetries | None:
        """None where retries cannot be foreseen: no memo, other orders of queue or children, asynchronous evictions."""
        memo = self._tools.memo
        if self._tools.groups.child_order not in ("name", "creation"):
            return None
        sorts = {ref.name for fwk in self.frameworks.values() for ref in fwk.profile.points.get("queueSort", ())}
        if memo is not None and any(fwk.fair_order is not None for fwk in self.frameworks.values()):
            memo.lasting = True  # retries are carried out, but most are known to fare as the last
        if memo is None or sorts != {"PrioritySort"} or gates.get("SchedulerAsyncPreemption", False):
            return None
        memo.lasting = True
        return IdleRetries(self.world, self.queue, memo, self.clock, self._outbox)

    # --- events in ----------------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """Engine time in nanoseconds since the start."""
        return self.clock.time

    def add(self, obj: ClusterObject) -> None:
        """An object appears; one that is known already is updated."""
        if not isinstance(obj, Pod):
            self._events.add(obj)
        elif (known := self.world.pods.get(obj.key)) is None:
            self._events.add_pod(obj)
        else:
            self._events.update_pod(known, obj)

    update = add
    """A known object changes; an unknown one appears."""

    @property
    def update_status(self) -> Callable[[Pod, str, PodStatus], None]:
        """``update`` of the core's copy of a pod by one that shows another node and status and differs in nothing else.

        For a host that would make this copy itself. Phase and amounts of the status are those of before. A copy that is
        not the core's newest is taken as any other update.
        """
        return self._events.update_status

    @property
    def update_group_status(self) -> Callable[[EntityKey, Condition], None]:
        """``update`` of the core's copy of a group by one that shows another condition; none when it is not known."""
        return self._events.update_group_status

    def delete(self, obj: ClusterObject) -> None:
        """An object vanishes; an unknown one is ignored. Only its identity is looked at."""
        self._events.delete(obj)

    def known(self, obj: ClusterObject) -> ClusterObject | None:
        """The core's copy of the object with the identity of ``obj``."""
        return self._events.known(obj)

    def pod(self, key: str) -> Pod | None:
        """The core's copy of pod ``namespace/name``; None when unknown or finished."""
        return self.world.pods.get(key)

    def node(self, name: str) -> Node | None:
        return self.world.node(name)

    def bound(self, key: str, uid: str = "") -> RecordEvent:
        """The binding of pod ``key`` was carried out. The update that shows its node is delivered apart.

        Returns what it adds itself, the event; what a cycle under way has said so far comes with that cycle's report.
        ``uid`` tells pods of one name apart: one may be deleted and another be bound before the first is answered.
        """
        outcome = self._submitter.answered(key, uid)
        node = outcome.node
        if self._hears_of_bindings:
            pod = outcome.info.pod
            self.frameworks[pod.scheduler_name].run_post_bind(pod, node)
        # names have 253 characters at most: this note is never cut (spec §7.4)
        return RecordEvent("Normal", "Scheduled", key, f"Successfully assigned {key} to {node}")

    def bind_failed(self, key: str, message: str, uid: str = "") -> tuple[Decision, ...]:
        """The binding of pod ``key`` failed: its reservation is returned and it waits again (spec §2.12).

        Returns what it adds itself, event and condition.
        """
        outcome = self._submitter.answered(key, uid)
        pod, node = outcome.info.pod, outcome.node
        self.frameworks[pod.scheduler_name].run_unreserve(outcome.state, pod, node)
        self.world.forget(pod)
        freed = pod.bound_to(node)
        self.queue.move_all(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), freed, None, _all_but(pod))
        text = f'running Bind plugin "DefaultBinder": {message}'
        before = self._outbox.waiting()
        self._submitter.fail(outcome.info, Failure(error(text), NOMINATION_CLEARED))
        return self._outbox.take_after(before)

    @property
    def binding(self) -> tuple[str, ...]:
        """Pods whose Bind decision is not answered yet, in order of decision."""
        return tuple(each.info.pod.key for each in self._submitter.binding.values())

    def activate(self, pods: Sequence[Pod]) -> None:
        """Force waiting pods to the active queue (spec §2.11 Activate)."""
        self.queue.activate(pods)

    # --- time ---------------------------------------------------------------------------------------------------------

    def advance(self, nanoseconds: int) -> None:
        """Move the clock. At each whole second on the way what is due is flushed: backoff, and every 30 s leftovers."""
        target = self.clock.time + whole("advance", nanoseconds, "nanoseconds")
        self.queue.rouse(self.queue.dormant.keys())
        while (due := self.queue.next_due()) is not None and due <= target:
            self.clock.time = max(self.clock.time, due)
            self.flush()
        self.clock.time = target

    def jump(self, time: int) -> None:
        """Set the clock and flush nothing: a replay delivers the events of an instant, then calls ``flush``.

        The caller jumps over no instant of ``next_due``.
        """
        if self._idle is not None:
            self._idle.pass_time(time)
        self.clock.time = time

    def flush(self) -> None:
        """What is due at this instant leaves backoff; every 30 s what was parked too long leaves as well."""
        self.queue.flush_backoff()
        if self.clock.time % LEFTOVER_PERIOD == 0:
            self.queue.flush_leftovers()

    def next_due(self) -> int | None:
        """Engine time at which waiting alone would move something, None when nothing waits for time."""
        due = self.queue.next_due()
        idle = self._idle.next_due() if self._idle is not None else None
        return due if idle is None else idle if due is None else min(due, idle)

    @property
    def idle_retries(self) -> int:
        """Attempts that passed without being carried out, because they would have been refused again."""
        return self.queue.dormant.retries

    def take_made_up(self) -> list[MadeUp]:
        """Retries made up since the last call, for the host's records."""
        return [] if self._idle is None else self._idle.take_made_up()

    def settle(self) -> tuple[Decision, ...]:
        """Writes that retries not carried out would have made, of trees that have been roused since."""
        if self._idle is not None:
            self._idle.settle()
        return self._outbox.take()

    # --- cycles -------------------------------------------------------------------------------------------------------

    def peek(self) -> EntityKey | None:
        """Key of the entity ``pop`` would take; None when nothing is ready."""
        if self._idle is not None:
            self._idle.attend()
        return self.queue.peek()

    def pop(self) -> Cycle | None:
        """The next entity's cycle; None when nothing is ready. Raises GangschedError while another is open."""
        cycle = self._next()
        self._open = None if cycle is None else Cycle(cycle, self.world, self._handle.give_up)
        return self._open

    def require_closed(self, call: str) -> None:
        """Raise GangschedError while a host holds a cycle, whose tentative steps stand in the snapshot."""
        if self._open is not None and self._open.open:
            raise GangschedError(f"{call}: {self._open}, allowed when it is submitted")

    def _next(self) -> AnyCycle | None:
        if self._open is not None:
            self.require_closed("pop")
        if self._idle is not None and self._idle.stirs:
            self._idle.attend()
            self._idle.settle()
        entity = self.queue.pop()
        if entity is None:
            return None
        self._popped += 1
        number = self._popped if self._idle is None else self._popped + self._idle.retries
        if self.tracer.on:
            self.tracer.add("pop", entity.key, f"attempt {entity.attempts}")
        if self._tools.log.on:
            self._tools.log.stage("popped", number, entity.key, attempt=entity.attempts)
        return CYCLES[entity.__class__](self._tools, entity, number, self.clock.time)

    def step(self) -> CycleReport | None:
        """One whole cycle. Whatever is raised inside breaks it off half-way: nothing goes on then (``GivenUp``)."""
        cycle = self._next()
        if cycle is None:
            return None
        try:
            cycle.decide()
            return cycle.submit()
        except BaseException as problem:
            give_up(self, problem)
            raise

    def rehearse(self, key: EntityKey) -> tuple[TraceStep, ...]:
        """What an attempt of a waiting entity would do now, up to the submit; none for one that is gated or not here.

        Nothing changes. Raises GangschedError while a cycle is open.
        """
        self.require_closed("rehearse")
        entity = self.queue.rehearsed(key)
        if entity is None:
            return ()
        tools = evolve(self._tools, log=StageLog(False))
        cycle = CYCLES[entity.__class__](tools, entity, self._popped, self.clock.time)
        return rehearse(cycle, self.tracer, self._handle, self.algorithm)

    def queue_state(self) -> QueueState:
        """Every waiting entity and where it stands."""
        return self.queue.state()

    def _check(self) -> None:
        """Assert every invariant between cycles (tests only)."""
        self.world._check()
        self.snapshot._check()
        assert not any(session._reserved for session in self._tools.sessions.values())
        self.queue._check()
        if self.algorithm.boards is not None:
            self.algorithm.boards._check()
        if self.columns is not None:
            self.columns._check()


def _all_but(pod: Pod) -> Callable[[Pod], bool]:
    return lambda other: other.uid != pod.uid

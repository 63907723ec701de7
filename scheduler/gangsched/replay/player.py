"""Play a trace on an engine: virtual clock, arrivals, departures, one instant after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from gangsched.api import Engine
from gangsched.engine.decisions import Bind, Evict
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict
from gangsched.manifests.errors import found
from gangsched.replay.annotations import at, check_group, duration_of, tidied
from gangsched.replay.check import check_bindings
from gangsched.replay.complaints import Complaints
from gangsched.replay.decision_log import DecisionHash, OutcomeLog
from gangsched.replay.departures import Departures
from gangsched.replay.events import Identity, TraceEvent, TraceHeader
from gangsched.replay.evictions import Evictions, Fate
from gangsched.replay.ledger import GangRecord, Ledger
from gangsched.updates import updated_group, updated_node, updated_pod
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import (
    QUEUE_NAME,
    ClusterObject,
    CompositePodGroup,
    EntityKey,
    Node,
    Pod,
    PodGroup,
    Queue,
)
from gangsched_framework.queue_state import QueueState


@frozen
class ReplayResult:
    """What a replay leaves. Times in engine nanoseconds.

    ``arrived`` is the time of the last event of the trace, ``end`` of the last thing that happened at all (or the
    time at which the replay was cut). ``tries`` counts cycles. ``waiting`` is the queue as it was left. ``evictions``
    knows the victims.
    """

    header: TraceHeader
    ledger: Ledger
    decisions_hash: str
    decisions: int
    tries: int
    arrived: int
    end: int
    waiting: QueueState
    events: int
    skipped: int
    first_skipped: str
    evictions: Evictions

    @property
    def bindings(self) -> dict[str, str]:
        """Node of every pod that was ever bound, finished pods included; the last one of a reused name."""
        return {record.pod.key: record.node for record in self.ledger.all_pods() if record.bound is not None}


@define(eq=False)
class Player:
    """Plays one trace on one fresh engine; ``play`` once.

    One instant (architecture.md §4): pods that succeed and victims whose ``grace`` (ns) is over by ``namespace/name``,
    then the trace's events of that time in file order, then the flushes that are due, then cycles until nothing is
    ready. ``evicted`` says what becomes of victims. ``until`` ends the replay after that time.
    ``watch`` is told after each instant. ``declare_queues``: a queue comes into being when it is first named. Raises
    InputError for a bad trace, CheckFailed when ``check`` finds a promise broken.
    """

    engine: Engine
    header: TraceHeader
    complaints: Complaints
    check: bool = False
    until: int | None = None
    log: OutcomeLog | None = None
    watch: Callable[[Player], None] | None = None
    evicted: Fate = "restart"
    grace: int = 0
    declare_queues: bool = False
    ledger: Ledger = field(factory=Ledger)
    events: int = 0
    tries: int = 0
    arrived: int = 0
    _stream: Iterator[TraceEvent] = field(init=False)
    _next_event: TraceEvent | None = None
    _end: int = 0
    _hash: DecisionHash = field(factory=DecisionHash)
    _departures: Departures = field(factory=Departures)
    _evictions: Evictions = field(init=False)
    _known: dict[Identity, ClusterObject] = field(factory=dict)
    _tried: dict[EntityKey, None] = field(factory=dict)  # since the last change of state
    _retries_before: int = 0  # idle retries until the last change of state

    def play(self, stream: Iterator[TraceEvent], present: Sequence[ClusterObject] = ()) -> ReplayResult:
        """Play ``stream`` to its end, with the nodes and queues of ``present`` besides those it brings itself."""
        self._evictions = Evictions(self.engine, self.ledger, self._departures, self.evicted, self.grace)
        self.engine.host.evict = self._evictions.carry_out
        self.engine.on_report.append(self._on_report)
        for obj in present:
            self._add(Identity.of(obj), obj)
        self._stream = stream
        self._next_event = next(stream, None)
        while (time := self._next_instant()) is not None:
            self._instant(time)
            if self.watch is not None:
                self.watch(self)
        return self._result()

    # --- time -------------------------------------------------------------------------------------------------------

    def _next_instant(self) -> int | None:
        coming = [] if self._next_event is None else [self._next_event.time]
        if self._departures.next_time is not None:
            coming.append(self._departures.next_time)
        # With nothing ahead but retries, the end has come when each waiting entity was tried and nothing changed.
        # That question rouses dormant trees, so what is due is asked after it.
        if (coming or self._untried()) and (due := self.engine.core.next_due()) is not None:
            coming.append(due)
        time = min(coming, default=None)
        return None if time is None or (self.until is not None and time > self.until) else time

    def _untried(self) -> bool:
        state = self.engine.queue_state()
        self._note_made_up()
        waiting = (*state.active, *state.backoff, *(entity for entity in state.parked if not entity.gated_by))
        return any(entity.key not in self._tried for entity in waiting)

    def _instant(self, time: int) -> None:
        self.ledger.advance(time)
        self.engine.core.jump(time)
        self._complete(time)
        if self._next_event is not None and self._next_event.time == time:
            self.ledger.mark_arrival()
        while self._next_event is not None and self._next_event.time == time:
            self._deliver(self._next_event)
            self._next_event = next(self._stream, None)
        self.engine.core.flush()
        self.engine.run_ready()
        self._note_made_up()

    def _note_made_up(self) -> None:
        """Retries that passed without being carried out belong to the records all the same."""
        for retries in self.engine.core.take_made_up():
            if self.log is not None:
                self.log.repeat(retries.entity, retries.count, retries.last)
            if retries.serial > self._retries_before:
                self._tried[retries.entity] = None
            self._note_refusals(retries.groups, retries.pods)

    def _happened(self) -> None:
        """The cluster changed: whoever waits may hope again."""
        self._tried.clear()
        self._retries_before = self.engine.core.idle_retries
        self._end = self.ledger.now

    # --- departures -------------------------------------------------------------------------------------------------

    def _complete(self, time: int) -> None:
        for key, uid, evicted in self._departures.due(time):
            record = self.ledger.pods.get(key)
            if record is None or record.pod.uid != uid or not record.running:
                continue
            self._happened()
            if evicted:
                self._vanish(key)
                continue
            self.engine.delete(record.pod)
            self._forget(record.pod.entity_key)
            gang = self.ledger.pod_finished(key)
            if gang is not None and tidied(gang.group):
                self._clear_away(gang)

    def _vanish(self, key: str) -> None:
        self._forget(self._evictions.gone(key).entity_key)

    def _clear_away(self, gang: GangRecord) -> None:
        for key in list(self.ledger.members[gang.group.key]):
            del self._known[Identity.of(self.ledger.pods[key].pod)]
            self.ledger.pod_deleted(key)
        del self._known[Identity.of(gang.group)]
        self.engine.delete(gang.group)
        self.ledger.group_deleted(gang.group.key)
        self._forget(gang.group.key)

    def _forget(self, key: EntityKey) -> None:
        self._hash.forget(key)
        if self.log is not None:
            self._note_made_up()
            self.log.end(key)

    # --- arrivals ---------------------------------------------------------------------------------------------------

    def _deliver(self, event: TraceEvent) -> None:
        try:
            if event.verb == "add":
                assert event.obj is not None
                self._add(event.identity, event.obj)
            else:
                self._change(event.identity, event.obj)
        except GangschedError as problem:
            self.complaints.add(event.line, problem)
            return
        self.events += 1
        self.arrived = event.time
        self._happened()

    def _add(self, identity: Identity, obj: ClusterObject) -> None:
        if identity in self._known:
            raise at(identity, found("an object that exists", "the addition of a new one"))
        if isinstance(obj, Pod):
            duration = duration_of(identity, obj)
            if not obj.terminal:
                self.ledger.pod_added(obj, duration)
                self._expect(obj.key)
        elif isinstance(obj, PodGroup | CompositePodGroup):
            check_group(identity, obj)
            self.ledger.group_added(obj)
        elif isinstance(obj, Node):
            self.ledger.node_added(obj)
        if self.declare_queues:
            self._declare_queue(obj)
        self._known[identity] = obj
        self.engine.core.add(obj)

    def _declare_queue(self, obj: ClusterObject) -> None:
        """A queue that the trace names and nobody described: it exists, with weight 1."""
        name = obj.annotations.get(QUEUE_NAME) if isinstance(obj, Pod | PodGroup | CompositePodGroup) else None
        if name is not None and Identity("Queue", "", name) not in self._known:
            self._add(Identity("Queue", "", name), Queue(name, creation_timestamp=self.ledger.now))

    def _change(self, identity: Identity, new: ClusterObject | None) -> None:
        """An update, or a deletion if there is no new object."""
        known = self._known.get(identity)
        if known is None:
            verb = "deletion" if new is None else "update"
            raise at(identity, found("an unknown object", f"the {verb} of one that exists"))
        if new is None:
            self._delete(known)
            del self._known[identity]
        else:
            self._known[identity] = self._update(identity, known, new)

    def _delete(self, known: ClusterObject) -> None:
        self.engine.delete(known)
        if isinstance(known, Pod):
            if known.key in self.ledger.pods:
                self.ledger.pod_deleted(known.key)
            self._forget(known.entity_key)
        elif isinstance(known, PodGroup | CompositePodGroup):
            self.ledger.group_deleted(known.key)
            self._forget(known.key)
        elif isinstance(known, Node):
            self.ledger.node_deleted(known.name)

    def _update(self, identity: Identity, known: ClusterObject, new: ClusterObject) -> ClusterObject:
        core = self.engine.core
        if isinstance(new, Pod):
            duration = duration_of(identity, new)
            current = core.pod(new.key)
            if current is None:
                return new  # it has succeeded; the scheduler knows it no longer
            new = updated_pod(current, new)
            self.ledger.pod_updated(new, duration)
            if new.node_name and not current.node_name:
                self._expect(new.key)
        elif isinstance(new, PodGroup | CompositePodGroup):
            check_group(identity, new)
            new = updated_group(core.world.forest.group(new.key) or new, new)
            self.ledger.group_updated(new)
        elif isinstance(new, Node) and isinstance(known, Node):
            new = updated_node(known, new)
            self.ledger.node_updated(new)
        core.update(new)
        return new

    def _expect(self, key: str) -> None:
        record = self.ledger.pods[key]
        if record.bound is not None and record.duration is not None:
            self._departures.expect(record.bound + record.duration, key, record.pod.uid)

    # --- decisions --------------------------------------------------------------------------------------------------

    def _on_report(self, report: CycleReport) -> None:
        self._note_made_up()
        self.tries += 1
        if report.changed:
            self._happened()
        else:
            self._tried[report.entity] = None
        bound, evicted = [], []
        for decision in report.decisions:
            self._hash.add(report.time, decision)
            if isinstance(decision, Bind):
                bound.append(self.ledger.pod_bound(decision.pod, decision.node))
                self._expect(decision.pod)
            elif isinstance(decision, Evict):
                evicted.append(decision.pod)
        if self.check:
            check_bindings(self.ledger, bound)
        if self.log is not None:
            self.log.add(report)
        self._note_refusals(report.groups, report.pods)
        if evicted:
            self._evictions.count += 1
        if not self.grace:
            for key in sorted(evicted):
                self._vanish(key)

    def _note_refusals(self, groups: Mapping[EntityKey, GroupVerdict], pods: Mapping[str, PodVerdict]) -> None:
        """The reason a gang waits for: that of its first pod with rejectors of its own, else of the group."""
        for key, verdict in groups.items():
            gang = self.ledger.gangs.get(key)
            if gang is not None and gang.placed is None and not verdict.status.ok:
                gang.why = verdict.status.message
        for key_of_pod, refused in pods.items():
            if refused.status is not None and refused.plugins:
                gang = self.ledger.gang_of(self.ledger.pods[key_of_pod].pod)
                if gang is not None and gang.placed is None:
                    gang.why = refused.status.message

    # --- the end ----------------------------------------------------------------------------------------------------

    def _result(self) -> ReplayResult:
        waiting = self.engine.queue_state()
        self._note_made_up()
        end = self._end
        if self.until is not None and (self._next_event is not None or self._departures):
            end = self.until
            self.ledger.advance(end)
        if self.log is not None:
            self.log.close()
        return ReplayResult(
            self.header,
            self.ledger,
            self._hash.hex,
            self._hash.count,
            self.tries + self.engine.core.idle_retries,
            self.arrived,
            end,
            waiting,
            self.events,
            self.complaints.skipped,
            self.complaints.first,
            self._evictions,
        )

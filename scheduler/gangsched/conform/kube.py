"""Play a recorded kube-scheduler scenario: drive the core as conformance README §3 says, show records as §4 says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from gangsched.conform import records
from gangsched.conform.api_server import ApiServer, Event, Identity, NotFound
from gangsched.conform.compare import broken, differences
from gangsched.conform.core import Setup
from gangsched.conform.errors import ConformError, NotBuilt
from gangsched.conform.records import Record
from gangsched.conform.scenario import Difference, Options, Scenario
from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, RecordEvent, SetCondition, SetGroupCondition
from gangsched.manifests import Decoder
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import EntityKey, Pod
from gangsched_framework.status import Status, error

_KINDS = {"podgroup": "PodGroup", "compositepodgroup": "CompositePodGroup"}


def compare_scenario(scenario: Scenario, options: Options) -> list[Difference]:
    """Play the steps and compare each record. An engine that breaks ends the comparison at that step.

    Raises NotBuilt when the scenario needs something that is not there, ConformError when it makes no sense.
    """
    document, place = scenario.document, f"{scenario.where}: {scenario.name}"
    try:
        player = KubePlayer(document["config"], options.config)
    except GangschedError as problem:
        raise ConformError(f"{place}: config: {problem}") from None
    found: list[Difference] = []
    for number, (step, expected) in enumerate(zip(document["steps"], document["records"], strict=True)):
        try:
            got = player.play(step)
        except NotBuilt:
            raise
        except GangschedError as problem:
            raise ConformError(f"{place}: steps[{number}]: {problem}") from None
        except Exception as problem:  # a bug of the engine; the run goes on with the next scenario
            return [*found, broken(problem, number)]
        found += differences(_comparable(expected), _comparable(got), options.fields, number)
    return found


def _comparable(record: Record) -> Record:
    """Conditions of composite groups are an extension of ours (README §5), so they are left out."""
    conditions = record.get("groupConditions")
    if not conditions:
        return record
    kept = {key: lines for key, lines in conditions.items() if key.startswith("podgroup/")}
    return records.without_empty(record | {"groupConditions": kept})


def _alone(manifest: dict[str, Any]) -> dict[str, Any]:
    """A pod without its group."""
    spec = manifest.get("spec") or {}
    if "schedulingGroup" not in spec:
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name != "schedulingGroup"}}


class KubePlayer:
    """One scenario being played: the ``core``, the API server's double and the decoder between them.

    ``tracing`` and ``oracle`` are settings of the core; a recording's trace can be compared only with tracing on.
    """

    def __init__(
        self, config: Mapping[str, Any], file: str | None = None, *, tracing: bool = True, oracle: bool = False
    ) -> None:
        setup = Setup.of_scenario(config, file)
        self.core = setup.scheduler(tracing=tracing, oracle=oracle)
        self._api = ApiServer(lambda: self.core.now, self._deliver)
        self._decoder = Decoder(strict=False)
        self._known: dict[Identity, Any] = {}
        self._bound: dict[str, str] = {}
        self._traced = bool(config.get("trace"))
        self._asynchronous = setup.config.gates["SchedulerAsyncPreemption"]
        self._groups = setup.config.gates["GenericWorkload"]
        self._evict_at_once = bool(config.get("evictAtOnce"))

    # --- steps ------------------------------------------------------------------------------------------------------

    def play(self, step: Mapping[str, Any]) -> Record:
        """Play one step and return its record."""
        op = step["op"]
        cycles: list[Record] = []
        if op == "cycle":
            cycles = self._cycle(step)
        elif op == "drain":
            cycles = self._drain(step.get("max"))
        elif op == "advance":
            self.core.advance(nanoseconds(step["seconds"]))
        else:
            self._change(step)
        record: Record = {"op": op, "t": records.seconds(self.core.now)}
        record["queue"] = records.queue_record(self.core.queue_state())
        if op in ("cycle", "drain"):
            record |= {"cycles": cycles} | records.object_maps(self._api, self._bound)
        return records.without_empty(record)

    def _change(self, step: Mapping[str, Any]) -> None:
        if step["op"] == "create":
            self._api.create(step["object"])
        elif step["op"] == "patch":
            self._api.patch(step["kind"], step.get("namespace"), step["name"], step["patch"])
        else:
            graceful = bool(step.get("graceful"))
            self._api.delete(step["kind"], step.get("namespace"), step["name"], graceful=graceful)

    def _deliver(self, event: Event) -> None:
        """Hand a visible change to the core; a pod that has ended is gone for it (README §3, patch)."""
        known, manifest = self._known.get(event.identity), event.manifest
        if not self._groups:  # without their gate groups are unheard of, and pods belong to none (spec §0.3)
            if event.identity.kind in ("PodGroup", "CompositePodGroup"):
                return
            manifest = _alone(manifest)
        decoded = self._decoder.decode(manifest, where=event.identity.full_name, now=self.core.now)
        if not decoded or self._decoder.warnings:
            raise NotBuilt("needs " + (self._decoder.warnings[0] if decoded else f"kind {event.identity.kind}"))
        (seen,) = decoded
        if event.verb == "delete" or (isinstance(seen, Pod) and seen.terminal):
            if known is not None:
                del self._known[event.identity]
                self.core.delete(seen if event.verb == "delete" else known)
        else:
            self._known[event.identity] = seen
            (self.core.add if known is None else self.core.update)(seen)

    # --- cycles -----------------------------------------------------------------------------------------------------

    def _drain(self, limit: int | None) -> list[Record]:
        played: list[Record] = []
        while self.core.queue.has_ready() and (limit is None or len(played) < limit):
            played += self._cycle({})
        return played

    def _cycle(self, step: Mapping[str, Any]) -> list[Record]:
        """One cycle by README §3; empty when there is nothing to pop."""
        cycle = self.core.pop()
        if cycle is None:
            return []
        self._hook(step.get("afterPop") or ())
        if cycle.decide():
            self._hook(step.get("afterAlgorithm") or ())
        report = cycle.submit()
        host = Host(self._api, self._asynchronous, self._evict_at_once)
        host.apply(report.decisions)
        failures = self._bind(host, frozenset(step.get("failBind") or ()))
        host.evict_waiting()
        self._api.publish()
        return [records.cycle_record(report, failures, host.events if self._traced else None)]

    def _hook(self, steps: Iterable[Mapping[str, Any]]) -> None:
        for step in steps:
            self._change(step)

    def _bind(self, host: Host, refused: frozenset[str]) -> dict[str, Status]:
        """The bindings of the cycle by ``namespace/name``; those that failed, with their status."""
        failures: dict[str, Status] = {}
        for bind in sorted(host.binds, key=lambda b: b.pod):
            try:
                if bind.pod in refused:
                    raise NotFound("binding refused")
                self._api.bind(bind.pod, bind.uid, bind.node)
            except NotFound as problem:
                failures[bind.pod] = error(f'running Bind plugin "DefaultBinder": {problem}')
                host.apply(self.core.bind_failed(bind.pod, str(problem)))
            else:
                self._bound[bind.pod] = bind.node
                host.apply((self.core.bound(bind.pod),))
        return failures


class Host:
    """Applies the decisions of one cycle to the API server; bindings and asynchronous evictions wait."""

    def __init__(self, api: ApiServer, asynchronous: bool, at_once: bool) -> None:
        self._api = api
        self._asynchronous = asynchronous
        self._at_once = at_once
        self.binds: list[Bind] = []
        self.events: list[str] = []
        self._evictions: list[Evict] = []

    def apply(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Bind):
                self.binds.append(decision)
            elif isinstance(decision, SetCondition):
                self._api.write_status(_pod(decision.pod), decision.condition, decision.nominated_node)
            elif isinstance(decision, SetGroupCondition):
                self._api.write_status(_identity(decision.group), decision.condition, None)
            elif isinstance(decision, Nominate):
                self._api.write_status(_pod(decision.pod), None, decision.node)
            elif isinstance(decision, Evict):
                if self._asynchronous:
                    self._evictions.append(decision)
                else:
                    self._api.evict(decision.pod, decision.uid, at_once=self._at_once)
            elif isinstance(decision, RecordEvent):
                self.events.append(f"{decision.type} {decision.reason} {decision.regarding}: {decision.note}")

    def evict_waiting(self) -> None:
        """The evictions that run beside the cycle, after its bindings (README §3, step 6)."""
        for eviction in self._evictions:
            self._api.evict(eviction.pod, eviction.uid, at_once=self._at_once)
        self._evictions = []


def _identity(group: EntityKey) -> Identity:
    return Identity(_KINDS[group.kind], group.namespace, group.name)


def _pod(key: str) -> Identity:
    return Identity("Pod", *key.split("/"))


def nanoseconds(value: int | float) -> int:
    """Seconds as written in JSON, as engine time; exact for up to nine decimals."""
    return int(Decimal(repr(value)) * records.SECOND)

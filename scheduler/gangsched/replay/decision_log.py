"""What a run decided: a hash over the decisions that change state, and a log of outcomes (architecture.md §4)."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TextIO

from attrs import define, field

from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, SetCondition, SetGroupCondition
from gangsched.engine.report import CycleReport, Refused
from gangsched.replay.times import seconds
from gangsched_framework.entity_key import key_of_pod
from gangsched_framework.objects import Condition, EntityKey


@define(eq=False)
class DecisionHash:
    """``decisions_hash``: SHA-256 of the digest so far and the next line, over all lines in order of emission.

    Lines, with the time in nanoseconds: ``T bind POD NODE``, ``T nominate POD NODE`` (``-`` clears), ``T evict POD
    BY``, ``T condition KEY TYPE=STATUS REASON``. A condition counts when its status or reason changes: repeated
    refusals and the wording of messages leave the hash alone.
    """

    count: int = 0
    _digest: bytes = b""
    _conditions: dict[EntityKey, dict[str, tuple[str, str]]] = field(factory=dict)

    @property
    def hex(self) -> str:
        return (self._digest or hashlib.sha256().digest()).hex()

    def add(self, time: int, decision: Decision) -> None:
        """Chain a decision if it changes state."""
        if isinstance(decision, Bind):
            self._chain(f"{time} bind {decision.pod} {decision.node}")
        elif isinstance(decision, Nominate):
            self._chain(f"{time} nominate {decision.pod} {decision.node or '-'}")
        elif isinstance(decision, Evict):
            self._chain(f"{time} evict {decision.pod} {decision.by}")
        elif isinstance(decision, SetCondition):
            if decision.nominated_node is not None:
                self._chain(f"{time} nominate {decision.pod} {decision.nominated_node or '-'}")
            if decision.condition is not None:
                self._condition(time, key_of_pod(decision.pod), decision.condition)
        elif isinstance(decision, SetGroupCondition):
            self._condition(time, decision.group, decision.condition)

    def forget(self, key: EntityKey) -> None:
        """The object is gone; a new one of its name starts without conditions."""
        self._conditions.pop(key, None)

    def _condition(self, time: int, key: EntityKey, new: Condition) -> None:
        shown = self._conditions.setdefault(key, {})
        if shown.get(new.type) != (new.status, new.reason):
            shown[new.type] = (new.status, new.reason)
            self._chain(f"{time} condition {key} {new.type}={new.status} {new.reason}")

    def _chain(self, line: str) -> None:
        self._digest = hashlib.sha256(self._digest + line.encode()).digest()
        self.count += 1


@define(eq=False)
class _Open:
    """An outcome that may still be repeated."""

    outcome: dict[str, Any]
    head: dict[str, Any]
    last: int
    count: int = 1


@define(eq=False)
class OutcomeLog:
    """Writes one JSON line an outcome to ``sink``; attempts of an entity in a row with equal outcomes are one line.

    A line is written when its outcome ends: another one follows, the entity is gone, or the log is closed. So the lines
    stand in the order of ``last``.
    """

    sink: TextIO
    _open: dict[EntityKey, _Open] = field(factory=dict)

    def add(self, report: CycleReport) -> None:
        outcome = _outcome(report)
        known = self._open.get(report.entity)
        if known is not None and known.outcome == outcome:
            known.count += 1
            known.last = report.time
            return
        self.end(report.entity)
        head = {
            "entity": report.entity,
            "cycle": report.cycle,
            "attempt": report.attempt,
            "first": seconds(report.time),
        }
        self._open[report.entity] = _Open(outcome, head, report.time)
        if outcome["outcome"] == "Success":
            self.end(report.entity)

    def repeat(self, entity: EntityKey, count: int, last: int) -> None:
        """The entity's present outcome was repeated ``count`` times more, last at ``last``."""
        known = self._open[entity]
        known.count += count
        known.last = last

    def end(self, entity: EntityKey) -> None:
        """The entity's present outcome will not be repeated."""
        known = self._open.pop(entity, None)
        if known is not None:
            line = {**known.head, "last": seconds(known.last), "count": known.count, **known.outcome}
            self.sink.write(json.dumps(line, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Write what is still open."""
        for entity in list(self._open):
            self.end(entity)


def _outcome(report: CycleReport) -> dict[str, Any]:
    """Root code, per pod node or code with its rejecting plugins; no message texts."""
    verdicts = report.pods.items()
    pods = {key: verdict.node if isinstance(verdict, Bind) else _refusal(verdict) for key, verdict in verdicts}
    if report.root is not None:
        code = report.root.code.value
    else:
        refused = [verdict.status.code.value for verdict in report.pods.values() if verdict.status is not None]
        code = refused[0] if refused else "Success" if pods else "Skipped"
    return {"outcome": code, "pods": pods, **({"early": True} if report.early else {})}


def _refusal(verdict: Refused) -> dict[str, Any]:
    code = verdict.status.code.value
    return {"code": code, "plugins": list(verdict.plugins)} if verdict.plugins else {"code": code}

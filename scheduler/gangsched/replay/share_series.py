"""What each queue held, deserved and waited for, over the time of a replay.

Between two instants nothing changes, so integrals are exact. The series of samples is thinned as it grows: it keeps at
most ``MOST_SAMPLES`` instants, evenly spread over the time so far.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from gangsched.api import Engine
from gangsched.engine.decisions import Bind
from gangsched.engine.report import CycleReport
from gangsched.replay.player import Player
from gangsched.replay.times import seconds
from gangsched_framework.account import TenantAccount
from gangsched_framework.shares import Natural
from gangsched_framework.vectors import Vector

MOST_SAMPLES = 2000


@define(eq=False)
class QueueHistory:
    """Integrals over time of one queue; times in nanoseconds, amounts in natural units × nanoseconds.

    ``contending``: while it asked for more than it held; ``share_contending`` is the integral of its share over that.
    """

    name: str
    allocated: dict[str, float] = field(factory=dict)
    deserved: dict[str, float] = field(factory=dict)
    contending: int = 0
    share_contending: float = 0.0
    waits: list[int] = field(factory=list)


@define(eq=False)
class _Standing:
    """A queue as it is until the next instant. ``raw``: what it was made of, in the accounts' units."""

    raw: tuple[Vector, Vector, list[float], float]
    allocated: Natural
    deserved: Natural
    share: float
    contends: bool


Row = tuple[int, str, str, float, float]
"""Time (ns), queue, resource, allocated, deserved."""


class ShareSeries:
    """Called after each instant of a player, which has the engine it was made for."""

    def __init__(self, engine: Engine) -> None:
        self.histories: dict[str, QueueHistory] = {}
        self._watch = engine.share_watch()
        self._now = 0
        self._standing: dict[str, _Standing] = {}
        self._samples: list[tuple[int, list[Row]]] = []
        self._distance = 0
        self._waited: dict[str, None] = {}
        self._bound: list[str] = []
        engine.on_report.append(self._on_report)

    def __call__(self, player: Player) -> None:
        now = player.ledger.now
        self._integrate(now)
        self._now = now
        for name, tenant in self._watch.accounts.tenants.items():
            if tenant.pods or name in self._standing:
                self._stand(tenant)
        for name in [name for name in self._standing if name not in self._watch.accounts.tenants]:
            del self._standing[name]
        self._note_waits(player)
        if not self._samples or now - self._samples[-1][0] >= self._distance:
            self._sample(now)

    def rows(self) -> Iterator[Row]:
        """The samples, the last instant included."""
        last = self._samples[-1][0] if self._samples else -1
        for _, rows in self._samples:
            yield from rows
        if last != self._now:
            yield from self._rows(self._now)

    # --- integrals ----------------------------------------------------------------------------------------------------

    def _integrate(self, now: int) -> None:
        passed = now - self._now
        if not passed:
            return
        for name, standing in self._standing.items():
            history = self.histories.get(name)
            if history is None:
                history = self.histories[name] = QueueHistory(name)
            for total, amounts in ((history.allocated, standing.allocated), (history.deserved, standing.deserved)):
                for resource, amount in amounts.items():
                    total[resource] = total.get(resource, 0.0) + amount * passed
            if standing.contends:
                history.contending += passed
                history.share_contending += standing.share * passed

    def _stand(self, tenant: TenantAccount) -> None:
        watch, name = self._watch, tenant.name
        raw = tenant.allocated, tenant.request, watch.deserved(name), watch.share(tenant)
        standing = self._standing.get(name)
        if standing is None or standing.raw != raw:
            allocated, deserved = watch.natural(raw[0]), watch.natural(raw[2])
            self._standing[name] = _Standing(raw, allocated, deserved, raw[3], contends=raw[1] != raw[0])

    # --- waiting times ------------------------------------------------------------------------------------------------

    def _on_report(self, report: CycleReport) -> None:
        self._bound += [decision.pod for decision in report.decisions if isinstance(decision, Bind)]

    def _note_waits(self, player: Player) -> None:
        """A gang has waited when it is placed, a plain pod when it is bound for the first time."""
        bound, self._bound = self._bound, []
        for key in bound:
            record = player.ledger.pods.get(key)
            if record is None:
                continue
            gang = player.ledger.gang_of(record.pod)
            start = (record.bound if gang is None else gang.placed) if not record.restarts else None
            subject = f"{record.pod.uid}" if gang is None else str(gang.group.uid)
            if start is None or subject in self._waited:
                continue
            tenant = self._watch.accounts.tenant_name(record.pod)
            if tenant is not None:
                self._waited[subject] = None
                arrived = record.arrived if gang is None else gang.arrived
                self.histories.setdefault(tenant, QueueHistory(tenant)).waits.append(start - arrived)

    # --- samples ------------------------------------------------------------------------------------------------------

    def _sample(self, now: int) -> None:
        self._samples.append((now, list(self._rows(now))))
        if len(self._samples) > MOST_SAMPLES:
            self._samples = self._samples[::2]
            self._distance = max(1, 2 * self._distance, (now - self._samples[0][0]) // MOST_SAMPLES)

    def _rows(self, now: int) -> Iterator[Row]:
        for name in sorted(self._standing):
            standing = self._standing[name]
            for resource in sorted({**standing.deserved, **standing.allocated}):
                held, deserved = standing.allocated.get(resource, 0), standing.deserved.get(resource, 0)
                yield now, name, resource, held, deserved


HEADER = ("time", "queue", "resource", "allocated", "deserved", "share")


def csv_row(row: Row) -> tuple[object, ...]:
    """A row of ``queues.csv``: seconds; share is allocated / deserved, empty where nothing is deserved."""
    time, queue, resource, held, deserved = row
    return seconds(time), queue, resource, held, deserved, held / deserved if deserved else ""

"""A trial through the whole engine: from the ``add`` of pods to the last confirmed binding."""

from __future__ import annotations

import time

from gangsched.api import plugin_registry
from gangsched.bench.outcome import Outcome, Stopwatch
from gangsched.bench.tiers import profile_of
from gangsched.bench.workload import Step, Workload
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host

LOOK_EVERY = 32
"""Pods handled between two looks at the time."""


class SchedulingTrial:
    """The default plugins, all nodes scored, decisions carried out at once (as ``api.Engine`` does)."""

    def __init__(self, workload: Workload, *, patient: bool, oracle: bool) -> None:
        registry = plugin_registry()
        config = profile_of(workload.tiers, registry)
        settings = Settings(initial_backoff=config.initial_backoff, max_backoff=config.max_backoff, oracle=oracle)
        self.core = Scheduler(config.profiles, registry, settings=settings, feature_gates=config.gates)
        self.host = Host(self.core)
        self._workload = workload
        self._patient = patient
        self._handled = 0
        for obj in (*workload.nodes, *workload.queues, *workload.owners, *workload.groups, *workload.before):
            self.core.add(obj)
        self._cycles(float("inf"))
        self.core.snapshot.refresh()  # the nodes have their rows before the clock starts
        self._handled = 0

    def run(self, limit: float | None = None) -> Outcome:
        """Figures per pod: adding (and deleting) spread over all pods, cycles over the pods they handled."""
        adding, cycling = Stopwatch(), Stopwatch()
        end = time.perf_counter() + (float("inf") if limit is None else limit)
        complete, added = True, 0
        for step in self._workload.steps:
            with adding.running():
                self._deliver(step)
            added += len(step.add)
            with cycling.running():
                complete = self._cycles(end)
            if not complete:
                break
        handled = added if complete else max(1, self._handled)
        return Outcome(
            pods=handled,
            seconds=adding.wall / added + cycling.wall / handled,
            cpu_seconds=adding.cpu / added + cycling.cpu / handled,
            complete=complete,
            bindings=self.host.bindings,
        )

    def _deliver(self, step: Step) -> None:
        core, bindings = self.core, self.host.bindings
        for pod in step.delete:
            core.delete(pod)
            bindings.pop(pod.key, None)
        for pod in step.add:
            core.add(pod)

    def _cycles(self, end: float) -> bool:
        """Cycles until nothing is ready (or due); False when the time is up before that."""
        core, carry_out, clock = self.core, self.host.carry_out, time.perf_counter
        handled = look = self._handled
        while True:
            while (report := core.step()) is not None:
                carry_out(report.decisions)
                handled += len(report.pods)
                if handled >= look:
                    self._handled, look = handled, handled + LOOK_EVERY
                    if clock() > end:
                        return False
            self._handled = handled
            due = core.next_due() if self._patient else None
            if due is None:
                return True
            core.advance(due - core.now)

"""Tentative amounts: what the steps of the running cycle add to tenants, read off the undo log when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gangsched_framework.vectors import Vector, minus, plus

if TYPE_CHECKING:
    from gangsched_framework.accounts import Accounts
    from gangsched_framework.snapshot import Step


class Tentative:
    """Follows an undo log, which is a stack: a step that is still in its place has the same ones below it.

    A pod counts for the tenant, and with the request, that it has when its step is first seen. Asking costs the steps
    and rollbacks since the last time.
    """

    def __init__(self, accounts: Accounts, steps: Sequence[Step]) -> None:
        self._accounts = accounts
        self._steps = steps
        self._seen: list[tuple[Step, str, Vector]] = []
        self._amounts: dict[str, Vector] = {}

    def of(self, tenant: str) -> Vector:
        """What stands somewhere in thought, less what was taken off."""
        steps, seen = self._steps, self._seen
        while seen and (len(seen) > len(steps) or seen[-1][0] is not steps[len(seen) - 1]):
            _, name, change = seen.pop()
            self._amounts[name] = minus(self._amounts[name], change)
        for step in steps[len(seen) :]:
            sign, pod, _, _ = step
            job = self._accounts.job_of(pod.key)
            name, change = "", ()  # of one who counts for nobody
            if job is not None:
                name, vector = job.tenant.name, self._accounts.vector(pod)
                change = vector if sign > 0 else minus((), vector)
            seen.append((step, name, change))
            self._amounts[name] = plus(self._amounts.get(name, ()), change)
        return self._amounts.get(tenant, ())

    def _check(self) -> None:
        """Assert that nothing is tentative (between cycles)."""
        self.of("")
        assert not self._seen
        assert not any(map(any, self._amounts.values()))

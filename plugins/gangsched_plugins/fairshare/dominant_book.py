"""DRF, live: the dominant share of each job, by what its bound pods hold (spec fair-share.md §3.1)."""

from __future__ import annotations

from gangsched_framework.accounts import Accounts
from gangsched_framework.objects import EntityKey
from gangsched_plugins.fairshare.amounts import EPSILON
from gangsched_plugins.fairshare.book import Book
from gangsched_plugins.fairshare.dominant_share import DominantShare, dominant_share


class DominantBook(Book):
    """A bind moves its own job alone; a change of the cluster moves those that hold anything."""

    def __init__(self, accounts: Accounts) -> None:
        super().__init__(accounts)
        self._totals: list[tuple[int, int]] | None = None
        accounts.on_total.append(self._on_total)

    def _on_total(self) -> None:
        self._totals = None
        self.accounts.moved.jobs.update(self.jobs_holding())

    def share(self, job: EntityKey) -> float:
        """max over the cluster's resources of allocated / total (D2)."""
        account = self.accounts.jobs.get(job)
        if account is None or not account.allocated:
            return 0
        totals = self._totals
        if totals is None:
            totals = self._totals = [(i, t) for i, t in enumerate(self.accounts.total) if t >= EPSILON]
        held = account.allocated
        return max((held[index] / total for index, total in totals if index < len(held)), default=0)

    def dominant(self, job: EntityKey) -> DominantShare:
        """The share with the resource it is of."""
        account = self.accounts.jobs.get(job)
        allocated = account.allocated if account is not None else ()
        return dominant_share(self.amounts(allocated), self.amounts(self.accounts.total))

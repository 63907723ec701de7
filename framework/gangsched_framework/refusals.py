"""Refusals of many nodes at once, kept as groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gangsched_framework.status import Status

Rows = NDArray[np.intp]


class GroupedRefusals(Mapping[str, "Status"]):
    """Statuses of refused nodes by name, kept as groups of rows until somebody asks for a single node."""

    def __init__(self, names: Sequence[str], groups: Sequence[tuple[Status, Rows]]) -> None:
        self._names = names
        self.groups = [(status, rows) for status, rows in groups if len(rows)]
        self._by_name: dict[str, Status] | None = None

    def replaced(self, statuses: Mapping[int, Status]) -> GroupedRefusals:
        """The same, but ``statuses`` (by row) stand for those rows."""
        rows = np.fromiter(statuses, np.intp, len(statuses))
        kept = [(status, group[~np.isin(group, rows)]) for status, group in self.groups]
        return GroupedRefusals(self._names, [*kept, *((s, np.array([row])) for row, s in statuses.items())])

    def rows_where(self, wanted: Callable[[Status], bool]) -> Rows:
        """The rows refused by such a status, ascending."""
        found = [rows for status, rows in self.groups if wanted(status)]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.intp)

    def at(self, row: int) -> Status | None:
        """Why a row is refused, None when it is not. O(rows)."""
        return next((status for status, rows in self.groups if bool((rows == row).any())), None)

    def reason_counts(self) -> dict[str, int]:
        """How many nodes give each reason."""
        counts: dict[str, int] = {}
        for status, rows in self.groups:
            for reason in status.reasons:
                counts[reason] = counts.get(reason, 0) + len(rows)
        return counts

    def plugins(self) -> frozenset[str]:
        """Names of the plugins that refused some node."""
        return frozenset(status.plugin for status, _ in self.groups)

    def _all(self) -> dict[str, Status]:
        if self._by_name is None:
            by_row = sorted(((int(row), s) for s, rows in self.groups for row in rows), key=lambda pair: pair[0])
            self._by_name = {self._names[row]: status for row, status in by_row}
        return self._by_name

    def __getitem__(self, name: str) -> Status:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return sum(len(rows) for _, rows in self.groups)

"""The spread of a set of durations."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

PERCENTS = (50, 90, 99)
_MILLISECOND = 1_000_000


@frozen
class Spread:
    """Mean, percentiles and maximum of ``count`` durations, in nanoseconds; all 0 when there are none.

    Percentile p is the smallest duration that at least p percent of all do not exceed (nearest rank).
    """

    count: int
    mean: int
    percentiles: tuple[int, ...]
    maximum: int

    @classmethod
    def of(cls, durations: Iterable[int]) -> Spread:
        values = sorted(durations)
        if not values:
            return cls(0, 0, (0,) * len(PERCENTS), 0)
        ranks = (-(-percent * len(values) // 100) for percent in PERCENTS)
        return cls(len(values), sum(values) // len(values), tuple(values[rank - 1] for rank in ranks), values[-1])

    def document(self) -> dict[str, float | int]:
        """In seconds, to the millisecond."""
        named = {f"p{percent}": value for percent, value in zip(PERCENTS, self.percentiles, strict=True)}
        values = {"mean": self.mean, **named, "max": self.maximum}
        return {"count": self.count, **{name: (value // _MILLISECOND) / 1000 for name, value in values.items()}}

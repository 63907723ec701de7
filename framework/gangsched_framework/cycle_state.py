"""Key-value stores a plugin may use inside one cycle, in the nesting of spec podgroup-scheduling.md §7.2."""

from __future__ import annotations

from typing import Any, Protocol


class StateData(Protocol):
    """What a plugin stores: anything that can copy itself, so that nominated pods can be tried on a copy."""

    def clone(self) -> StateData: ...


class _Store:
    __slots__ = ("_data",)

    _data: dict[str, Any]  # made by each kind itself: every cycle has several such states

    def read(self, key: str) -> Any:
        """The value under ``key``, or None."""
        return self._data.get(key)

    def write(self, key: str, value: Any) -> None:
        self._data[key] = value

    def delete(self, key: str) -> None:
        self._data.pop(key, None)


class PodGroupCycleState(_Store):
    """Lives for one evaluation of one group; ``parent`` is the placement state of the enclosing group, if any."""

    __slots__ = ("parent",)

    def __init__(self, parent: PlacementCycleState | None = None) -> None:
        self._data = {}
        self.parent = parent


class PlacementCycleState(_Store):
    """One candidate placement of one group: what a plugin stores under placement A is not visible under B."""

    __slots__ = ("group",)

    def __init__(self, group: PodGroupCycleState) -> None:
        self._data = {}
        self.group = group


_NOBODY: frozenset[str] = frozenset()


class CycleState(_Store):
    """State of one pod's attempt. ``skip_filter`` / ``skip_score`` name the plugins that answered Skip; ``prepared``:
    PreFilter has been asked."""

    __slots__ = ("placement", "prepared", "skip_filter", "skip_score")

    def __init__(self, placement: PlacementCycleState | None = None) -> None:
        self._data = {}
        self.placement = placement
        self.prepared = False
        self.skip_filter = self.skip_score = _NOBODY

    def clone(self) -> CycleState:
        """A copy whose values can change without showing here (values offering ``clone`` are cloned)."""
        copy = CycleState(self.placement)
        copy._data = {k: v.clone() if hasattr(v, "clone") else v for k, v in self._data.items()}
        copy.prepared, copy.skip_filter, copy.skip_score = self.prepared, self.skip_filter, self.skip_score
        return copy

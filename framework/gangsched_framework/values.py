"""``value``: ``attrs.frozen`` to type checkers, a plain slotted class at run time.

A frozen class pays for each field it sets, three times the price of a plain one (measured), and a cycle makes several
such objects a pod. What users hand in (pods, nodes, groups) stays frozen at run time, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["value"]

if TYPE_CHECKING:
    from attrs import frozen as value
else:
    from attrs import define

    def value(cls: type | None = None, *, eq: bool = True, **options: Any) -> Any:
        """Use it as ``attrs.frozen``; hashable by value unless ``eq`` is False."""
        return define(cls, eq=eq, unsafe_hash=eq or None, **options)

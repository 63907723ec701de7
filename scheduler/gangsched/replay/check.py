"""``--check``: hold every binding against the two promises, from the ledger's own books.

No node is over-committed, and no gang is bound below its minimum in the cycle that admits it (spec §8.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gangsched.replay.ledger import Ledger, PodRecord, amounts, requested
from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import EntityKey, Group


class CheckFailed(GangschedError):
    """The engine broke a promise: a bug in gangsched."""


def check_bindings(ledger: Ledger, bound: Iterable[PodRecord]) -> None:
    """Raise CheckFailed unless both promises hold for the pods that one cycle bound."""
    for record in bound:
        _check_node(ledger, record)
        for group in _chain(ledger, record.pod.group_key):
            if not is_placed(ledger, group.key):
                raise CheckFailed(f"pod {record.pod.key} was bound although {group.key} is below its minimum")


def is_placed(ledger: Ledger, key: EntityKey) -> bool:
    """Whether enough pods of a leaf run, or enough children of a composite group are placed (spec §0.2, M)."""
    group = ledger.groups[key]
    gang = ledger.gangs.get(key)
    if gang is not None:
        return gang.running >= group.required
    children = (child for child in ledger.children.get(key, ()) if is_placed(ledger, child))
    return sum(1 for _ in children) >= group.required


def _chain(ledger: Ledger, key: EntityKey | None) -> Iterator[Group]:
    """The group of a pod and its ancestors."""
    while key is not None and (group := ledger.groups.get(key)) is not None:
        yield group
        key = group.parent_key


def _check_node(ledger: Ledger, record: PodRecord) -> None:
    node = ledger.nodes.get(record.node)
    if node is None:
        raise CheckFailed(f"pod {record.pod.key} was bound to {record.node}, which does not exist")
    capacity = amounts(node.allocatable)
    used = ledger.on_node[record.node]
    for name, amount in requested(record.pod).items():
        offered = capacity.get(name, 0)
        if amount and used[name] > offered:
            fault = f"{name} {used[name]} of {offered}"
            raise CheckFailed(f"node {record.node} is over-committed by pod {record.pod.key}: {fault}")

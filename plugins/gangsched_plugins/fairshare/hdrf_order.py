"""Who is served first in hierarchical DRF (spec fair-share.md §3.4, D18-D20)."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched_plugins.fairshare.hdrf import HdrfNode, HdrfTree

HdrfKey = tuple[tuple[bool, float], ...]


def parse_hierarchy(path: str, weights: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The two annotations of a tenant, without the root: names of the levels and their weights (D13-D14).

    A weight that is no number is 0, and 0 counts as 1 when the node is made. Raises ValueError when there are fewer
    weights than levels, which crashes upstream.
    """
    names, written = path.split("/")[1:], weights.split("/")[1:]
    if len(written) < len(names):
        raise ValueError(f"{len(written) + 1} weights for {len(names) + 1} levels")
    return tuple(names), tuple(_number(text) for text in written[: len(names)])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0


def compare_paths(tree: HdrfTree, left: Sequence[str], right: Sequence[str]) -> float:
    """< 0: left first, 0: no opinion, > 0: right first (D18). ``left``, ``right``: levels below the root.

    Not transitive for paths of different depth: those that tie at the shorter depth are left to age and name. It serves
    the comparison with recorded orders; ``path_key`` orders.
    """
    steps = zip(levels(tree, left), levels(tree, right), strict=False)
    for (saturated, share), (other_saturated, other_share) in steps:
        if saturated != other_saturated:
            return 1 if saturated else -1
        if share != other_share:
            return share - other_share
    return 0


def path_key(tree: HdrfTree, path: Sequence[str]) -> HdrfKey:
    """A key that orders as ``compare_paths`` does, where the shorter of two tied paths comes first."""
    return tuple(levels(tree, path))


def levels(tree: HdrfTree, path: Sequence[str]) -> list[tuple[bool, float]]:
    """(saturated, share / weight) of each level below the root; a level nobody made counts as (False, 0)."""
    steps: list[tuple[bool, float]] = []
    node: HdrfNode | None = tree.root
    for name in path:
        node = node.children.get(name) if node is not None else None
        steps.append((False, 0.0) if node is None else (node.saturated, node.share / node.weight))
    return steps

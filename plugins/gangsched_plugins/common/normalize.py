"""The default way to map raw node scores to 0…100 (spec node-plugins.md §5.6)."""

from __future__ import annotations

from gangsched_framework.interface import MAX_NODE_SCORE


def normalize_by_maximum(scores: list[int], *, reverse: bool = False) -> None:
    """Scale ``scores`` (non-negative) in place so that the largest becomes 100; ``reverse`` then turns them round.

    With all scores 0 every score stays 0, or becomes 100 when reversed.
    """
    highest = max(scores, default=0)
    if highest == 0:
        if reverse:
            scores[:] = [MAX_NODE_SCORE] * len(scores)
        return
    if reverse:
        scores[:] = [MAX_NODE_SCORE - MAX_NODE_SCORE * score // highest for score in scores]
    else:
        scores[:] = [MAX_NODE_SCORE * score // highest for score in scores]

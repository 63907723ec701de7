"""Whom fairness lets give way to another (spec fair-share.md §3.2, §3.5, §4.3 P17r).

Each rule answers a list of candidates with those it accepts, in their order; which of them must really go is decided by
whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from gangsched_plugins.fairshare.amounts import Amounts
from gangsched_plugins.fairshare.comparisons import less_equal
from gangsched_plugins.fairshare.dominant_share import dominant_share
from gangsched_plugins.fairshare.hdrf import HdrfTree, Vector
from gangsched_plugins.fairshare.hdrf_order import compare_paths

SHARE_TOLERANCE = 1e-6
"""How much two dominant shares may differ and still count as equal (D9)."""


@frozen
class Candidate:
    """A running task that might go. ``owner``: the job (DRF, HDRF) or the tenant (Proportion) it is counted for."""

    name: str
    owner: str
    request: Amounts


def drf_victims(
    preemptor: Amounts, candidates: Sequence[Candidate], allocated: Mapping[str, Amounts], total: Amounts
) -> list[str]:
    """Tasks whose job would, without them, still have the preemptor's share or more (D8-D10).

    ``preemptor``: what its job holds plus what it asks for. Every candidate of a job counts as gone for the next ones,
    even one that was refused. Candidates of jobs not in ``allocated`` are left out.
    """
    wanted = dominant_share(preemptor, total).share
    left = dict(allocated)
    victims = []
    for candidate in candidates:
        if candidate.owner not in left:
            continue
        left[candidate.owner] = left[candidate.owner].minus(candidate.request)
        remaining = dominant_share(left[candidate.owner], total).share
        if wanted < remaining or abs(wanted - remaining) <= SHARE_TOLERANCE:
            victims.append(candidate.name)
    return victims


def proportion_victims(
    candidates: Sequence[Candidate], allocated: Mapping[str, Amounts], deserved: Mapping[str, Amounts]
) -> list[str]:
    """Tasks of tenants that hold more than they deserve in some resource, until they no longer do (P17r).

    The last one may take a tenant below what it deserves; guarantees are not looked at.
    """
    left = dict(allocated)
    victims = []
    for candidate in candidates:
        held = left.get(candidate.owner)
        if held is None or less_equal(held, deserved[candidate.owner], "zero"):
            continue
        left[candidate.owner] = held.minus(candidate.request)
        victims.append(candidate.name)
    return victims


@frozen
class Reclaim:
    """A task of ``job`` that wants ``request`` (a vector of the tree) for its tenant at ``path``."""

    job: str
    path: Sequence[str]
    request: Vector


def hdrf_victims(tree: HdrfTree, reclaimer: Reclaim, candidates: Sequence[tuple[str, Reclaim]]) -> list[str]:
    """Tasks without which their tenant would still be served after the reclaimer's (D22-D25).

    Each candidate is judged by itself, so all of equal ones are named. The tree is left as it was.
    """
    _shift(tree, reclaimer, 1)
    victims = []
    for name, candidate in candidates:
        _shift(tree, candidate, -1)
        if compare_paths(tree, reclaimer.path, candidate.path) < 0:
            victims.append(name)
        _shift(tree, candidate, 1)
    _shift(tree, reclaimer, -1)
    return victims


def _shift(tree: HdrfTree, change: Reclaim, sign: int) -> None:
    node = tree.root
    for name in change.path:
        node = node.children[name]
    leaf = node.children[change.job]
    assert leaf.request is not None
    allocated = [held + sign * amount for held, amount in zip(leaf.allocated, change.request, strict=True)]
    tree.set_job(node, change.job, leaf.request, allocated)

"""Validation of resource names and amounts in containers, pods and nodes."""

from __future__ import annotations

from collections.abc import Mapping

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.errors import closest, found, printable
from gangsched.manifests.fields import Raw
from gangsched.manifests.names import require_qualified
from gangsched_framework.pod_requests import is_scalar
from gangsched_framework.quantity import UNIT, parse_amount
from gangsched_framework.resources import CPU, HUGE_PAGES, MEMORY, PODS, REQUESTED, known_to_pods


def validate_resources(raw: Raw, *, pod_level: bool = False) -> None:
    """Names, whole numbers of devices, requests within limits; devices and huge pages are never overcommitted."""
    limits = amounts_of(raw.get("limits"), round_up=False)
    requests = amounts_of(raw.get("requests"), round_up=False)
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            _validate_name(name, field, pod_level)
            if _is_whole(name) and amount % UNIT:
                raise found("a fraction", "a whole number", field, name)
            if name.startswith(HUGE_PAGES):
                _validate_pages(name, amount, field)
    for name, amount in requests.items():
        limit = limits.get(name)
        if _is_whole(name) and amount != limit:
            what = "no limit" if limit is None else "a limit that differs from the request"
            raise found(what, "an equal limit, as this resource cannot be overcommitted", "requests", name)
        if limit is not None and amount > limit:
            raise found("more than the limit", "at most limits", "requests", name)
    if not pod_level:
        _huge_pages_need_company(limits, requests)


def require_whole(raw: Raw) -> None:
    """Refuse a fraction of pods or of a device a node has."""
    for name, amount in amounts_of(raw, round_up=False).items():
        if amount % UNIT and (name == PODS or _is_whole(name)):
            raise found("a fraction", "a whole number", name)


def validate_overhead(raw: Raw) -> None:
    """Names of the resources of ``overhead``."""
    for name in raw.get("overhead") or {}:
        _validate_name(name, "overhead", pod_level=False)


def _validate_name(name: str, field: str, pod_level: bool) -> None:
    require_qualified(name, field, name)
    huge = name.startswith(HUGE_PAGES)
    if pod_level and name not in (CPU, MEMORY) and not huge:
        raise found("a resource that pods do not share", "cpu, memory, hugepages-*", field, name)
    if not known_to_pods(name):
        allowed = "cpu, memory, ephemeral-storage, hugepages-*, or a name with a domain such as example.com/gpu"
        raise found("an unknown resource", allowed, field, name, hint=closest(name, REQUESTED))


def _is_whole(name: str) -> bool:
    """Devices and huge pages: whole, and requested as limited."""
    return name.startswith(HUGE_PAGES) or (is_scalar(name) and "kubernetes.io/" not in name)


def _validate_pages(name: str, amount: int, field: str) -> None:
    """Huge pages come in whole pages of the size in their name."""
    text = name.removeprefix(HUGE_PAGES)
    try:
        size = parse_amount(text)
    except ValueError:
        size = 0
    if size <= 0 or size % UNIT:
        raise found(f"pages of {printable(text)}", "a size of pages such as hugepages-2Mi", field, name)
    if amount % size:
        raise found("a part of a page", f"a multiple of {text}", field, name)


def _huge_pages_need_company(limits: Mapping[str, int], requests: Mapping[str, int]) -> None:
    named = {**limits, **requests}
    huge = next((name for name in named if name.startswith(HUGE_PAGES)), None)
    if huge is not None and CPU not in named and MEMORY not in named:
        raise found("huge pages alone", "huge pages with cpu or memory", "limits", huge)

"""Shares as Prometheus metrics of Volcano's names and units, so that dashboards made for it read this engine too.

Needs the ``metrics`` extra. With ``gangsched top queues -o metrics``, or in a process of one's own::

    REGISTRY.register(SharesCollector(engine.shares))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from gangsched_framework.errors import GangschedError
from gangsched_framework.objects import EntityKey
from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_framework.shares import JobShare, Natural, QueueShare, SharesView

Family = Any
"""``prometheus_client.core.GaugeMetricFamily``; the package is an extra, often absent."""

_AMOUNTS: Mapping[str, tuple[str, Callable[[QueueShare], Natural]]] = {
    "allocated": ("Allocated", lambda queue: queue.allocated),
    "request": ("Request", lambda queue: queue.request),
    "deserved": ("Deserved", lambda queue: queue.deserved),
}
_FIGURES: Mapping[str, tuple[str, Callable[[QueueShare], float]]] = {
    "share": ("Share for one queue", lambda queue: queue.share),
    "weight": ("Weight for one queue", lambda queue: queue.weight),
    "overused": ("If one queue is overused", lambda queue: float(queue.overused)),
}
_MILLI = 1000


class SharesCollector:
    """A collector for ``prometheus_client``; asks ``shares`` whenever it is scraped.

    Raises GangschedError when ``prometheus_client`` is not installed.
    """

    def __init__(self, shares: Callable[[], SharesView]) -> None:
        self._shares = shares
        self._gauge = _client("prometheus_client.core").GaugeMetricFamily

    def collect(self) -> Iterator[Family]:
        """Every figure of every queue and job now. Amounts in Volcano's units (spec fair-share.md R1, R3)."""
        view = self._shares()
        for kind, (title, amounts) in _AMOUNTS.items():
            yield from self._amounts(kind, title, {queue.name: amounts(queue) for queue in view.queues})
        for name, (text, figure) in _FIGURES.items():
            yield self._family(f"queue_{name}", text, "queue_name", (((q.name,), figure(q)) for q in view.queues))
        yield self._family("job_share", "Share for one job", "job_ns job_id", map(_job_share, view.jobs))

    def _amounts(self, kind: str, title: str, queues: Mapping[str, Natural]) -> Iterator[Family]:
        cpu = (((queue,), amounts.get(CPU, 0) * _MILLI) for queue, amounts in queues.items())
        yield self._family(f"queue_{kind}_milli_cpu", f"{title} CPU count for one queue", "queue_name", cpu)
        memory = (((queue,), amounts.get(MEMORY, 0)) for queue, amounts in queues.items())
        yield self._family(f"queue_{kind}_memory_bytes", f"{title} memory for one queue", "queue_name", memory)
        scalars = (
            ((queue, name), amount if name == PODS else amount * _MILLI)
            for queue, amounts in queues.items()
            for name, amount in amounts.items()
            if name not in (CPU, MEMORY)
        )
        text = f"{title} scalar resources for one queue"
        yield self._family(f"queue_{kind}_scalar_resources", text, "queue_name resource", scalars)

    def _family(self, name: str, text: str, labels: str, values: Iterable[tuple[tuple[str, ...], float]]) -> Family:
        family = self._gauge(f"volcano_{name}", text, labels=labels.split())
        for each, value in values:
            family.add_metric(each, value)
        return family


def metrics_text(shares: Callable[[], SharesView]) -> str:
    """What a scrape would read. Raises GangschedError when ``prometheus_client`` is not installed."""
    client = _client("prometheus_client")
    registry = client.CollectorRegistry(auto_describe=False)
    registry.register(SharesCollector(shares))
    return str(client.generate_latest(registry).decode())


def _client(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise GangschedError("metrics need prometheus-client: pip install 'gangsched[metrics]'") from None


def _job_share(job: JobShare) -> tuple[tuple[str, str], float]:
    """``job_id`` is the whole key: a pod and a group may share a name."""
    return (EntityKey(job.key).namespace, job.key), job.share

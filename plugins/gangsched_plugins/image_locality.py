"""ImageLocality: prefer nodes that hold the pod's images (spec node-plugins.md §7.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gangsched_framework.columns import SILENT, Columns, ScoreColumn
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.handle import Handle
from gangsched_framework.interface import MAX_NODE_SCORE
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import PodSpec
from gangsched_framework.status import Status
from gangsched_plugins.names import IMAGE_LOCALITY

_MEBIBYTE = 2**20
_LOWEST = 23 * _MEBIBYTE
_HIGHEST_PER_IMAGE = 1000 * _MEBIBYTE


class ImageLocality:
    """Score. Takes no arguments."""

    name = IMAGE_LOCALITY
    locality = "node"
    ignores_requests = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self._handle = handle
        # The spec scored last and its images: a pod asks for thousands of nodes in a row.
        self._spec: PodSpec | None = None
        self._images: tuple[str, ...] = ()

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Bytes of the pod's images on the node, each weighed by the share of nodes that hold it, on a scale of 0…100.

        Between 23 MiB and 1000 MiB per image; nodes that are not feasible count in the share.
        """
        if pod.spec is not self._spec:
            self._spec, self._images = pod.spec, images_of(pod.spec)
        return _score(self._images, node, self._handle.snapshot.table)

    def columns(self, pod: Pod, table: NodeTable) -> Columns | None:
        """Silent while no node holds an image of the pod; else the per-node scores, which only nodes can change."""
        images = images_of(pod.spec)
        if not any(table.images.spread(image) for image in images):
            return SILENT
        scores = np.array([_score(images, node, table) for node in table.infos], np.int64)
        return Columns(score=ScoreColumn(lambda: scores))


def _score(images: Sequence[str], node: NodeInfo, table: NodeTable) -> int:
    total = 0
    for image in images:
        size = node.image_size(image)
        if size:
            # float64 division, then product, then truncation (spec §7.8.2)
            total += int(size * (table.images.spread(image) / len(table.infos)))
    if total <= _LOWEST:
        return 0
    highest = _HIGHEST_PER_IMAGE * len(images)
    return MAX_NODE_SCORE * (min(total, highest) - _LOWEST) // (highest - _LOWEST)


def images_of(spec: PodSpec) -> tuple[str, ...]:
    """Names of the pod's images as nodes report them, repetitions included (spec §7.8.1)."""
    containers = (*spec.init_containers, *spec.containers)
    return tuple(with_tag(image) for image in (*(c.image for c in containers), *spec.image_volumes))


def with_tag(image: str) -> str:
    """``image`` with ``:latest`` unless it has a tag or digest; the colon of a registry's port is neither."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"

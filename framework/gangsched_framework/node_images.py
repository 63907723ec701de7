"""Which images the nodes hold: one size per name for the whole cluster (spec node-plugins.md §3.6)."""

from __future__ import annotations

from attrs import define, field

from gangsched_framework.objects import Node


@define
class _Image:
    size: int
    nodes: dict[str, None] = field(factory=dict)


class ImageIndex:
    """Image name -> size as the first reporting node gave it, and the nodes that report it. O(images) per change."""

    def __init__(self) -> None:
        self._images: dict[str, _Image] = {}

    def add(self, node: Node) -> None:
        for image in node.images:
            for name in image.names:
                self._images.setdefault(name, _Image(image.size)).nodes[node.name] = None

    def remove(self, node: Node) -> None:
        for image in node.images:
            for name in image.names:
                known = self._images.get(name)
                if known is not None:
                    known.nodes.pop(node.name, None)
                    if not known.nodes:
                        del self._images[name]

    def spread(self, name: str) -> int:
        """Number of nodes that report image ``name``."""
        known = self._images.get(name)
        return len(known.nodes) if known else 0

    def size(self, node_name: str, name: str) -> int:
        """Bytes of image ``name`` if ``node_name`` reports it, else 0."""
        known = self._images.get(name)
        return known.size if known is not None and node_name in known.nodes else 0

"""Fields that decide in a real cluster and are not modelled here: each is named in a warning (architecture.md §7)."""

from __future__ import annotations

from gangsched.manifests.fields import Raw

_VOLUMES = (
    "awsElasticBlockStore",
    "azureDisk",
    "cinder",
    "csi",
    "ephemeral",
    "gcePersistentDisk",
    "iscsi",
    "persistentVolumeClaim",
    "rbd",
)

_CLAIM = "is not modelled: no claim is ever bound, so VolumeBinding refuses the pod"
_CONSEQUENCES = {
    "volumes[].ephemeral": _CLAIM,
    "volumes[].persistentVolumeClaim": _CLAIM,
    "resourceClaims": "is not modelled: ignored, or refused where the plugin DynamicResources is enabled",
}


def consequence(path: str) -> str:
    """What becomes of a pod with the field, for a warning."""
    return f"spec.{path}: {_CONSEQUENCES.get(path, 'is not modelled and decides nothing here')}"


def unsupported_fields(spec: Raw) -> tuple[str, ...]:
    """The paths of such fields in a pod spec, lists without index, in a fixed order."""
    sources = {name for volume in spec.get("volumes") or () for name in volume if volume[name] is not None}
    paths = [f"volumes[].{name}" for name in _VOLUMES if name in sources]
    if spec.get("resourceClaims"):
        paths.append("resourceClaims")
    owners = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    if any(container.get("restartPolicyRules") for container in owners):
        paths.append("containers[].restartPolicyRules")
    if spec.get("hostUsers") is False and spec.get("hostNetwork"):
        paths.append("hostUsers")  # together they need a node feature (spec node-plugins.md §8.4)
    return tuple(paths)

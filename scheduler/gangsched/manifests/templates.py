"""Pod specs to ``PodSpec`` values, one per distinct content: the pods of a template share one (architecture.md §5)."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from gangsched.manifests.amounts import amounts_of
from gangsched.manifests.containers import containers, with_pod_level
from gangsched.manifests.context import Context, RuntimeClass
from gangsched.manifests.errors import InputError
from gangsched.manifests.fields import Raw, each, part, texts
from gangsched.manifests.selectors import label_selector, node_affinity, pod_affinity, with_label_keys
from gangsched.manifests.shapes import shape
from gangsched.manifests.unsupported import unsupported_fields
from gangsched.manifests.validation.pods import validate_pod_level, validate_pod_spec
from gangsched_framework.objects import DEFAULT_SCHEDULER
from gangsched_framework.pod_spec import PodSpec, Toleration, TopologySpreadConstraint

MAX_TEMPLATES = 65_536
"""Distinct specs kept; beyond that the store starts anew, so that a stream of unlike pods stays in bounded memory."""

_MARSHAL_VERSION = 2  # the last that writes equal values as equal bytes: later ones write references


@frozen
class Template:
    """A pod spec without what differs from pod to pod. ``label_keys``: labels that the spec's selectors merge in."""

    spec: PodSpec
    raw: Raw
    scheduler_name: str
    priority: int | None
    priority_class_name: str
    preemption_policy: str
    scheduling_gates: tuple[str, ...]
    label_keys: tuple[str, ...]
    unsupported: tuple[str, ...]
    merged: dict[tuple[str | None, ...], PodSpec] = field(factory=dict, eq=False)


@define
class Templates:
    """The templates met so far, by content."""

    context: Context
    _known: dict[bytes, Template] = field(factory=dict)

    def template(self, raw: dict[str, Any]) -> Template:
        """The template of pod spec ``raw``, which lacks the fields that differ from pod to pod. Raises InputError."""
        try:
            key = marshal.dumps(raw, _MARSHAL_VERSION)
        except ValueError:  # not plain dicts and lists, or nested too deeply: decoding will tell
            return self._read(raw)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_TEMPLATES:
                self._known.clear()
            known = self._known[key] = self._read(raw)
        return known

    def spec_for(self, template: Template, labels: Mapping[str, str]) -> PodSpec:
        """The spec of a pod of ``template`` with ``labels``, which some selectors take in (spec §3.1.5)."""
        if not template.label_keys:
            return template.spec
        key = tuple(labels.get(name) for name in template.label_keys)
        known = template.merged.get(key)
        if known is None:
            known = template.merged[key] = _with_selectors(template.spec, template.raw, labels, merge=True)
        return known

    def forget(self) -> None:
        """Drop what was read: a RuntimeClass changed what specs mean."""
        self._known.clear()

    def _read(self, raw: Raw) -> Template:
        context = self.context
        shape("PodSpec").check(raw)
        if context.strict:
            validate_pod_spec(raw)
        merge = context.defaults.merge_match_label_keys
        spec = _with_selectors(_spec(raw, context.defaults.api_defaulting), raw, {}, merge=False)
        if context.strict:
            validate_pod_level(raw, spec)
        if any(item.operator in ("Gt", "Lt") for item in spec.tolerations):
            context.warn_off("TaintTolerationComparisonOperators", "spec.tolerations[].operator Gt or Lt")
        return Template(
            _with_runtime_class(context, spec, raw),
            raw,
            raw.get("schedulerName") or DEFAULT_SCHEDULER,
            raw.get("priority"),
            raw.get("priorityClassName") or "",
            raw.get("preemptionPolicy") or "",
            each(raw, "schedulingGates", lambda gate: str(gate.get("name") or "")),
            _label_keys(raw) if merge else (),
            unsupported_fields(raw),
        )


def _spec(raw: Raw, defaulting: bool) -> PodSpec:
    """Everything but what selectors may take from labels."""
    affinity = raw.get("affinity") or {}
    volumes = raw.get("volumes") or ()
    images = (part(volume, "image", lambda image: image.get("reference")) for volume in volumes)
    spec = PodSpec(
        containers=containers(raw, "containers", defaulting),
        init_containers=containers(raw, "initContainers", defaulting),
        overhead=part(raw, "overhead", lambda value: amounts_of(value, round_up=defaulting)) or {},
        node_selector=None if raw.get("nodeSelector") is None else texts(raw, "nodeSelector"),
        node_affinity=part(affinity, "nodeAffinity", node_affinity),
        tolerations=each(raw, "tolerations", toleration),
        host_network=bool(raw.get("hostNetwork")),
        image_volumes=tuple(image for image in images if image),
        claims=tuple(claim for claim in map(_claim, volumes) if claim),
        resource_claims=tuple(claim.get("name") or "" for claim in raw.get("resourceClaims") or ()),
        unsupported=unsupported_fields(raw),
    )
    return part(raw, "resources", lambda resources: with_pod_level(spec, resources, defaulting)) or spec


def _claim(volume: Raw) -> str:
    """The claim of a volume, '' = it has none; one that is made for the pod bears the volume's name."""
    if volume.get("ephemeral") is not None:
        return volume.get("name") or "ephemeral"
    return part(volume, "persistentVolumeClaim", lambda claim: claim.get("claimName")) or ""


def toleration(raw: Raw) -> Toleration:
    """One toleration, as written."""
    return Toleration(raw.get("key") or "", raw.get("operator") or "", raw.get("value") or "", raw.get("effect") or "")


def _with_selectors(spec: PodSpec, raw: Raw, labels: Mapping[str, str], merge: bool) -> PodSpec:
    affinity = raw.get("affinity") or {}

    def constraint(item: Raw) -> TopologySpreadConstraint:
        selector = part(item, "labelSelector", label_selector)
        keys = tuple(item.get("matchLabelKeys") or ())
        if merge:
            selector, keys = with_label_keys(selector, keys, labels, "In"), ()
        return TopologySpreadConstraint(
            item.get("maxSkew") or 0,
            item.get("topologyKey") or "",
            item.get("whenUnsatisfiable") or "",
            selector,
            item.get("minDomains"),
            item.get("nodeAffinityPolicy") or "Honor",
            item.get("nodeTaintsPolicy") or "Ignore",
            keys,
        )

    changes: dict[str, Any] = {}
    for field_name, name in (("podAffinity", "pod_affinity"), ("podAntiAffinity", "pod_anti_affinity")):
        terms = part(affinity, field_name, lambda value: pod_affinity(value, labels))
        if terms is not None:
            changes[name] = terms
    constraints = each(raw, "topologySpreadConstraints", constraint)
    if constraints:
        changes["topology_spread_constraints"] = constraints
    return evolve(spec, **changes) if changes else spec


def _label_keys(raw: Raw) -> tuple[str, ...]:
    """Labels named by ``matchLabelKeys`` and ``mismatchLabelKeys`` anywhere in the spec, in the order they appear."""
    affinity = raw.get("affinity") or {}
    holders: list[Raw] = list(raw.get("topologySpreadConstraints") or ())
    for kind in ("podAffinity", "podAntiAffinity"):
        for terms in (affinity.get(kind) or {}).values():
            holders += [term.get("podAffinityTerm") or term for term in terms or ()]
    keys = (
        key for holder in holders for name in ("matchLabelKeys", "mismatchLabelKeys") for key in holder.get(name) or ()
    )
    return tuple(dict.fromkeys(keys))


def _with_runtime_class(context: Context, spec: PodSpec, raw: Raw) -> PodSpec:
    """What admission adds for a RuntimeClass; one that is not given is named in a warning (architecture.md §11)."""
    name = raw.get("runtimeClassName")
    if not name:
        return spec
    known: RuntimeClass | None = context.runtime_classes.get(name)
    if known is None:
        context.warn_once(
            f"RuntimeClass/{name}", f"spec.runtimeClassName: RuntimeClass {name} is not given, so no overhead is added"
        )
        return spec
    selector = dict(spec.node_selector or {})
    for key, value in known.node_selector.items():
        if selector.setdefault(key, value) != value:
            raise InputError(
                f"found {selector[key]}, allowed {value}, as RuntimeClass {name} says", "nodeSelector", key
            )
    return evolve(
        spec,
        overhead=spec.overhead or known.overhead,
        node_selector=selector if selector or spec.node_selector is not None else None,
        tolerations=(*spec.tolerations, *(toleration(item) for item in known.tolerations)),
    )

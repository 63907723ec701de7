"""What decides nothing is named in a warning, never taken in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import frozen

from gangsched.config import FeatureGates
from gangsched.manifests import Decoder
from gangsched_framework.objects import Pod

CONTAINER = {"name": "c", "image": "x"}
DURATION, FINISHED = "gangsched.dev/duration", "gangsched.dev/delete-when-finished"


def manifest(
    kind: str, name: str = "x", api: str = "v1", annotations: Mapping[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def pod(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return manifest("Pod", "p", annotations=annotations, containers=[CONTAINER], **spec)


def group(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    gang = {"schedulingPolicy": {"gang": {"minCount": 1}}}
    return manifest("PodGroup", "g", "scheduling.k8s.io/v1beta1", annotations, **gang, **spec)


def composite(**spec: Any) -> dict[str, Any]:
    gang = {"gang": {"minGroupCount": 1}}
    reference = {"workloadName": "w", "templateName": "t"}
    api = "scheduling.k8s.io/v1alpha3"
    return manifest("CompositePodGroup", "c", api, schedulingPolicy=gang, workloadRef=reference, **spec)


def queue(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return manifest("Queue", "q", "scheduling.volcano.sh/v1beta1", annotations, **spec)


TEMPLATE: dict[str, Any] = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}


def job(annotations: Mapping[str, str], inner: Mapping[str, str], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"annotations": inner}, **TEMPLATE}
    return manifest("Job", "j", "batch/v1", annotations, template=template, **spec)


@frozen
class Case:
    """``manifest`` under the gates that differ from the product's; what is warned of it."""

    name: str
    manifest: dict[str, Any]
    warnings: tuple[str, ...] = ()
    gates: str = ""


LT = [{"key": "k", "operator": "Lt", "value": "5", "effect": "NoSchedule"}]
TREE: dict[str, Any] = {"parentCompositePodGroupName": "c", "workloadRef": {"workloadName": "w", "templateName": "t"}}
TOPOLOGY: dict[str, Any] = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
NO_GROUPS = "CompositePodGroup=false,TopologyAwareWorkloadScheduling=false,GenericWorkload=false"
GROUP_NAME = "scheduling.k8s.io/group-name"
OFF = "decides nothing while the feature gate"
CASES = (
    Case(
        "a group's preemption policy needs its gate",
        group(preemptionPolicy="Never"),
        (f"PodGroup/g: spec.preemptionPolicy: {OFF} PodGroupPreemptionPolicy is off",),
    ),
    Case(
        "so does that of a composite group",
        composite(preemptionPolicy="Never"),
        (f"CompositePodGroup/c: spec.preemptionPolicy: {OFF} PodGroupPreemptionPolicy is off",),
    ),
    Case("with the gate it counts", group(preemptionPolicy="Never"), gates="PodGroupPreemptionPolicy=true"),
    Case("without the field there is nothing to say", group()),
    Case(
        "comparing tolerations need their gate",
        pod(tolerations=LT),
        (f"Pod/p: spec.tolerations[].operator Gt or Lt: {OFF} TaintTolerationComparisonOperators is off",),
    ),
    Case("with the gate they count", pod(tolerations=LT), gates="TaintTolerationComparisonOperators=true"),
    Case("other tolerations need none", pod(tolerations=[{"operator": "Exists"}])),
    Case(
        "a composite group needs its gate",
        composite(),
        (f"CompositePodGroup/c: {OFF} CompositePodGroup is off",),
        gates="CompositePodGroup=false",
    ),
    Case(
        "so does a parent",
        group(**TREE),
        (f"PodGroup/g: spec.parentCompositePodGroupName: {OFF} CompositePodGroup is off",),
        gates="CompositePodGroup=false",
    ),
    Case("a tree is the default", group(**TREE)),
    Case(
        "a topology constraint needs its gate",
        group(**TOPOLOGY),
        (f"PodGroup/g: spec.schedulingConstraints.topology: {OFF} TopologyAwareWorkloadScheduling is off",),
        gates="CompositePodGroup=false,TopologyAwareWorkloadScheduling=false",
    ),
    Case(
        "without the gate of groups a group decides nothing, whatever it says",
        group(**TREE, **TOPOLOGY, preemptionPolicy="Never"),
        (f"PodGroup/g: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "nor does a composite one",
        composite(),
        (f"CompositePodGroup/c: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "nor Volcano's",
        manifest("PodGroup", "v", "scheduling.volcano.sh/v1beta1", minMember=2),
        (f"PodGroup/v: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "nor a pod's group",
        pod(schedulingGroup={"podGroupName": "g"}),
        (f"Pod/p: spec.schedulingGroup: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "nor the annotation that names one",
        pod({GROUP_NAME: "g"}),
        (f'Pod/p: metadata.annotations["{GROUP_NAME}"]: {OFF} GenericWorkload is off',),
        gates=NO_GROUPS,
    ),
    Case(
        "nor what a job asks for its pods",
        job({}, {}, scheduling={"schedulingPolicy": {"gang": {"minCount": 1}}}),
        (f"Job/j: spec.scheduling: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "nor the minimum of Volcano's job",
        manifest("Job", "v", "batch.volcano.sh/v1alpha1", tasks=[{"replicas": 2, "template": TEMPLATE}]),
        (f"Job/v: spec.minAvailable: {OFF} GenericWorkload is off",),
        gates=NO_GROUPS,
    ),
    Case(
        "a misspelt annotation is told from the one that was meant",
        pod({"gangsched.dev/duratio": "5s"}),
        (f'Pod/p: metadata.annotations["gangsched.dev/duratio"]: decides nothing; did you mean {DURATION}?',),
    ),
    Case(
        "of a queue, too, which reads none",
        queue({"gangsched.dev/colour": "5s"}),
        ('Queue/q: metadata.annotations["gangsched.dev/colour"]: decides nothing',),
    ),
    Case(
        "an annotation of another kind decides nothing",
        pod({FINISHED: "true"}),
        (f'Pod/p: metadata.annotations["{FINISHED}"]: decides nothing, only that of a PodGroup is read',),
    ),
    Case(
        "a duration is that of a pod",
        group({DURATION: "5s"}),
        (f'PodGroup/g: metadata.annotations["{DURATION}"]: decides nothing, only that of a Pod is read',),
    ),
    Case(
        "a workload's stands in its template",
        job({DURATION: "5s"}, {DURATION: "5s"}),
        (f'Job/j: metadata.annotations["{DURATION}"]: decides nothing, only that of a Pod is read',),
    ),
    Case("an annotation where it is read is no matter", pod({DURATION: "5s", "example.com/duratio": "1"})),
    Case("nor is one of a group", group({FINISHED: "true"})),
    Case(
        "a queue's weight of 0 is not taken for nothing",
        queue(weight=0),
        ("Queue/q: spec.weight: 0 counts as 1, as Volcano's admission makes it",),
    ),
    Case("a queue without a weight has the default", queue()),
    Case(
        "a volume with a claim made for the pod is a claim",
        pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]),
        ("Pod/p: spec.volumes[].ephemeral: is not modelled: no claim is ever bound, so VolumeBinding refuses the pod",),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_decides_nothing_is_named(case: Case) -> None:
    decoder = Decoder()
    decoder.heed_gates(FeatureGates.parse(case.gates))
    decoder.decode(case.manifest)
    assert decoder.warnings == list(case.warnings)


@pytest.mark.parametrize("case", [case for case in CASES if case.gates == NO_GROUPS], ids=lambda case: case.name)
def test_without_the_gate_of_groups_there_are_pods_alone(case: Case) -> None:
    decoder = Decoder()
    decoder.heed_gates(FeatureGates.parse(case.gates))
    assert all(isinstance(obj, Pod) and not obj.group_name for obj in decoder.decode(case.manifest))


def test_it_is_named_once_for_each_kind_of_thing() -> None:
    decoder = Decoder()
    decoder.heed_gates(FeatureGates())
    for name in ("a", "b", "c"):
        decoder.decode(group({"gangsched.dev/x": "1"}, preemptionPolicy="Never") | {"metadata": {"name": name}})
    assert decoder.warnings == [f"PodGroup/a: spec.preemptionPolicy: {OFF} PodGroupPreemptionPolicy is off (2 more)"]


def test_a_decoder_that_was_told_of_no_gates_says_nothing_of_them() -> None:
    decoder = Decoder()
    decoder.decode(group(preemptionPolicy="Never"))
    assert not decoder.warnings


def test_a_claim_made_for_a_pod_bears_the_name_of_its_volume() -> None:
    (read,) = Decoder().decode(pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]))
    assert read.spec.claims == ("v",)  # type: ignore[union-attr]

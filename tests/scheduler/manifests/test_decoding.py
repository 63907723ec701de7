"""What manifests become: fields, defaults of the API server, identity, classes, sharing of specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gangsched.manifests import Decoder, Defaults, InputError
from gangsched_framework.objects import (
    CompositePodGroup,
    Condition,
    ContainerImage,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    SelectorOwner,
    Taint,
)
from gangsched_framework.pod_spec import (
    ContainerPort,
    LabelSelector,
    NodeAffinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    Toleration,
    WeightedPodAffinityTerm,
)
from gangsched_framework.resources import Resources, StatusAmounts

MILLI = 10**6
UNIT = 10**9
SECOND = 10**9
CONTAINER = {"name": "c", "image": "x"}


def pod_manifest(spec: Mapping[str, Any] | None = None, name: str = "p", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, **rest.pop("metadata", {})}
    spec = {"containers": [CONTAINER], **(spec or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, **rest}


def read(manifest: Mapping[str, Any], decoder: Decoder | None = None, **options: Any) -> Any:
    (decoded,) = (decoder or Decoder()).decode(manifest, **options)
    return decoded


def read_pod(spec: Mapping[str, Any] | None = None, decoder: Decoder | None = None, **rest: Any) -> Pod:
    pod = read(pod_manifest(spec, **rest), decoder)
    assert isinstance(pod, Pod)
    return pod


def group(kind: str = "PodGroup", version: str = "v1beta1", **spec: Any) -> dict[str, Any]:
    api = f"scheduling.k8s.io/{version}"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "g"}, "spec": spec}


class TestIdentity:
    def test_a_bare_pod_gets_what_the_api_server_gives(self) -> None:
        pod = read(pod_manifest(), now=1_500_000_000)
        assert (pod.namespace, pod.key, pod.uid) == ("default", "default/p", "Pod|default/p#1")
        assert (pod.creation_timestamp, pod.generation, pod.priority) == (SECOND, 1, 0)
        assert (pod.scheduler_name, pod.status.phase, pod.preemption_policy) == (
            "default-scheduler",
            "Pending",
            "PreemptLowerPriority",
        )

    def test_uids_count_the_objects_of_one_key(self) -> None:
        decoder = Decoder()
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        assert [read(pod_manifest(), decoder).uid for _ in range(2)] == ["Pod|default/p#1", "Pod|default/p#2"]
        assert [read(node, decoder).uid for _ in range(2)] == ["Node|n#1", "Node|n#2"]

    def test_a_replacing_manifest_keeps_the_identity_of_the_object(self) -> None:
        decoder = Decoder()
        old = read(pod_manifest({"nodeName": "n"}), decoder, now=5 * SECOND)
        new = read(pod_manifest({"nodeName": "n"}), decoder, now=9 * SECOND, current=old)
        assert (new.uid, new.creation_timestamp, new.status.start_time) == (old.uid, 5 * SECOND, 5 * SECOND)

    def test_generated_names_are_numbered_in_order(self) -> None:
        decoder = Decoder()
        manifest = pod_manifest()
        manifest["metadata"] = {"generateName": "w-"}
        assert [read(manifest, decoder).name for _ in range(3)] == ["w-00000", "w-00001", "w-00002"]

    def test_times_are_read_as_decimals_from_the_start(self) -> None:
        metadata = {
            "creationTimestamp": "2026-01-01T01:00:00.123456789+01:00",
            "deletionTimestamp": "2025-12-31T23:59:59Z",
        }
        pod = read_pod(metadata=metadata)
        assert (pod.creation_timestamp, pod.deletion_timestamp) == (123_456_789, -SECOND)
        later = read_pod(metadata=metadata, decoder=Decoder(Defaults(start="2026-01-01T00:00:01Z")))
        assert later.creation_timestamp == 123_456_789 - SECOND

    def test_a_bad_start_is_refused_at_once(self) -> None:
        with pytest.raises(InputError, match='found text "tomorrow"'):
            Defaults(start="tomorrow")

    def test_the_controlling_owner_is_the_owner(self) -> None:
        owners = [
            {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "1"},
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "2", "controller": True},
        ]
        assert read_pod(metadata={"ownerReferences": owners}).owner == ("ReplicaSet", "web")

    @pytest.mark.parametrize(
        ("version", "kind", "want"),
        [
            ("v1", "ReplicationController", "ReplicationController"),
            ("apps/v1", "StatefulSet", "StatefulSet"),
            ("apps.kruise.io/v1alpha1", "StatefulSet", "apps.kruise.io/v1alpha1/StatefulSet"),
            ("v1", "ReplicaSet", "v1/ReplicaSet"),
            ("batch/v1", "Job", "Job"),
        ],
    )
    def test_a_controller_of_another_api_is_another_kind(self, version: str, kind: str, want: str) -> None:
        owner = {"apiVersion": version, "kind": kind, "name": "web", "uid": "1", "controller": True}
        assert read_pod(metadata={"ownerReferences": [owner]}).owner == (want, "web")

    def test_null_stands_for_absent(self) -> None:
        metadata = {"creationTimestamp": None, "labels": None, "annotations": {"a": None}, "ownerReferences": None}
        pod = read_pod({"priority": None, "affinity": None, "tolerations": None}, metadata=metadata, status=None)
        assert (pod.labels, pod.annotations, pod.priority) == ({}, {"a": ""}, 0)


class TestContainers:
    def test_a_limit_without_request_becomes_the_request_rounded_up_to_milli(self) -> None:
        resources = {"limits": {"cpu": "0.1m", "memory": "1Gi"}, "requests": {"memory": 5}}
        (container,) = read_pod({"containers": [{**CONTAINER, "resources": resources}]}).spec.containers
        assert container.requests == {"memory": 5 * UNIT, "cpu": MILLI}
        assert container.limits == {"cpu": MILLI, "memory": 2**30 * UNIT}

    def test_without_defaulting_manifests_are_taken_as_written(self) -> None:
        decoder = Decoder(Defaults(api_defaulting=False))
        spec = {"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "0.1m"}}}], "nodeName": "n"}
        pod = read_pod(spec, decoder)
        assert (pod.spec.containers[0].requests, pod.spec.containers[0].limits) == ({}, {"cpu": MILLI // 10})
        assert pod.status.start_time is None

    def test_the_host_network_copies_container_ports(self) -> None:
        ports = [{"containerPort": 80}, {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}]
        spec = {"containers": [{**CONTAINER, "ports": ports}], "hostNetwork": True}
        assert read_pod(spec).spec.containers[0].ports == (
            ContainerPort(80, 80, "TCP", ""),
            ContainerPort(53, 53, "UDP", "10.0.0.1"),
        )
        assert read_pod({**spec, "hostNetwork": False}).spec.containers[0].ports[0] == ContainerPort(0, 80)

    @pytest.mark.parametrize(
        "resources, container, want",
        [
            pytest.param({}, {"cpu": "1"}, {}, id="no limits, nothing is filled in"),
            pytest.param({"limits": {"cpu": "3"}}, {"cpu": "1"}, {"cpu": UNIT}, id="containers ask: their sum"),
            pytest.param(
                {"limits": {"cpu": "3"}},
                {"memory": "1"},
                {"cpu": 3 * UNIT, "memory": UNIT},
                id="nobody asks: the limit",
            ),
            pytest.param(
                {"limits": {"cpu": "3"}, "requests": {"cpu": "2"}},
                {"cpu": "1"},
                {"cpu": 2 * UNIT},
                id="written: as written",
            ),
            pytest.param(
                {"limits": {"hugepages-2Mi": "2Mi"}},
                {"cpu": "1"},
                {"cpu": UNIT, "hugepages-2Mi": 2**21 * UNIT},
                id="huge pages: the limit",
            ),
        ],
    )
    def test_pod_level_requests_are_filled_in(
        self, resources: Mapping[str, Any], container: Mapping[str, str], want: Mapping[str, int]
    ) -> None:
        spec = {"containers": [{**CONTAINER, "resources": {"requests": container}}], "resources": resources}
        assert read_pod(spec, Decoder(strict=False)).spec.resources == want

    def test_huge_pages_that_only_containers_limit_become_the_pods(self) -> None:
        limits = {"hugepages-2Mi": "2Mi", "cpu": "1"}
        spec = {"containers": [{**CONTAINER, "resources": {"limits": limits}}], "resources": {"limits": {"cpu": "3"}}}
        assert read_pod(spec).spec.resources == {"cpu": UNIT, "hugepages-2Mi": 2**21 * UNIT}

    def test_numbers_are_quantities_too(self) -> None:
        spec = {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": 0.1, "memory": 7}}}]}
        assert read_pod(spec).spec.containers[0].requests == {"cpu": 100 * MILLI, "memory": 7 * UNIT}

    def test_sidecars_images_and_overhead(self) -> None:
        spec = {
            "initContainers": [{"name": "s", "image": "side:1", "restartPolicy": "Always"}],
            "overhead": {"cpu": "250m"},
            "volumes": [{"name": "v", "image": {"reference": "vol:1"}}, {"name": "d", "emptyDir": {}}],
        }
        read_spec = read_pod(spec).spec
        assert read_spec.init_containers[0].restart_policy == "Always"
        assert (read_spec.overhead, read_spec.image_volumes) == ({"cpu": 250 * MILLI}, ("vol:1",))


class TestWhereAPodMayRun:
    def test_an_empty_node_selector_is_not_an_absent_one(self) -> None:
        assert read_pod().spec.node_selector is None
        assert read_pod({"nodeSelector": {}}).spec.node_selector == {}

    def test_node_affinity(self) -> None:
        line = {"key": "disk", "operator": "In", "values": ["ssd"]}
        field = {"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}
        affinity = {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [line], "matchFields": [field]}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 7, "preference": {"matchExpressions": [line]}}
            ],
        }
        disk = Requirement("disk", "In", ("ssd",))
        assert read_pod({"affinity": {"nodeAffinity": affinity}}).spec.node_affinity == NodeAffinity(
            (NodeSelectorTerm((disk,), (Requirement("metadata.name", "NotIn", ("n1",)),)),),
            (PreferredNodeTerm(7, NodeSelectorTerm((disk,))),),
        )

    def test_pod_affinity(self) -> None:
        term = {
            "topologyKey": "zone",
            "labelSelector": {"matchLabels": {"b": "2", "a": "1"}},
            "namespaces": ["x"],
            "namespaceSelector": {},
        }
        affinity = {
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 3, "podAffinityTerm": {"topologyKey": "zone"}}
                ]
            },
        }
        spec = read_pod({"affinity": affinity}).spec
        assert spec.pod_affinity.required == (
            PodAffinityTerm("zone", LabelSelector((("a", "1"), ("b", "2"))), ("x",), LabelSelector()),
        )
        assert spec.pod_anti_affinity.preferred == (WeightedPodAffinityTerm(3, PodAffinityTerm("zone")),)

    def test_tolerations_gates_and_the_group(self) -> None:
        spec = {
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            "schedulingGates": [{"name": "example.com/a"}, {"name": "b"}],
            "schedulingGroup": {"podGroupName": "pg1"},
        }
        pod = read_pod(spec)
        assert pod.spec.tolerations == (Toleration("k", "Exists", "", "NoExecute"),)
        assert (pod.scheduling_gates, pod.group_key) == (("example.com/a", "b"), "podgroup/default/pg1")

    def test_label_keys_are_merged_into_selectors_where_the_pod_has_the_label(self) -> None:
        spread = {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
            "matchLabelKeys": ["version", "absent"],
        }
        term = {
            "topologyKey": "zone",
            "labelSelector": {},
            "matchLabelKeys": ["version"],
            "mismatchLabelKeys": ["team"],
        }
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        spec = {"topologySpreadConstraints": [spread], "affinity": affinity}
        labels = {"version": "v1", "team": "a"}
        decoder = Decoder()
        read_spec = read_pod(spec, decoder, metadata={"labels": labels}).spec
        version, team = Requirement("version", "In", ("v1",)), Requirement("team", "NotIn", ("a",))
        (constraint,) = read_spec.topology_spread_constraints
        assert constraint.label_selector == LabelSelector((("app", "web"),), (version,))
        assert constraint.match_label_keys == ()
        assert read_spec.pod_affinity.required[0].label_selector == LabelSelector((), (version, team))
        other = read_pod(spec, decoder, metadata={"labels": {"version": "v2"}}).spec
        assert other.topology_spread_constraints[0].label_selector == LabelSelector(
            (("app", "web"),), (Requirement("version", "In", ("v2",)),)
        )
        assert read_pod(spec, decoder, metadata={"labels": labels}).spec is read_spec

    def test_label_keys_stay_when_merging_is_off(self) -> None:
        spread = {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {},
            "matchLabelKeys": ["version"],
        }
        decoder = Decoder(Defaults(merge_match_label_keys=False))
        pod = read_pod({"topologySpreadConstraints": [spread]}, decoder, metadata={"labels": {"version": "v1"}})
        (constraint,) = pod.spec.topology_spread_constraints
        assert (constraint.label_selector, constraint.match_label_keys) == (LabelSelector(), ("version",))


class TestSharing:
    def test_pods_of_one_template_share_one_spec(self) -> None:
        decoder = Decoder()
        spec: dict[str, Any] = {"priority": 3, "nodeSelector": {"a": "b"}}
        own: list[dict[str, Any]] = [
            {"nodeName": "n1"},
            {"schedulingGroup": {"podGroupName": "g"}},
            {"hostname": "h"},
            {},
        ]
        pods = [read_pod({**spec, **fields}, decoder, name=f"p{i}") for i, fields in enumerate(own)]
        assert {id(pod.spec) for pod in pods} == {id(pods[0].spec)}
        assert [(pod.node_name, pod.group_name) for pod in pods] == [("n1", ""), ("", "g"), ("", ""), ("", "")]

    def test_like_values_of_other_types_do_not_share(self) -> None:
        decoder = Decoder(strict=False)
        specs: list[dict[str, Any]] = [{"priority": 1}, {"hostNetwork": True}, {"hostNetwork": False}]
        assert len({id(read_pod(spec, decoder).spec) for spec in specs}) == 3

    def test_a_changed_manifest_does_not_change_the_pod(self) -> None:
        manifest = pod_manifest(metadata={"labels": {"a": "b"}})
        pod = read(manifest)
        manifest["metadata"]["labels"]["a"] = "c"
        manifest["spec"]["containers"].append("nonsense")
        assert pod.labels == {"a": "b"}
        assert len(pod.spec.containers) == 1


class TestClasses:
    URGENT = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 7,
        "preemptionPolicy": "Never",
    }
    KATA = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]},
    }

    def test_a_class_gives_pods_and_groups_their_priority(self) -> None:
        decoder = Decoder()
        assert read(self.URGENT, decoder) == PriorityClass("urgent", 7, False, "Never")
        pod = read_pod({"priorityClassName": "urgent"}, decoder)
        assert (pod.priority, pod.preemption_policy) == (7, "Never")
        pod_group = read(group(schedulingPolicy={"basic": {}}, priorityClassName="urgent"), decoder)
        assert (pod_group.priority, pod_group.priority_class_name, pod_group.preemption_policy) == (7, "urgent", None)

    def test_the_classes_of_the_system_are_built_in(self) -> None:
        assert read_pod({"priorityClassName": "system-node-critical"}).priority == 2_000_001_000

    def test_the_default_class_counts_for_those_that_name_none(self) -> None:
        decoder = Decoder()
        read({**self.URGENT, "globalDefault": True}, decoder)
        assert read_pod(decoder=decoder).priority == 7
        assert read_pod({"priority": 2}, decoder).priority == 2

    def test_an_unknown_class_counts_as_none_when_not_strict(self) -> None:
        decoder = Decoder(strict=False)
        assert read_pod({"priorityClassName": "nobody"}, decoder).priority == 0
        assert read(group(schedulingPolicy={"basic": {}}, priorityClassName="nobody"), decoder).priority is None

    def test_classes_can_be_learned_before_the_objects_that_name_them(self) -> None:
        decoder = Decoder()
        decoder.learn({"apiVersion": "v1", "kind": "List", "items": [pod_manifest(), self.URGENT]})
        assert read_pod({"priorityClassName": "urgent"}, decoder).priority == 7

    def test_a_runtime_class_adds_overhead_selector_and_tolerations(self) -> None:
        decoder = Decoder()
        before = read_pod({"runtimeClassName": "kata"}, decoder)
        assert (before.spec.overhead, len(decoder.warnings)) == ({}, 1)
        assert decoder.decode(self.KATA) == []
        spec = read_pod({"runtimeClassName": "kata"}, decoder).spec
        assert (spec.overhead, spec.node_selector) == ({"cpu": 250 * MILLI}, {"vm": "yes"})
        assert spec.tolerations == (Toleration("vm", "Exists"),)

    def test_a_selector_against_the_runtime_class_is_refused(self) -> None:
        decoder = Decoder()
        decoder.decode(self.KATA)
        with pytest.raises(InputError, match=r"spec\.nodeSelector\.vm: found no, allowed yes"):
            read_pod({"runtimeClassName": "kata", "nodeSelector": {"vm": "no"}}, decoder)


class TestPodStatus:
    def test_an_assigned_pod_started_when_it_was_created(self) -> None:
        pod = read(pod_manifest({"nodeName": "n"}), now=3 * SECOND)
        assert (pod.node_name, pod.status.start_time) == ("n", 3 * SECOND)

    def test_status_fields(self) -> None:
        status = {
            "phase": "Running",
            "nominatedNodeName": "n1",
            "startTime": "2026-01-01T00:00:02Z",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"},
                {"type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": "m"},
            ],
            "containerStatuses": [
                {
                    "name": "c",
                    "allocatedResources": {"cpu": "2", "memory": "1"},
                    "resources": {"requests": {"cpu": "3"}},
                },
                {"name": "d", "ready": True},
            ],
            "initContainerStatuses": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}],
            "allocatedResources": {"cpu": "4"},
            "resources": {"requests": {"cpu": "5"}},
            "hostIP": "10.0.0.1",
        }
        got = read_pod(status=status).status
        assert (got.phase, got.nominated_node_name, got.start_time) == ("Running", "n1", 2 * SECOND)
        assert got.conditions == (
            Condition("PodScheduled", "True", last_transition_time=SECOND),
            Condition("PodResizePending", "True", "Infeasible", "m"),
        )
        assert got.allocated == {
            "": StatusAmounts({"cpu": 4 * UNIT}, {"cpu": 5 * UNIT}),
            "c": StatusAmounts({"cpu": 2 * UNIT, "memory": UNIT}, {"cpu": 3 * UNIT}),
            "i": StatusAmounts(None, {"cpu": UNIT}),
        }

    def test_a_status_that_shows_no_amounts_counts_only_in_an_infeasible_resize(self) -> None:
        status = {"containerStatuses": [{"name": "c"}], "allocatedResources": {"cpu": "4"}}
        assert read_pod(status=status).status.allocated == {}
        pending = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
        assert read_pod(status={**status, "conditions": pending}).status.allocated == {"": StatusAmounts()}

    def test_the_status_of_the_pod_counts_with_resources_beside_a_request_of_its_own_or_with_both(self) -> None:
        of_pod = {"resources": {"requests": {"cpu": "1"}}}
        shown = {"allocatedResources": {"cpu": "4"}}
        running = {"resources": {"requests": {"cpu": "5"}}}
        assert "" not in read_pod(of_pod, status=shown).status.allocated
        assert "" in read_pod(of_pod, status=running).status.allocated
        assert "" not in read_pod(status=running).status.allocated
        assert "" in read_pod(status={**shown, **running}).status.allocated


class TestGroups:
    def test_a_gang(self) -> None:
        spec: dict[str, Any] = {
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "parentCompositePodGroupName": "root",
            "workloadRef": {"workloadName": "w", "templateName": "t"},
            "schedulingConstraints": {"topology": [{"key": "topology.example.com/rack"}]},
            "disruptionMode": {"all": {}},
            "priority": 5,
            "preemptionPolicy": "Never",
        }
        got = read(group(**spec))
        assert isinstance(got, PodGroup)
        assert (got.key, got.minimum, got.parent_key) == ("podgroup/default/g", 3, "compositepodgroup/default/root")
        assert (got.topology_key, got.disruption_mode) == ("topology.example.com/rack", "all")
        assert (got.priority, got.preemption_policy, got.uid) == (5, "Never", "PodGroup|default/g#1")

    @pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
    def test_a_basic_group_in_both_versions(self, version: str) -> None:
        got = read(group(version=version, schedulingPolicy={"basic": {}}))
        assert (got.gang, got.priority, got.disruption_mode, got.parent_key) == (False, None, "single", None)

    def test_a_composite_group(self) -> None:
        reference = {"workloadName": "w", "templateName": "t"}
        policy = {"gang": {"minGroupCount": 2}}
        manifest = group("CompositePodGroup", "v1alpha3", schedulingPolicy=policy, workloadRef=reference)
        got = read({**manifest, "status": {"conditions": [{"type": "A", "status": "False", "observedGeneration": 4}]}})
        assert isinstance(got, CompositePodGroup)
        assert (got.minimum, got.conditions) == (2, (Condition("A", "False", observed_generation=4),))

    def test_recorded_groups_lack_what_the_api_server_wants(self) -> None:
        manifest = group(schedulingPolicy={"basic": {}}, parentCompositePodGroupName="root")
        with pytest.raises(InputError, match="workloadRef"):
            read(manifest)
        assert read(manifest, Decoder(strict=False)).parent_name == "root"


class TestTheRest:
    def test_a_node(self) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n", "labels": {"zone": "a"}},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
            "status": {
                "allocatable": {"cpu": "3900.5m", "memory": "7.5Gi", "pods": "110", "example.com/gpu": 8, "foo": 1},
                "capacity": {"cpu": "4"},
                "images": [{"names": ["a:1", "b:1"], "sizeBytes": 500}],
                "conditions": [{"type": "Ready", "status": "True"}],
                "declaredFeatures": ["F"],
            },
        }
        node = read(manifest)
        assert isinstance(node, Node)
        assert node.allocatable == Resources(3901, 15 * 2**29, 0, 110, {"example.com/gpu": 8})
        assert (node.unschedulable, node.taints) == (True, (Taint("k", "v", "NoSchedule"),))
        assert node.images == (ContainerImage(("a:1", "b:1"), 500),)
        assert (node.conditions, node.declared_features) == ((("Ready", "True"),), ("F",))

    def test_a_node_without_allocatable_offers_its_capacity(self) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n"},
            "status": {"capacity": {"cpu": "4"}},
        }
        assert read(manifest).allocatable == Resources(4000)
        assert read(manifest, Decoder(Defaults(api_defaulting=False))).allocatable == Resources()

    def test_a_budget_a_namespace_and_selector_owners(self) -> None:
        decoder = Decoder()
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": "50%"},
            "status": {"disruptionsAllowed": 1, "disruptedPods": {"gone": "2026-01-01T00:00:00Z"}},
        }
        selector = LabelSelector((("a", "b"),))
        assert read(budget, decoder) == PodDisruptionBudget("default", "b", selector, 1, frozenset({"gone"}))
        assert not decoder.warnings
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {"x": "y"}}}
        assert read(namespace, decoder) == Namespace("ns", {"x": "y"})
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
        }
        assert read(service, decoder) == SelectorOwner("Service", "default", "s", selector)
        assert read({**service, "spec": {}}, decoder) == SelectorOwner("Service", "default", "s", None)
        replica_set = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "r"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}},
        }
        assert read(replica_set, Decoder(strict=False)) == SelectorOwner("ReplicaSet", "default", "r", selector)

    def test_lists_are_read_item_by_item(self) -> None:
        typed = {
            "apiVersion": "v1",
            "kind": "PodList",
            "items": [{"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}}],
        }
        plain = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": [pod_manifest()]}
        assert [pod.name for pod in Decoder().decode(typed)] == ["a"]
        assert [pod.name for pod in Decoder().decode(plain)] == ["p"]
        assert Decoder().decode({**plain, "items": None}) == []

    def test_other_kinds_are_counted_and_those_that_decide_are_named_once(self) -> None:
        decoder = Decoder()
        for kind, api in [("ConfigMap", "v1"), ("HyperNode", "topology.volcano.sh/v1alpha1")] * 2:
            assert decoder.decode({"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, "any": "thing"}) == []
        assert decoder.skipped == {"ConfigMap": 2, "HyperNode": 2}
        assert decoder.warnings == [
            "HyperNode of topology.volcano.sh/v1alpha1 is not read, its objects are skipped (1 more)"
        ]

    def test_deciding_fields_that_are_not_modelled_are_named_once(self) -> None:
        decoder = Decoder()
        spec = {
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
        }
        pod = read(pod_manifest(spec), decoder, where="f.yaml")
        read(pod_manifest(spec, name="q"), decoder, where="f.yaml")
        assert (pod.spec.claims, pod.spec.resource_claims) == (("data",), ("gpu",))
        assert pod.spec.unsupported == ("volumes[].persistentVolumeClaim", "resourceClaims")
        assert decoder.warnings == [
            "f.yaml: Pod/p: spec.volumes[].persistentVolumeClaim: is not modelled: "
            "no claim is ever bound, so VolumeBinding refuses the pod (1 more)",
            "f.yaml: Pod/p: spec.resourceClaims: is not modelled: "
            "ignored, or refused where the plugin DynamicResources is enabled (1 more)",
        ]

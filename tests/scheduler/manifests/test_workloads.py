# ruff: noqa: E501 - a row of a table is a line
"""Workload kinds become the pods and groups their controllers create."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import pytest
from attrs import frozen

from gangsched.manifests import Decoder, InputError
from gangsched.manifests.workloads.workload import MAX_PODS
from gangsched_framework.objects import Pod, PodGroup, SelectorOwner

CONTAINER = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}


def template(labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": dict(labels or {})}, "spec": {"containers": [CONTAINER], **spec}}


def manifest(kind: str, api: str, name: str, /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def deployment(**spec: Any) -> dict[str, Any]:
    app = {"app": "web"}
    return manifest(
        "Deployment", "apps/v1", "web", **{"selector": {"matchLabels": app}, "template": template(app), **spec}
    )


def job(**spec: Any) -> dict[str, Any]:
    return manifest("Job", "batch/v1", "sum", **{"template": template(restartPolicy="Never"), **spec})


def job_set(*replicated: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    return manifest("JobSet", "jobset.x-k8s.io/v1alpha2", "js", replicatedJobs=list(replicated), **spec)


def volcano(*tasks: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    return manifest("Job", "batch.volcano.sh/v1alpha1", "vj", tasks=list(tasks), **spec)


def leader_worker_set(**templates: Any) -> dict[str, Any]:
    return manifest("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "lws", replicas=2, leaderWorkerTemplate=templates)


@frozen
class Case:
    name: str
    manifest: Mapping[str, Any]
    want_pods: list[str]
    want_owners: list[tuple[str, str]]
    want_groups: Mapping[str, int | None] = MappingProxyType({})
    """PodGroup -> its minimum; all pods belong to the only one."""


WORKER = {
    "name": "w",
    "replicas": 2,
    "template": {"spec": {"parallelism": 2, "completions": 2, "template": template()}},
}
DRIVER = {"name": "d", "template": {"spec": {"completionMode": "NonIndexed", "template": template()}}}

CASES = [
    Case("a job of one pod", job(), ["sum-00000"], [("Job", "sum")]),
    Case("a job of three at once", job(parallelism=3), ["sum-00000", "sum-00001", "sum-00002"], [("Job", "sum")]),
    Case("a job with fewer completions than its parallelism", job(parallelism=5, completions=1), ["sum-00000"], [("Job", "sum")]),
    Case(
        "an indexed job",
        job(parallelism=2, completions=4, completionMode="Indexed"),
        ["sum-0-00000", "sum-1-00000"],
        [("Job", "sum")],
    ),
    Case("a suspended job", job(suspend=True), [], []),
    Case(
        "a job that asks for a gang of its parallelism",
        job(parallelism=2, scheduling={"schedulingPolicy": {"gang": {}}}),
        ["sum-00000", "sum-00001"],
        [("Job", "sum")],
        {"sum": 2},
    ),
    Case(
        "a job that asks for a smaller gang",
        job(parallelism=2, scheduling={"schedulingPolicy": {"gang": {"minCount": 1}}}),
        ["sum-00000", "sum-00001"],
        [("Job", "sum")],
        {"sum": 1},
    ),
    Case(
        "a job that asks for a basic group",
        job(scheduling={"schedulingConstraints": {"topology": [{"key": "rack"}]}}),
        ["sum-00000"],
        [("Job", "sum")],
        {"sum": None},
    ),
    Case(
        "a stateful set that starts at 5",
        manifest("StatefulSet", "apps/v1", "db", selector={"matchLabels": {"a": "b"}}, template=template({"a": "b"}), replicas=2, ordinals={"start": 5}),
        ["db-5", "db-6"],
        [("StatefulSet", "db")],
    ),
    Case(
        "a replica set",
        manifest("ReplicaSet", "apps/v1", "rs", selector={"matchLabels": {"a": "b"}}, template=template({"a": "b"}), replicas=2),
        ["rs-00000", "rs-00001"],
        [("ReplicaSet", "rs")],
    ),
    Case(
        "a replication controller",
        manifest("ReplicationController", "v1", "rc", selector={"a": "b"}, template=template({"a": "b"})),
        ["rc-00000"],
        [("ReplicationController", "rc")],
    ),
    Case(
        "a job set: jobs are indexed unless they say otherwise",
        job_set(WORKER, DRIVER),
        ["js-w-0-0-00000", "js-w-0-1-00000", "js-w-1-0-00000", "js-w-1-1-00000", "js-d-0-00000"],
        [("Job", "js-w-0"), ("Job", "js-w-1"), ("Job", "js-d-0")],
    ),
    Case("a suspended job set", job_set(WORKER, suspend=True), [], []),
    Case(
        "leaders and workers",
        leader_worker_set(size=3, workerTemplate=template()),
        ["lws-0", "lws-0-1", "lws-0-2", "lws-1", "lws-1-1", "lws-1-2"],
        [("StatefulSet", "lws"), ("StatefulSet", "lws-0"), ("StatefulSet", "lws-1")],
    ),
    Case(
        "a Volcano job with minAvailable",
        volcano({"name": "ps", "replicas": 1, "template": template()}, {"replicas": 2, "template": template()}, minAvailable=2),
        ["vj-ps-0", "vj-default1-0", "vj-default1-1"],
        [("Job", "vj")],
        {"vj": 2},
    ),
    Case(
        "a Volcano job without minAvailable needs all its pods",
        volcano({"name": "a", "replicas": 2, "template": template()}),
        ["vj-a-0", "vj-a-1"],
        [("Job", "vj")],
        {"vj": 2},
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_the_pods_of_a_workload(case: Case) -> None:
    objects = Decoder().decode(case.manifest)
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    groups = {obj.name: obj.minimum for obj in objects if isinstance(obj, PodGroup)}
    assert [pod.name for pod in pods] == case.want_pods
    assert list(dict.fromkeys(pod.owner for pod in pods)) == case.want_owners
    assert groups == case.want_groups
    assert {pod.group_name for pod in pods} <= (set(groups) or {""})
    assert len({id(pod.spec) for pod in pods}) <= 1, "pods of one template share their spec"


def test_a_deployment_becomes_a_replica_set_with_pods() -> None:
    owner, *pods = Decoder().decode(deployment(replicas=2))
    assert isinstance(owner, SelectorOwner)
    assert owner.kind == "ReplicaSet"
    assert [pod.name for pod in pods] == [f"{owner.name}-00000", f"{owner.name}-00001"]
    for pod in pods:
        assert isinstance(pod, Pod)
        assert pod.owner == ("ReplicaSet", owner.name)
        assert owner.name == f"web-{pod.labels['pod-template-hash']}"
        assert owner.selector is not None
        assert dict(owner.selector.match_labels) == pod.labels
    again = Decoder().decode(deployment(replicas=1))[0]
    changed = Decoder().decode(deployment(template=template({"app": "web", "v": "2"})))[0]
    assert (again.name, changed.name != owner.name) == (owner.name, True)


def test_an_indexed_job_numbers_its_pods_in_labels_and_annotations() -> None:
    pods = Decoder().decode(job(parallelism=2, completions=2, completionMode="Indexed"))
    key = "batch.kubernetes.io/job-completion-index"
    assert [(pod.labels[key], pod.annotations[key]) for pod in pods] == [("0", "0"), ("1", "1")]  # type: ignore[union-attr]
    assert [pod.labels["job-name"] for pod in pods] == ["sum", "sum"]  # type: ignore[union-attr]


def test_the_pods_of_a_job_set_say_where_they_belong() -> None:
    *_, last = Decoder().decode(job_set(WORKER, DRIVER))
    assert isinstance(last, Pod)
    prefix = "jobset.sigs.k8s.io/"
    got = {key.removeprefix(prefix): value for key, value in last.labels.items() if key.startswith(prefix)}
    assert got.pop("job-key")
    assert got == {
        "jobset-name": "js",
        "replicatedjob-name": "d",
        "replicatedjob-replicas": "1",
        "job-index": "0",
        "group-name": "default",
        "restart-attempt": "0",
        "global-replicas": "3",
        "job-global-index": "2",
    }


def test_leaders_and_workers_are_told_apart() -> None:
    pods = Decoder().decode(leader_worker_set(size=2, leaderTemplate=template(priority=5), workerTemplate=template()))
    prefix = "leaderworkerset.sigs.k8s.io/"
    assert [
        (pod.priority, pod.labels[f"{prefix}group-index"], pod.labels[f"{prefix}worker-index"])  # type: ignore[union-attr]
        for pod in pods
    ] == [(5, "0", "0"), (0, "0", "1"), (5, "1", "0"), (0, "1", "1")]
    assert pods[1].annotations[f"{prefix}leader-name"] == "lws-0"  # type: ignore[union-attr]


def test_a_volcano_job_hands_its_queue_scheduler_and_class_down() -> None:
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 7}
    decoder = Decoder()
    decoder.decode(urgent)
    task = {"name": "a", "replicas": 1, "template": template()}
    group, pod = decoder.decode(volcano(task, queue="research", priorityClassName="urgent"))
    assert isinstance(group, PodGroup)
    assert isinstance(pod, Pod)
    assert (group.priority, pod.priority, pod.scheduler_name) == (7, 7, "volcano")
    assert group.annotations["scheduling.volcano.sh/queue-name"] == "research"
    assert pod.annotations["scheduling.k8s.io/group-name"] == pod.group_name == group.name
    assert pod.labels["volcano.sh/task-spec"] == "a"


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param({"uid": "0a1b"}, id="it has a uid"),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "a/v1", "kind": "Set", "name": "s", "uid": "1", "controller": True}]},
            id="another controller owns it",
        ),
    ],
)
def test_what_was_read_from_a_cluster_is_not_expanded(mark: Mapping[str, Any]) -> None:
    decoder = Decoder()
    one = job()
    one["metadata"].update(mark)
    assert decoder.decode(one) == []
    assert decoder.warnings == ["Job/sum: was read from a cluster, so its pods are expected as objects of their own"]


@pytest.mark.parametrize(
    "bad, want",
    [
        pytest.param(job(template=None), "Job/sum: spec.template: found nothing", id="no template"),
        pytest.param(job(template=template()), 'spec.template.spec.restartPolicy: found text "Always"', id="a job that restarts for ever"),
        pytest.param(job(parallelism=-1), "Job/sum: spec.parallelism: found number -1, allowed at least 0", id="negative parallelism"),
        pytest.param(job(parallelism=2**31 - 1), f"Job/sum: spec.parallelism: found {2**31 - 1} pods, allowed at most {MAX_PODS}", id="more pods than fit"),
        pytest.param(job(completionMode="Indexed"), "Job/sum: spec.completions: found nothing", id="indexed without completions"),
        pytest.param(job(scheduling={"schedulingPolicy": {"gang": {"minCount": 0}}}), "Job/sum: spec.scheduling.schedulingPolicy.gang.minCount: found number 0", id="a gang of nobody"),
        pytest.param(deployment(selector={"matchLabels": {"app": "db"}}), 'Deployment/web: spec.template.metadata.labels.app: found text "web", allowed db', id="labels that do not match"),
        pytest.param(deployment(selector=None), "Deployment/web: spec.selector: found nothing", id="no selector"),
        pytest.param(deployment(replicas=0, template=template({"app": "web"}, priorityClassName="x")) | {"spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template({"app": "web"}, tolerations=[{"effect": "No"}])}}, 'Deployment/web: spec.template.spec.tolerations[0].effect: found text "No"', id="a bad template without replicas"),
        pytest.param(deployment(template=template({"app": "web"}, containers=[])), "Deployment/web: spec.template.spec.containers: found nothing", id="no containers"),
        pytest.param(deployment(replica=2), "Deployment/web: spec.replica: found an unknown field, allowed the fields of DeploymentSpec; did you mean replicas?", id="an unknown field"),
        pytest.param(job_set({"name": "A", "template": {}}), 'JobSet/js: spec.replicatedJobs[0].name: found text "A"', id="a bad job name"),
        pytest.param(job_set(WORKER, WORKER), "JobSet/js: spec.replicatedJobs[1].name: found the same twice", id="two jobs of one name"),
        pytest.param(job_set({**WORKER, "replicas": 2**30}), f"JobSet/js: spec.replicatedJobs: found {2**30} jobs", id="more jobs than fit"),
        pytest.param(job_set({**WORKER, "replicas": 60_000}), "JobSet/js: spec.replicatedJobs[0].template.spec.parallelism: found 100002 pods", id="more pods of jobs than fit"),
        pytest.param(leader_worker_set(size=0, workerTemplate=template()), "LeaderWorkerSet/lws: spec.leaderWorkerTemplate.size: found number 0", id="a group without leader"),
        pytest.param(leader_worker_set(size=1), "LeaderWorkerSet/lws: spec.leaderWorkerTemplate.workerTemplate: found nothing", id="no worker template"),
        pytest.param(volcano(), "Job/vj: spec.tasks: found nothing", id="no tasks"),
        pytest.param(volcano({"replicas": 2, "template": template()}, minAvailable=3), "Job/vj: spec.minAvailable: found number 3, allowed 0 to 2", id="a minimum beyond the replicas"),
        pytest.param(volcano({"name": "a"}, {"name": "a"}), "Job/vj: spec.tasks[1].name: found the same twice", id="two tasks of one name"),
    ],
)  # fmt: skip
def test_bad_workloads_are_refused_with_the_path_in_the_workload(bad: Mapping[str, Any], want: str) -> None:
    with pytest.raises(InputError) as caught:
        Decoder().decode(bad)
    assert want in str(caught.value)


def test_fields_of_workloads_that_decide_are_named() -> None:
    decoder = Decoder()
    decoder.decode(job_set(WORKER, startupPolicy={"startupPolicyOrder": "InOrder"}))
    decoder.decode(volcano({"replicas": 1, "template": template(), "dependsOn": {"name": ["x"]}}))
    assert decoder.warnings == [
        "JobSet/js: spec.startupPolicy: is not modelled and decides nothing here",
        "Job/vj: spec.tasks[].dependsOn: is not modelled and decides nothing here",
    ]

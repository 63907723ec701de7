# ruff: noqa: E501 - the error lines of the tables are lines
"""Every kind of bad input ends in one InputError that says where, what was found and what is allowed."""

from __future__ import annotations

import gzip
import io
import json
import time
from operator import attrgetter
from pathlib import Path

import pytest
from attrs import frozen

from gangsched.manifests import Decoder, InputError, read_files
from gangsched_framework import strict_yaml

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: web-0
spec:
  containers:
  - name: main
    image: registry.example.com/web:1
    resources:
      requests:
        cpu: 500m
"""
GROUP = """\
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata:
  name: train
spec:
  schedulingPolicy:
    gang:
      minCount: 4
"""
COMPOSITE = """\
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata:
  name: root
spec:
  workloadRef:
    workloadName: w
    templateName: t
  schedulingPolicy:
    gang:
      minGroupCount: 2
"""
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: node-1
spec:
  taints:
  - key: gpu
    effect: NoSchedule
status:
  capacity:
    cpu: "4"
"""


@frozen
class Case:
    """A file that must be refused, and the error's text after the directory."""

    name: str
    content: str | bytes
    want: str
    file: str = "in.yaml"


def changed(manifest: str, old: str, new: str) -> str:
    assert old in manifest
    return manifest.replace(old, new)


def pod_with(fields: str) -> str:
    return POD + "".join(f"  {line}\n" for line in fields.splitlines())


def deep_json(depth: int) -> str:
    return '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":' + '{"a":' * depth + "1" + "}" * depth + "}"


def alias_bomb() -> str:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    return "\n".join(rows)


TEXTS = [
    Case("broken YAML", "a: [1, 2\nb: 3\n", "in.yaml:2: did not find expected ',' or ']'"),
    Case("broken JSON", '{"a": \n }', "in.json:2: found broken JSON: expecting value", "in.json"),
    Case("JSON cut short", '{"kind": "Pod", "metada', "in.json:1: found broken JSON: unterminated string", "in.json"),
    Case("JSON with a trailing comma", '{"a": 1,}', "in.json:1: found broken JSON: ", "in.json"),
    Case("two JSON values without meaning", '{"kind":"X"} x', "in.json:1: found broken JSON: ", "in.json"),
    Case(
        "a JSON list at the top",
        "[1]",
        "in.json:1: found a list, allowed an object with apiVersion and kind",
        "in.json",
    ),
    Case("a text at the top", "hello\n", 'in.yaml:1: found text "hello", allowed an object with apiVersion and kind'),
    Case("broken gzip", b"\x1f\x8b\x07\x00garbage", "in.yaml.gz: found broken gzip", "in.yaml.gz"),
    Case("no gzip at all", POD.encode(), "in.yaml.gz: found broken gzip", "in.yaml.gz"),
    Case("cut gzip", gzip.compress(POD.encode())[:-12], "in.yaml.gz: found a cut gzip file", "in.yaml.gz"),
    Case("an empty file", "", "in.yaml: found no object, allowed manifests"),
    Case("an empty JSON file", "", "in.json: found no object, allowed manifests", "in.json"),
    Case("only comments and separators", "# a\n---\n---\n", "in.yaml: found no object, allowed manifests"),
    Case("an empty gzip file", b"", "in.yaml.gz: found a cut gzip file", "in.yaml.gz"),
    Case("UTF-16", POD.encode("utf-16"), "in.yaml:1: found UTF-16, allowed UTF-8"),
    Case("UTF-16 JSON", '{"a": 1}'.encode("utf-16"), "in.json:1: found UTF-16, allowed UTF-8", "in.json"),
    Case("Latin-1", b"a: 1\nb: caf\xe9\n", "in.yaml:2: found byte 0xe9, allowed UTF-8 text"),
    Case("a null character", b"a: \x00\n", "in.yaml:1: "),
    Case("a tab as indentation", "a:\n\tb: 1\n", "in.yaml:2: found character that cannot start any token"),
    Case(
        "a Python tag",
        "a: !!python/object/apply:os.system [ls]\n",
        "in.yaml:1: tag !!python/object/apply:os.system is not allowed",
    ),
    Case("a tag of its own", "a: !secret x\n", "in.yaml:1: tag !secret is not allowed"),
    Case(
        "a duplicate key",
        changed(POD, "  name: web-0\n", "  name: a\n  name: b\n"),
        'in.yaml:5: key "name" already set in map',
    ),
    Case(
        "a duplicate key in JSON",
        '{"kind": "Pod",\n "metadata": {"name": "a",\n "name": "b"}}',
        "in.json:3: metadata.name: found this key twice",
        "in.json",
    ),
    Case("NaN in JSON", '{"a": [1,\n NaN]}', "in.json:2: a[1]: found NaN, allowed finite numbers", "in.json"),
    Case(
        "a JSON number without end",
        changed(
            json.dumps(
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": 7}}}
            ),
            "7",
            "1e999",
        ),
        "in.json:1: Node/n: status.capacity.cpu: found inf, which is no finite number",
        "in.json",
    ),
    Case("half a character in JSON", '{"a": "\\ud800"}', "in.json:1: found text", "in.json"),
    Case(
        "a number of 5,000 digits in JSON",
        '{"a": ' + "9" * 5000 + "}",
        "in.json:1: found a number that is too long",
        "in.json",
    ),
    Case("an object as a key", "{{.Index}}: 1\n", "in.yaml:1: a key must be text"),
    Case("a template as a value", "metadata:\n  name: {{.Name}}\n", "in.yaml:2: metadata.name: a key must be text"),
    Case("an alias bomb", alias_bomb(), "in.yaml:5: the aliases expand to more than 100000 values"),
    Case("a recursive alias", "a: &a\n  b: *a\n", "in.yaml:2: alias *a stands inside its own anchor"),
    Case("an alias of nothing", "a: *nobody\n", "in.yaml:1: alias *nobody has no anchor before it"),
    Case("YAML nested 5,000 deep", "[" * 5000 + "]" * 5000, "in.yaml:1: nested deeper than 100 levels"),
    Case("YAML nested 300 deep", "[" * 300 + "]" * 300, "in.yaml:1: nested deeper than 100 levels"),
    Case("JSON nested 5,000 deep", deep_json(5000), "in.json:1: found values nested too deeply", "in.json"),
    Case("JSON nested 300 deep", deep_json(300), "in.json:1: Pod/p: spec.a: found an unknown field", "in.json"),
    Case(
        "two default classes",
        "---\n".join(
            f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: 1\nglobalDefault: true\n"
            for name in "ab"
        ),
        "in.yaml:11: PriorityClass/b: globalDefault: found true, allowed false, as a is the default",
    ),
    Case(
        "a quantity of no number",
        changed(POD, "500m", ".nan"),
        "in.yaml:11: spec.containers[0].resources.requests.cpu: .nan is not a finite number",
    ),
    Case(
        "an infinite quantity",
        changed(POD, "500m", ".inf"),
        "in.yaml:11: spec.containers[0].resources.requests.cpu: .inf is not a finite number",
    ),
]

OBJECTS = [
    Case("no kind", changed(POD, "kind: Pod\n", ""), "in.yaml:1: web-0: kind: found nothing, allowed text"),
    Case("an empty kind", changed(POD, "kind: Pod", 'kind: ""'), "in.yaml:2: web-0: kind: found empty text, allowed text"),
    Case("a kind that is a number", changed(POD, "kind: Pod", "kind: 7"), "in.yaml:2: web-0: kind: found number 7, allowed text"),
    Case("a kind that is a list", changed(POD, "kind: Pod", "kind: [Pod]"), "in.yaml:2: web-0: kind: found a list, allowed text"),
    Case(
        "an unknown kind of a known group",
        changed(POD, "kind: Pod", "kind: Pood"),
        'in.yaml:2: Pood/web-0: kind: found "Pood", allowed a kind of v1; did you mean Pod?',
    ),
    Case(
        "a kind of another group",
        changed(GROUP, "scheduling.k8s.io/v1beta1", "v1"),
        "in.yaml:1: PodGroup/train: apiVersion: found PodGroup of v1, "
        "allowed PodGroup of scheduling.k8s.io/v1beta1 or scheduling.k8s.io/v1alpha3",
    ),
    Case(
        "an unknown version",
        changed(GROUP, "v1beta1", "v7"),
        'in.yaml:1: PodGroup/train: apiVersion: found text "scheduling.k8s.io/v7", '
        "allowed scheduling.k8s.io/v1beta1 or scheduling.k8s.io/v1alpha3",
    ),
    Case("no apiVersion", changed(POD, "apiVersion: v1\n", ""), "in.yaml:1: Pod/web-0: apiVersion: found nothing, allowed text"),
    Case("no metadata", "apiVersion: v1\nkind: Node\n", "in.yaml:1: Node: metadata.name: found nothing, allowed a name"),
    Case("no name", changed(POD, "  name: web-0\n", "  labels: {}\n"), "in.yaml:3: Pod: metadata.name: found nothing, allowed a name"),
    Case("an empty name", changed(POD, "name: web-0", 'name: ""'), "in.yaml:4: Pod: metadata.name: found empty text, allowed a name"),
    Case(
        "a name that is a number",
        changed(POD, "name: web-0", "name: 12"),
        'in.yaml:4: Pod: metadata.name: found number 12, allowed text; did you mean "12" in quotes?',
    ),
    Case("a name that is a list", changed(POD, "name: web-0", "name: [a]"), "in.yaml:4: Pod: metadata.name: found a list, allowed text"),
    Case(
        "a name the API server refuses",
        changed(POD, "name: web-0", "name: Web_0"),
        'in.yaml:4: Pod/Web_0: metadata.name: found text "Web_0", allowed at most 253 lower case letters',
    ),
    Case(
        "a name that would write on the terminal",
        changed(POD, "name: web-0", 'name: "a\\e[31mb"'),
        'in.yaml:4: Pod/a\\x1b[31mb: metadata.name: found text "a\\x1b[31mb", allowed at most 253 lower case letters',
    ),
    Case(
        "a bad namespace",
        changed(POD, "name: web-0", "name: web-0\n  namespace: a.b"),
        'in.yaml:5: Pod/web-0: metadata.namespace: found text "a.b", allowed at most 63 lower case letters',
    ),
    Case(
        "a namespace for a node",
        changed(NODE, "name: node-1", "name: node-1\n  namespace: default"),
        "in.yaml:5: Node/node-1: metadata.namespace: found text \"default\", allowed nothing: a Node has no namespace",
    ),
    Case(
        "a bad label value",
        changed(POD, "name: web-0", "name: web-0\n  labels: {app: -x}"),
        'in.yaml:5: Pod/web-0: metadata.labels.app: found text "-x", allowed at most 63 letters',
    ),
    Case(
        "a label that is a number",
        changed(POD, "name: web-0", "name: web-0\n  labels: {index: 3}"),
        'in.yaml:5: Pod/web-0: metadata.labels.index: found number 3, allowed text; did you mean "3" in quotes?',
    ),
    Case(
        "a bad label key",
        changed(POD, "name: web-0", "name: web-0\n  labels: {a b: x}"),
        'in.yaml:5: Pod/web-0: metadata.labels.a b: found text "a b", allowed a name of at most 63 letters',
    ),
    Case(
        "a bad creation time",
        changed(POD, "name: web-0", "name: web-0\n  creationTimestamp: 2026-02-30T00:00:00Z"),
        'in.yaml:5: Pod/web-0: metadata.creationTimestamp: found text "2026-02-30T00:00:00Z", allowed a day of the calendar',
    ),
    Case(
        "a creation time that is a number",
        changed(POD, "name: web-0", "name: web-0\n  creationTimestamp: 5"),
        "in.yaml:5: Pod/web-0: metadata.creationTimestamp: found number 5, allowed a time such as 2026-01-01T00:00:00Z",
    ),
    Case("no spec", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "in.yaml:1: Pod/p: spec: found nothing, allowed a pod spec"),
    Case("a spec that is a list", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: []\n", "in.yaml:4: Pod/p: spec: found a list, allowed an object"),
    Case("a spec that is a text", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: x\n", "in.yaml:4: Pod/p: spec: found text"),
    Case("no containers", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n", "in.yaml:4: Pod/p: spec.containers: found nothing"),
    Case(
        "an unknown field",
        changed(POD, "  containers:", "  contaners:"),
        "in.yaml:6: Pod/web-0: spec.contaners: found an unknown field, allowed the fields of PodSpec; did you mean containers?",
    ),
    Case("an unknown field deep down", changed(POD, "requests:", "request:"), "in.yaml:10: Pod/web-0: spec.containers[0].resources.request: found"),
    Case("an unknown field at the top", POD + "sepc: {}\n", "in.yaml:12: Pod/web-0: sepc: found an unknown field"),
    Case("an unknown field of metadata", changed(POD, "name: web-0", "name: web-0\n  label: {}"), "in.yaml:5: Pod/web-0: metadata.label: found"),
    Case(
        "a wrong type",
        changed(POD, "image: registry.example.com/web:1", "image: 5"),
        "in.yaml:8: Pod/web-0: spec.containers[0].image: found number 5, allowed text",
    ),
    Case("a null item", changed(POD, "  containers:", "  tolerations: [null]\n  containers:"), "in.yaml:6: Pod/web-0: spec.tolerations[0]: found null"),
    Case(
        "a bad quantity",
        changed(POD, "500m", "five"),
        'in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found text "five", allowed a quantity such as',
    ),
    Case("a negative quantity", changed(POD, "500m", "-1"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found number -1, allowed a quantity such as 2, 500m or 1.5Gi (must not be negative)"),
    Case("an overflowing quantity", changed(POD, "500m", "1e30"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found number 1e+30"),
    Case("an overflowing whole number", changed(POD, "500m", "9" * 60), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found"),
    Case("a quantity without a digit", changed(POD, "500m", "'m'"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found text"),
    Case("a quantity that is true", changed(POD, "500m", "true"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.cpu: found true"),
    Case("a misspelt resource", changed(POD, "cpu: 500m", "memroy: 1Gi"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.memroy: found an unknown resource, allowed cpu, memory, ephemeral-storage, hugepages-*, or a name with a domain such as example.com/gpu; did you mean memory?"),
    Case("an unknown resource", changed(POD, "cpu: 500m", "gpu: 1"), "in.yaml:11: Pod/web-0: spec.containers[0].resources.requests.gpu: found an unknown"),
    Case(
        "a device without a limit",
        changed(POD, "cpu: 500m", "nvidia.com/gpu: 1"),
        'in.yaml:11: Pod/web-0: spec.containers[0].resources.requests["nvidia.com/gpu"]: found no limit, allowed an equal limit',
    ),
    Case(
        "a part of a huge page",
        changed(POD, "      requests:", "      limits: {cpu: 1, hugepages-2Mi: 3Mi}\n      requests:"),
        "in.yaml:10: Pod/web-0: spec.containers[0].resources.limits.hugepages-2Mi: found a part of a page, allowed a multiple of 2Mi",
    ),
    Case(
        "huge pages of no size",
        changed(POD, "      requests:", "      limits: {cpu: 1, hugepages-big: 3Mi}\n      requests:"),
        "in.yaml:10: Pod/web-0: spec.containers[0].resources.limits.hugepages-big: found pages of big, allowed a size of pages",
    ),
    Case(
        "a request beyond its limit",
        changed(POD, "      requests:", "      limits: {cpu: 400m}\n      requests:"),
        "in.yaml:12: Pod/web-0: spec.containers[0].resources.requests.cpu: found more than the limit, allowed at most limits",
    ),
    Case("a bad port", pod_with("initContainers:\n- {name: i, image: x, ports: [{containerPort: 70000}]}"), "in.yaml:13: Pod/web-0: spec.initContainers[0].ports[0].containerPort: found number 70000, allowed 1 to 65535"),
    Case("a port of zero", pod_with("initContainers:\n- {name: i, image: x, ports: [{containerPort: 0}]}"), "in.yaml:13: Pod/web-0: spec.initContainers[0].ports[0].containerPort: found number 0, allowed 1 to 65535"),
    Case("a negative host port", pod_with("initContainers:\n- {name: i, image: x, ports: [{containerPort: 1, hostPort: -1}]}"), "in.yaml:13: Pod/web-0: spec.initContainers[0].ports[0].hostPort: found number -1"),
    Case("an unknown protocol", pod_with("initContainers:\n- {name: i, image: x, ports: [{containerPort: 1, protocol: tcp}]}"), 'in.yaml:13: Pod/web-0: spec.initContainers[0].ports[0].protocol: found text "tcp", allowed TCP, UDP, SCTP; did you mean TCP?'),
    Case("a host port in the host network that differs", pod_with("hostNetwork: true\ninitContainers:\n- {name: i, image: x, ports: [{containerPort: 1, hostPort: 2}]}"), "in.yaml:14: Pod/web-0: spec.initContainers[0].ports[0].hostPort: found number 2"),
    Case("two containers of one name", pod_with("initContainers:\n- {name: main, image: x}"), 'in.yaml:7: Pod/web-0: spec.containers[0].name: found text "main" twice'),
    Case("an unknown toleration operator", pod_with("tolerations: [{key: a, operator: exists}]"), 'in.yaml:12: Pod/web-0: spec.tolerations[0].operator: found text "exists", allowed Exists, Equal, Lt, Gt; did you mean Exists?'),
    Case("an unknown effect", pod_with("tolerations: [{key: a, operator: Exists, effect: NoShedule}]"), 'in.yaml:12: Pod/web-0: spec.tolerations[0].effect: found text "NoShedule", allowed NoSchedule, PreferNoSchedule, NoExecute; did you mean NoSchedule?'),
    Case("a toleration without key", pod_with("tolerations: [{value: a}]"), "in.yaml:12: Pod/web-0: spec.tolerations[0].operator: found text \"Equal\", allowed Exists when there is no key"),
    Case(
        "an unknown node selector operator",
        pod_with("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is}]}]}}}"),
        "in.yaml:12: Pod/web-0: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        '.nodeSelectorTerms[0].matchExpressions[0].operator: found text "Is", allowed In, NotIn, Exists, DoesNotExist, Gt, Lt',
    ),
    Case(
        "an affinity weight of zero",
        pod_with("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: zone}}]}}"),
        "in.yaml:12: Pod/web-0: spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: found number 0, allowed 1 to 100",
    ),
    Case("a spread without a skew", pod_with("topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]"), "in.yaml:12: Pod/web-0: spec.topologySpreadConstraints[0].maxSkew: found number 0, allowed at least 1"),
    Case("an unknown spread policy", pod_with("topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Maybe}]"), "in.yaml:12: Pod/web-0: spec.topologySpreadConstraints[0].whenUnsatisfiable: found"),
    Case("an unknown priority class", pod_with("priorityClassName: urgnt"), 'in.yaml:12: Pod/web-0: spec.priorityClassName: found text "urgnt", allowed system-node-critical, system-cluster-critical'),
    Case("a priority its class does not have", pod_with("priorityClassName: system-node-critical\npriority: 5"), "in.yaml:13: Pod/web-0: spec.priority: found number 5, allowed 2000001000, the value of class system-node-critical"),
    Case("a priority beyond 32 bits", pod_with("priority: 99999999999"), "in.yaml:12: Pod/web-0: spec.priority: found number 99999999999, allowed a whole number of 32 bits"),
    Case("a node and a scheduling gate", pod_with("nodeName: n\nschedulingGates: [{name: a}]"), 'in.yaml:12: Pod/web-0: spec.nodeName: found text "n", allowed nothing as long as there are schedulingGates'),
    Case("a scheduling group without a name", pod_with("schedulingGroup: {}"), "in.yaml:12: Pod/web-0: spec.schedulingGroup.podGroupName: found nothing"),
    Case("a bad phase", POD + "status: {phase: Runing}\n", 'in.yaml:12: Pod/web-0: status.phase: found text "Runing", allowed Pending, Running'),
    Case("a bad taint effect", changed(NODE, "effect: NoSchedule", "effect: Never"), 'in.yaml:8: Node/node-1: spec.taints[0].effect: found text "Never"'),
    Case("a part of a device", changed(NODE, 'cpu: "4"', 'nvidia.com/gpu: "1.5"'), 'in.yaml:11: Node/node-1: status.capacity["nvidia.com/gpu"]: found a fraction, allowed a whole number'),
    Case("a part of a pod", changed(NODE, 'cpu: "4"', 'pods: 500m'), 'in.yaml:11: Node/node-1: status.capacity.pods: found a fraction, allowed a whole number'),
    Case("a bad node amount", changed(NODE, '"4"', '"4x"'), 'in.yaml:11: Node/node-1: status.capacity.cpu: found text "4x"'),
    Case("both policies", changed(GROUP, "    gang:", "    basic: {}\n    gang:"), "in.yaml:6: PodGroup/train: spec.schedulingPolicy: found basic and gang, allowed exactly one"),
    Case("neither policy", changed(GROUP, "    gang:\n      minCount: 4\n", "    {}\n"), "in.yaml:6: PodGroup/train: spec.schedulingPolicy: found neither, allowed exactly one"),
    Case("no policy", changed(GROUP, "  schedulingPolicy:\n    gang:\n      minCount: 4\n", "  priority: 1\n"), "in.yaml:5: PodGroup/train: spec.schedulingPolicy: found nothing, allowed exactly one"),
    Case("minCount 0", changed(GROUP, "4", "0"), "in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minCount: found number 0, allowed a whole number of at least 1"),
    Case("minCount a text", changed(GROUP, "4", "four"), 'in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minCount: found text "four", allowed a whole number of 32 bits'),
    Case("minCount a float", changed(GROUP, "4", "4.5"), "in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minCount: found number 4.5, allowed a whole number of 32 bits"),
    Case("minCount huge", changed(GROUP, "4", "4" * 30), f"in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minCount: found number {'4' * 30}, allowed a whole number of 32 bits"),
    Case("minCount negative", changed(GROUP, "4", "-4"), "in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minCount: found number -4"),
    Case("minCount absent", changed(GROUP, "gang:\n      minCount: 4", "gang: {}"), "in.yaml:7: PodGroup/train: spec.schedulingPolicy.gang.minCount: found nothing"),
    Case("minGroupCount of a PodGroup", changed(GROUP, "minCount", "minGroupCount"), "in.yaml:8: PodGroup/train: spec.schedulingPolicy.gang.minGroupCount: found an unknown field"),
    Case("a PodGroup priority beyond the user's maximum", GROUP + "  priority: 1000000001\n", "in.yaml:9: PodGroup/train: spec.priority: found number 1000000001, allowed at most 1000000000"),
    Case("disruption of all with the basic policy", changed(GROUP, "gang:\n      minCount: 4", "basic: {}\n  disruptionMode: {all: {}}"), "in.yaml:8: PodGroup/train: spec.disruptionMode: found all with the basic policy"),
    Case("both disruption modes", GROUP + "  disruptionMode: {all: {}, single: {}}\n", "in.yaml:9: PodGroup/train: spec.disruptionMode: found single and all, allowed exactly one"),
    Case("a disruption mode as text", GROUP + "  disruptionMode: all\n", 'in.yaml:9: PodGroup/train: spec.disruptionMode: found text "all", allowed an object'),
    Case("two topology constraints", GROUP + "  schedulingConstraints: {topology: [{key: a}, {key: b}]}\n", "in.yaml:9: PodGroup/train: spec.schedulingConstraints.topology: found 2 constraints, allowed at most one"),
    Case("a parent without workloadRef", GROUP + "  parentCompositePodGroupName: root\n", "in.yaml:5: PodGroup/train: spec.workloadRef: found nothing, allowed a workloadRef, as the group has a parent"),
    Case("a composite group without workloadRef", changed(COMPOSITE, "  workloadRef:\n    workloadName: w\n    templateName: t\n", ""), "in.yaml:5: CompositePodGroup/root: spec.workloadRef: found nothing"),
    Case("an unknown class of a group", GROUP + "  priorityClassName: high\n", 'in.yaml:9: PodGroup/train: spec.priorityClassName: found text "high"'),
    Case("an item of a List that is no object", "apiVersion: v1\nkind: List\nitems:\n- 5\n", "in.yaml:4: List: items[0]: found number 5, allowed an object"),
    Case("items that are no list", "apiVersion: v1\nkind: List\nitems: x\n", 'in.yaml:3: List: items: found text "x", allowed a list'),
    Case(
        "a bad item of a List",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: B\n",
        'in.yaml:8: Node/B: items[1].metadata.name: found text "B"',
    ),
    Case(
        "a misspelt restart policy of an init container",
        pod_with("initContainers: [{name: i, image: x, restartPolicy: always}]"),
        'in.yaml:12: Pod/web-0: spec.initContainers[0].restartPolicy: found text "always", allowed Always',
    ),
    Case(
        "an init container that is restarted on failure without rules",
        pod_with("initContainers: [{name: i, image: x, restartPolicy: OnFailure}]"),
        'in.yaml:12: Pod/web-0: spec.initContainers[0].restartPolicy: found text "OnFailure", allowed Always',
    ),
    Case("a List of another version", "apiVersion: v2\nkind: List\nitems: []\n", 'in.yaml:1: List: apiVersion: found text "v2", allowed v1'),
    Case("a List without version", "kind: List\nitems: []\n", "in.yaml:1: List: apiVersion: found nothing, allowed v1"),
    Case("a List without items", "apiVersion: v1\nkind: List\n", "in.yaml:1: List: items: found nothing, allowed a list"),
    Case("a List with a misspelt field", "apiVersion: v1\nkind: List\nitem: []\n", "in.yaml:3: List: item: found an unknown field, allowed apiVersion, kind, metadata, items"),
    Case("a List in a List", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: []}\n", "in.yaml:4: List: items[0]: found a list of objects"),
    Case("a budget with both bounds", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, maxUnavailable: 1}\n", "in.yaml:4: PodDisruptionBudget/b: spec: found minAvailable and maxUnavailable"),
    Case("a class without a value", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: c}\n", "in.yaml:1: PriorityClass/c: value: found nothing"),
    Case("a class of the system", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: system-x}\nvalue: 1\n", 'in.yaml:3: PriorityClass/system-x: metadata.name: found text "system-x"'),
]  # fmt: skip


def refusal(tmp_path: Path, case: Case) -> str:
    path = tmp_path / case.file
    path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    started = time.monotonic()
    with pytest.raises(InputError) as caught:
        read_files([str(path)])
    assert time.monotonic() - started < 5
    return str(caught.value).removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize("case", TEXTS + OBJECTS, ids=attrgetter("name"))
def test_bad_input_is_refused_in_one_line_that_names_the_place(case: Case, tmp_path: Path) -> None:
    text = refusal(tmp_path, case)
    assert text.startswith(case.want) or (not case.want.startswith("in.") and case.want in text), text
    assert "\n" not in text
    assert text.isprintable()


@pytest.mark.parametrize("case", OBJECTS, ids=attrgetter("name"))
def test_the_same_object_as_json_is_refused_for_the_same_reason(case: Case, tmp_path: Path) -> None:
    assert isinstance(case.content, str)
    (document,) = strict_yaml.parse(case.content, "")
    text = refusal(tmp_path, Case(case.name, json.dumps(document, indent=1), "", "in.json"))
    assert text.split(": ", 1)[1].startswith(case.want.split(": ", 1)[1]), text


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"^no/such\.yaml: cannot be read: no such file"):
        read_files(["no/such.yaml"])


def test_an_empty_name_and_standard_input_are_named_too() -> None:
    with pytest.raises(InputError, match=r'^"": cannot be read: no such file'):
        read_files([""])
    with pytest.raises(InputError, match=r"^<stdin>: found no object, allowed manifests"):
        read_files(["-"], stdin=io.BytesIO())


def test_a_long_name_is_shown_whole() -> None:
    path = "/".join(["a" * 50] * 4) + ".yaml"
    with pytest.raises(InputError) as caught:
        read_files([path])
    assert str(caught.value) == f"{path}: cannot be read: no such file or directory"


def test_a_directory_without_manifests_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found no manifest, allowed \*\.yaml"):
        read_files([str(tmp_path)])


def test_a_small_archive_of_a_huge_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gangsched.manifests.sources.MAX_BYTES", 2**20)
    path = tmp_path / "bomb.yaml.gz"
    path.write_bytes(gzip.compress(b"#" * 2**22))
    with pytest.raises(InputError, match="found more, allowed 1 MiB of text"):
        read_files([str(path)])


def test_an_error_of_a_bare_object_carries_the_given_place() -> None:
    with pytest.raises(InputError) as caught:
        Decoder().decode({"apiVersion": "v1", "kind": "Node", "metadata": {}}, where="trace.jsonl:7")
    assert str(caught.value) == "trace.jsonl:7: Node: metadata.name: found nothing, allowed a name"


@pytest.mark.parametrize(
    "manifest",
    [5, None, [], "x", {}, {"kind": ["Pod"], "apiVersion": {}}, {"kind": "Pod", "apiVersion": "v1", "metadata": 1}],
    ids=repr,
)
def test_any_value_at_all_is_refused_without_a_traceback(manifest: object) -> None:
    with pytest.raises(InputError):
        Decoder().decode(manifest)  # type: ignore[arg-type]


def test_a_manifest_that_contains_itself_is_refused() -> None:
    spec: dict[str, object] = {"containers": [{"name": "c", "image": "x"}]}
    spec["affinity"] = spec
    with pytest.raises(InputError, match=r"spec\.affinity\.containers: found an unknown field"):
        Decoder().decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})

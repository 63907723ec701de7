"""Bad configuration files: one line with file, line and what helps, whatever the file holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsched.config import ConfigFileError, load_config
from gangsched_framework.errors import ConfigurationError
from gangsched_framework.registry import Registry
from tests.scheduler.config.conftest import HEAD

TOP = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
)

FILES: dict[str, tuple[str | bytes, str]] = {
    "broken YAML": ("apiVersion: [", ":1: did not find expected node content"),
    "broken JSON": ('{"kind": "KubeSchedulerConfiguration",', ":1: did not find expected node content"),
    "not UTF-8": (TOP.encode("utf-16"), ":1: the file is not UTF-8 text"),
    "compressed": (b"\x1f\x8b\x08\x00\x00", ":1: the file is not UTF-8 text"),
    "a tab as indentation": (TOP + "profiles:\n\t- {}", ":4: found character that cannot start any token"),
    "a duplicate key": (TOP + "parallelism: 4\nparallelism: 5", ':4: key "parallelism" already set in map'),
    "a duplicate key in JSON": ('{"kind": "a",\n"kind": "b"}', ':2: key "kind" already set in map'),
    "an alias bomb": (BOMB, ":6: the aliases expand to more than 100000 values"),
    "a recursive alias": (TOP + "profiles: &p [*p]", ":3: alias *p stands inside its own anchor"),
    "a Python tag": (TOP + "profiles: !!python/tuple []", ":3: tag !!python/tuple is not allowed"),
    "nesting 5,000 deep": (TOP + "profiles: " + "[" * 5000, ":3: nested deeper than 100 levels"),
    "an empty file": ("", ": Object 'Kind' is missing in ''; write kind: KubeSchedulerConfiguration"),
    "only a comment": ("# nothing\n", ": Object 'Kind' is missing in ''; write kind: KubeSchedulerConfiguration"),
    "a missing kind": ("apiVersion: kubescheduler.config.k8s.io/v1", ":1: Object 'Kind' is missing in '{"),
    "an empty kind": ("kind: ''", ":1: Object 'Kind' is missing in '{"),
    "a kind that is no text": (
        "apiVersion: a\nkind: [x]",
        ':2: no kind ["x"] is registered for version "a"; allowed: kind',
    ),
    "a missing version": ("kind: KubeSchedulerConfiguration", ":1: Object 'apiVersion' is missing in '{"),
    "an old version": (
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration",
        ':1: no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"; ',
    ),
    "another kind": (
        "apiVersion: v1\nkind: Pod",
        ':2: no kind "Pod" is registered for version "v1"; allowed: kind Kube',
    ),
    "a list": ("- a", ":1: document: found a list, allowed a mapping"),
    "text": ("hello", ':1: document: found the text "hello", allowed a mapping'),
    "two documents": (TOP + "---\n" + TOP, ":4: found 2 documents, allowed one"),
    "an unknown field": (TOP + "profile: []", ':3: unknown field "profile"; did you mean "profiles"?'),
    "an unknown field in the wrong case": (
        TOP + "Profiles: []",
        ':3: unknown field "Profiles"; did you mean "profiles"?',
    ),
    "an unknown point": (
        TOP + "profiles:\n- plugins:\n    filters: {}",
        ':5: unknown field "profiles[0].plugins.filters"; did you mean "filter"?',
    ),
    "an unknown field in a plugin": (
        TOP + "profiles:\n- plugins:\n    score:\n      enabled:\n      - {name: NodeAffinity, wieght: 2}",
        ':7: unknown field "profiles[0].plugins.score.enabled[0].wieght"; did you mean "weight"?',
    ),
    "an unknown argument": (
        TOP + "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeigth: 1",
        ':7: unknown field "profiles[0].pluginConfig[0].args.hardPodAffinityWeigth"; '
        'did you mean "hardPodAffinityWeight"?',
    ),
    "an unknown field with a line break and a colour in it": (
        TOP + '"a\\n\\e[31mb": 1',
        r':3: unknown field "a\n\x1b[31mb"',
    ),
    "a scheduler name with a line break in it": (
        TOP + 'profiles:\n- schedulerName: "a\\nb"\n  plugins: {bind: {disabled: [{name: "*"}]}}',
        r":4: initializing profiles: creating profile for scheduler name a\nb: at least one bind plugin is needed",
    ),
    "a misspelt node order": (
        TOP + "nodeOrder: upstrem",
        ':3: nodeOrder: found the text "upstrem", allowed name or upstream; did you mean "upstream"?',
    ),
    "two unknown fields": (TOP + "a: 1\nb: 2", ':3: unknown field "a", unknown field "b"'),
    "an unknown choice about groups": (
        TOP + "groupScheduling:\n  childOrders: name",
        ':4: unknown field "groupScheduling.childOrders"; did you mean "childOrder"?',
    ),
    "a choice that is not there": (
        TOP + "groupScheduling:\n  childOrder: Smallest",
        ':4: groupScheduling.childOrder: found the text "Smallest", allowed name, creation, smallest or hardest; '
        'did you mean "smallest"?',
    ),
    "text for true or false": (
        TOP + "groupScheduling:\n  preCheck: maybe",
        ':4: groupScheduling.preCheck: found the text "maybe", allowed true or false',
    ),
    "a list for a choice": (
        TOP + "groupScheduling:\n  evaluation: [greedy]",
        ":4: groupScheduling.evaluation: found a list, allowed greedy or doubleRun",
    ),
    "text for the choices": (
        TOP + "groupScheduling: doubleRun",
        ':3: groupScheduling: found the text "doubleRun", allowed a mapping',
    ),
    "text for a number": (
        TOP + "parallelism: four",
        ':3: parallelism: found the text "four", allowed a whole number of 32',
    ),
    "a quoted number": (
        TOP + "parallelism: '4'",
        ':3: parallelism: found the text "4", allowed a whole number of 32 bits',
    ),
    "a fraction": (
        TOP + "podMaxBackoffSeconds: 1.5",
        ":3: podMaxBackoffSeconds: found the number 1.5, allowed a whole",
    ),
    "true for a number": (TOP + "parallelism: yes", ":3: parallelism: found true, allowed a whole number of 32 bits"),
    "a number beyond its bits": (
        TOP + "parallelism: 2147483648",
        ":3: parallelism: found the number 2147483648, allowed",
    ),
    "a number that is none": (TOP + "parallelism: .nan", ":3: parallelism: .nan is not a finite number"),
    "an infinite number": (
        TOP + "clientConnection: {qps: 1e999}",
        ":3: clientConnection.qps: 1e999 is not a finite number",
    ),
    "a huge number": (TOP + f"parallelism: {'9' * 50}", ":3: parallelism: found the number 99999999"),
    "a mapping for a list": (TOP + "profiles: {}", ":3: profiles: found a mapping, allowed a list"),
    "nothing in a list": (TOP + "profiles:\n-", ":4: profiles[0]: found nothing, allowed a mapping"),
    "text for a plugin set": (
        TOP + "profiles:\n- plugins: {filter: {enabled: [NodeName]}}",
        ':4: profiles[0].plugins.filter.enabled[0]: found the text "NodeName", allowed a mapping',
    ),
    "a number for a name": (TOP + "profiles:\n- schedulerName: 1", ":4: profiles[0].schedulerName: found the number 1"),
    "text for a flag": (
        TOP + "leaderElection: {leaderElect: maybe}",
        ':3: leaderElection.leaderElect: found the text "maybe", allowed true or false',
    ),
    "a list for arguments": (
        TOP + "profiles:\n- pluginConfig:\n  - {name: TaintToleration, args: []}",
        ":5: profiles[0].pluginConfig[0].args: found a list, allowed a mapping",
    ),
    "extenders": (TOP + "extenders:\n- urlPrefix: http://x", ":4: extenders: HTTP extenders are not supported"),
    "an empty scheduler name": (
        TOP + "profiles:\n- schedulerName: ''",
        ":4: profiles[0].schedulerName: Required value",
    ),
    "a name for each of several profiles": (
        TOP + "profiles:\n- schedulerName: a\n- {}",
        ":5: profiles[1].schedulerName: Required value",
    ),
    "a profile name twice": (
        TOP + "profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 1\n  schedulerName: a",
        ':6: profiles[1].schedulerName: Duplicate value: {}; "a" is the name of profiles[0]',
    ),
    "arguments of a plugin twice": (
        TOP + "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n  - name: NodeAffinity",
        ':6: profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
    ),
    "arguments of a removed plugin": (
        TOP + "profiles:\n- pluginConfig:\n  - name: EBSLimits",
        ':5: profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": was invalid in version "v1" ',
    ),
    "arguments of another version": (
        TOP + "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n"
        "    args: {apiVersion: kubescheduler.config.k8s.io/v1beta1}",
        ":6: decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: "
        'no kind "NodeAffinityArgs" is registered for version "kubescheduler.config.k8s.io/v1beta1"',
    ),
    "arguments of another plugin": (
        TOP + "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: {kind: NodeResourcesFitArgs}",
        ":6: decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
        "NodeAffinityArgs.kubescheduler.config.k8s.io, got NodeResourcesFitArgs.kubescheduler.config.k8s.io",
    ),
    "no threads": (
        TOP + "parallelism: 0",
        ":3: parallelism: Invalid value: 0: should be an integer value greater than",
    ),
    "a percentage of placements above 100": (
        TOP + "percentageOfPlacementsToScore: 101",
        ":3: percentageOfPlacementsToScore: Invalid value: 101: not in valid range [0-100]",
    ),
    "a percentage above 100": (
        TOP + "percentageOfNodesToScore: 101",
        ":3: percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    ),
    "a percentage below 0 in a profile": (
        TOP + "profiles:\n- percentageOfNodesToScore: -1",
        ":4: profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
    ),
    "no initial backoff": (
        TOP + "podInitialBackoffSeconds: 0",
        ":3: podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
    ),
    "an initial backoff beyond the default maximum": (
        TOP + "podInitialBackoffSeconds: 20",
        ":3: podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
    ),
    "a maximum backoff below the initial one": (
        TOP + "podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 2",
        ":4: podMaxBackoffSeconds: Invalid value: 2: must be greater than or equal to PodInitialBackoffSeconds",
    ),
    "a negative maximum backoff": (
        TOP + "podMaxBackoffSeconds: -1",
        ":3: podMaxBackoffSeconds: Invalid value: -1: must",
    ),
    "a backoff longer than time": (
        TOP + "podMaxBackoffSeconds: 9223372037",
        ":3: podMaxBackoffSeconds: Invalid value: 9223372037: not in valid range [0, 9223372036]",
    ),
    "several complaints": (
        TOP + "parallelism: 0\npercentageOfNodesToScore: 101",
        ":3: [parallelism: Invalid value: 0: should be an integer value greater than zero, "
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]]",
    ),
    "an unknown plugin": (
        TOP + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAfinity",
        ":7: initializing profiles: creating profile for scheduler name default-scheduler: "
        'ScorePlugin "NodeAfinity" does not exist; did you mean "NodeAffinity"?',
    ),
    "a plugin at the wrong point": (
        TOP + "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeName",
        ":7: initializing profiles: creating profile for scheduler name default-scheduler: "
        'plugin "NodeName" does not extend ScorePlugin plugin; it serves preFilter, filter',
    ),
    "a plugin without name": (
        TOP + "profiles:\n- plugins:\n    score:\n      enabled:\n      - weight: 1",
        ":7: initializing profiles: creating profile for scheduler name default-scheduler: "
        'ScorePlugin "" does not exist',
    ),
}


@pytest.mark.parametrize(("content", "want"), FILES.values(), ids=FILES)
def test_a_bad_file_is_refused_in_one_line(content: str | bytes, want: str, tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(ConfigurationError) as caught:
        load_config(path, registry=registry)

    text = str(caught.value).removeprefix(str(path))
    assert text.startswith(want)
    assert "\n" not in text


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, registry: Registry) -> None:
    for path, want in ((tmp_path / "none.yaml", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(ConfigurationError) as caught:
            load_config(path, registry=registry)
        assert str(caught.value) == f"{path}: cannot be read: {want}"


def test_a_bad_mapping_is_named_without_lines(registry: Registry) -> None:
    with pytest.raises(ConfigFileError) as caught:
        load_config({**HEAD, "parallelism": 0}, registry=registry)

    want = "configuration: parallelism: Invalid value: 0: should be an integer value greater than zero"
    assert str(caught.value) == want


def test_keys_of_a_mapping_may_be_anything_but_known(registry: Registry) -> None:
    with pytest.raises(ConfigFileError, match=r'unknown field "\[1\]"'):
        load_config({**HEAD, 1: 2}, registry=registry)  # type: ignore[dict-item]


HARMLESS = {
    "fields without meaning for decisions": "leaderElection: {leaderElect: true, leaseDuration: 15s}\n"
    "clientConnection: {kubeconfig: x, qps: 50.5, burst: 100}\nenableProfiling: false\ndelayCacheUntilActive: true",
    "empty lists": "extenders: []\nprofiles: []",
    "nothing for a value": "parallelism:\nprofiles: null\nclientConnection: ~",
    "anchors used sparingly": "profiles:\n- schedulerName: a\n  plugins: &p {score: {disabled: [{name: '*'}]}}\n"
    "- schedulerName: b\n  plugins: *p",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_accepted(text: str, tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(TOP + text)

    assert load_config(path, registry=registry).profiles


HALF = {
    "disabled by its name": (
        "preFilter: {disabled: [{name: NodePorts}, {name: NodeResourcesFit}]}",
        [
            "5: profiles[0].plugins.preFilter.disabled[0].name: "
            '"NodePorts" is not in preFilter, whose work it needs in filter: pods end in an Error',
            "5: profiles[0].plugins.preFilter.disabled[1].name: "
            '"NodeResourcesFit" is not in preFilter, whose work it needs in filter: pods end in an Error',
        ],
    ),
    "disabled with all others": (
        "{preFilter: {disabled: [{name: '*'}]}, multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
        "{name: DefaultBinder}, {name: NodePorts}]}}",
        [
            "5: profiles[0].plugins.preFilter.disabled[0].name: "
            '"NodePorts" is not in preFilter, whose work it needs in filter: pods end in an Error',
        ],
    ),
    "never enabled": (
        "{score: {enabled: [{name: TaintToleration}]}, multiPoint: {disabled: [{name: TaintToleration}]}}",
        ['4: profiles[0]: "TaintToleration" is not in preScore, whose work it needs in score: pods end in an Error'],
    ),
    "both halves disabled": (
        "{preFilter: {disabled: [{name: NodePorts}]}, filter: {disabled: [{name: NodePorts}]}}",
        [],
    ),
    "one that does without": ("preFilter: {disabled: [{name: NodeAffinity}]}", []),
}


@pytest.mark.parametrize(("plugins", "want"), HALF.values(), ids=HALF)
def test_half_a_plugin_is_warned_about(plugins: str, want: list[str], tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(TOP + f"profiles:\n- plugins:\n    {plugins}\n")
    assert list(load_config(path).warnings) == [f"{path}:{text}" for text in want]


def test_names_that_are_probably_misspelt_are_warned_about(tmp_path: Path, registry: Registry) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        TOP + "profiles:\n- plugins:\n    score:\n      disabled:\n      - name: '*'\n      - name: NodeAfinity\n"
        "  pluginConfig:\n  - name: NodeResourceFit\n  - name: NodeName\n    args: {x: 1}\n"
    )

    assert load_config(path, registry=registry).warnings == (
        f"{path}:8: profiles[0].plugins.score.disabled[1].name: "
        'there is no plugin "NodeAfinity"; did you mean "NodeAffinity"?',
        f"{path}:10: profiles[0].pluginConfig[0].name: "
        'there is no plugin "NodeResourceFit"; did you mean "NodeResourcesFit"?',
    )

"""Bad traces: one line that names file, line and field; with leniency skipped and counted."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gangsched.manifests import InputError
from gangsched.replay.complaints import Complaints
from gangsched.replay.formats import Format, open_trace
from gangsched_framework.errors import GangschedError
from tests.scheduler.replay.play import play
from tests.scheduler.replay.traces import HEADER, add, composite, delete, group, node, pod, update, write

GOOD = [add(0, node("n1")), add(1, pod("a"))]


def line(**more: Any) -> dict[str, Any]:
    return more


HEADERS: dict[str, tuple[dict[str, Any] | str, str]] = {
    "no header": (add(0, node("n1")), "1: gangsched_trace: found nothing"),
    "an unknown version": ({"gangsched_trace": 2}, "1: gangsched_trace: found version number 2, allowed version 1"),
    "a version that is text": ({"gangsched_trace": "1"}, '1: gangsched_trace: found version text "1"'),
    "a version that is true": ({"gangsched_trace": True}, "1: gangsched_trace: found version true"),
    "a version that is a float": ('{"gangsched_trace": 1.0}', "1: gangsched_trace: found version number 1.0"),
    "a misspelt field": (HEADER | {"nmae": "x"}, "did you mean name?"),
    "a name that is a number": (HEADER | {"name": 3}, "1: name: found number 3, allowed text"),
    "a start that is no time": (HEADER | {"start": "yesterday"}, '1: start: found text "yesterday"'),
    "a gate that is text": (HEADER | {"feature_gates": {"A": "on"}}, '1: feature_gates.A: found text "on"'),
    "a configuration that is a list": (HEADER | {"config": []}, "1: config: found a list"),
    "a list": ("[1]", '1: found the first line text "[1]", allowed a native trace'),
    "broken JSON": ('{"gangsched_trace": 1', "1: found no JSON at column"),
}


@pytest.mark.parametrize("header, want", HEADERS.values(), ids=HEADERS)
def test_a_bad_header_is_refused_with_and_without_leniency(
    tmp_path: Path, header: dict[str, Any] | str, want: str
) -> None:
    path = write(tmp_path / "t.jsonl", GOOD, header)
    for lenient in (False, True):
        with pytest.raises(GangschedError) as caught:
            play(path, lenient=lenient)
        assert want in str(caught.value)
        assert str(caught.value).startswith(f"{path}:1: ")
        assert "\n" not in str(caught.value)


EVENTS: dict[str, tuple[dict[str, Any] | str, str]] = {
    "a decreasing time": (add(0.5, pod("b")), "t: found a time before that of the line above"),
    "a time that is not a number": ('{"t": NaN, "add": {}}', "found NaN, allowed finite numbers"),
    "an infinite time": ('{"t": -Infinity, "add": {}}', "found -Infinity"),
    "a negative time": ('{"t": -1, "add": {}}', "t: found number -1"),
    "a time beyond all calendars": ('{"t": 1e400, "add": {}}', "t: found"),
    "a time of a thousand digits": (f'{{"t": {"9" * 1000}, "add": {{}}}}', "t: found"),
    "a number of ten thousand digits": (f'{{"t": {"9" * 10_000}, "add": {{}}}}', "thousands of digits"),
    "a time that is text": (line(t="2", add=pod("b")), 't: found text "2", allowed a number of seconds'),
    "a time that is true": (line(t=True, add=pod("b")), "t: found true"),
    "no time": (line(add=pod("b")), "t: found nothing"),
    "two verbs": (line(t=2, add=pod("b"), update=pod("b")), "found add and update, allowed exactly one of"),
    "no verb": (line(t=2), "found no verb, allowed exactly one of add, update, delete"),
    "an unknown key": (line(t=2, ad=pod("b")), "ad: found an unknown field"),
    "a comment": (line(t=2, add=pod("b"), note="x"), "note: found an unknown field"),
    "a key twice": ('{"t": 2, "t": 3, "add": {}}', 'found the key "t" twice'),
    "a key twice deep inside": ('{"t": 2, "add": {"kind": "Pod", "kind": "Node"}}', 'found the key "kind" twice'),
    "a list": ("[]", "found a list, allowed one JSON object"),
    "text": ('"add"', 'found text "add", allowed one JSON object'),
    "a truncated line": ('{"t": 2, "add": {"kind": "Pod"', "found no JSON at column"),
    "two objects": ("{} {}", "found no JSON at column"),
    "YAML": ("t: 2", "found no JSON at column 1"),
    "half a character": ('{"t": 2, "add": {"kind": "\\ud800"}}', "found half a surrogate pair, allowed Unicode text"),
    "nesting 5,000 deep": ('{"t": 2, "add": ' + "[" * 5000 + "]" * 5000 + "}", "found deeper nesting"),
    "nesting 200 deep": ('{"t": 2, "add": ' + "[" * 200 + "]" * 200 + "}", "found deeper nesting"),
    "an addition that is text": (line(t=2, add="pod"), 'add: found text "pod"'),
    "an addition of nothing": (line(t=2, add=None), "add: found null"),
    "an object without kind": (line(t=2, add={"metadata": {"name": "b"}}), "add.kind: found nothing"),
    "an unknown kind": (line(t=2, add={"apiVersion": "v1", "kind": "Podd", "metadata": {"name": "b"}}), "mean Pod?"),
    "an unknown field of an object": (
        line(t=2, add=pod("b") | {"spce": {}}),
        "Pod/b: add.spce: found an unknown field",
    ),
    "a bad quantity": (add(2, pod("b", cpu="many")), "resources.requests.cpu: found"),
    "an addition of what exists": (add(2, pod("a")), "Pod/default/a: found an object that exists"),
    "an update of what does not exist": (update(2, pod("b")), "Pod/default/b: found an unknown object"),
    "a deletion of what does not exist": (delete(2, "Pod", "b"), "Pod/default/b: found an unknown object"),
    "a deletion of an unknown kind": (delete(2, "Pdo", "a"), 'delete.kind: found text "Pdo", allowed Pod, Node, '),
    "a deletion that is text": (line(t=2, delete="a"), 'delete: found text "a"'),
    "a deletion without a kind": (line(t=2, delete={"name": "a"}), "delete.kind: found nothing"),
    "a deletion of a number": (line(t=2, delete={"kind": "Pod", "name": 3}), "delete.name: found number 3"),
    "a deletion of an empty name": (line(t=2, delete={"kind": "Pod", "name": ""}), "delete.name: found empty text"),
    "a deletion with an unknown key": (line(t=2, delete={"kind": "Pod", "nam": "a"}), "delete.nam: found an unknown"),
    "a bad duration": (add(2, pod("b", duration="5 minutes")), '["gangsched.dev/duration"]: found text "5 minutes"'),
    "a negative duration": (add(2, pod("b", duration="-5s")), '["gangsched.dev/duration"]: found text "-5s"'),
    "a duration without a unit": (add(2, pod("b", duration="300")), '["gangsched.dev/duration"]: found text "300"'),
    "an endless duration": (add(2, pod("b", duration="999999999999h")), '["gangsched.dev/duration"]: found text'),
    "a wish that is neither true nor false": (
        add(2, group("g", 1, **{"gangsched.dev/delete-when-finished": "yes"})),
        '["gangsched.dev/delete-when-finished"]: found text "yes"',
    ),
    "an unknown priority class": (add(2, pod("b", priorityClassName="golden")), "priorityClassName: found"),
}


@pytest.mark.parametrize("event, want", EVENTS.values(), ids=EVENTS)
def test_a_bad_event_is_named_with_its_line_or_skipped_and_counted(
    tmp_path: Path, event: dict[str, Any] | str, want: str
) -> None:
    path = write(tmp_path / "t.jsonl", [*GOOD, event, add(3, pod("z"))])
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        play(path)
    assert str(caught.value).startswith(f"{path}:4: ")
    assert want in str(caught.value)
    assert "\n" not in str(caught.value)
    result = play(path, lenient=True)
    assert (result.skipped, result.first_skipped) == (1, str(caught.value))
    assert list(result.bindings) == ["default/a", "default/z"]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "manifest",
    [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "c"}},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "c"}, "handler": "h"},
    ],
    ids=["of another kind", "of somebody else's API", "of a class of runtimes"],
)
def test_an_object_that_is_not_read_comes_and_goes_unnoticed_once(tmp_path: Path, manifest: dict[str, Any]) -> None:
    kind = manifest["kind"]
    namespace = {} if kind == "RuntimeClass" else {"namespace": "default"}
    going = line(t=2, delete={"kind": kind, "name": "c", **namespace})
    path = write(tmp_path / "t.jsonl", [*GOOD, add(2, manifest), going, add(3, pod("z"))])
    assert list(play(path).bindings) == ["default/a", "default/z"]
    twice = write(tmp_path / "twice.jsonl", [*GOOD, add(2, manifest), going, going])
    with pytest.raises(InputError, match=f"twice.jsonl:6: .*{kind}"):
        play(twice)


def test_items_of_a_list_that_are_not_read_may_go_again(tmp_path: Path) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [config_map, pod("y")]}
    typed = {"apiVersion": "v1", "kind": "SecretList", "items": [{"metadata": {"name": "s"}}]}
    going = [delete(3, "ConfigMap", "c"), delete(3, "Secret", "s"), delete(3, "Pod", "y"), add(3, pod("z"))]
    path = write(tmp_path / "t.jsonl", [*GOOD, add(2, listed), add(2, typed), *going])
    assert list(play(path).bindings) == ["default/a", "default/y", "default/z"]


def test_an_object_of_another_api_does_not_hide_the_end_of_one_that_is_read(tmp_path: Path) -> None:
    other = {"apiVersion": "example.com/v1", "kind": "Pod", "metadata": {"name": "z"}}
    path = write(tmp_path / "t.jsonl", [*GOOD, add(2, other), add(2, pod("z")), delete(2, "Pod", "z")])
    assert list(play(path).bindings) == ["default/a"]


BEFORE = [
    add(0, node("n1")),
    add(0, node("n2")),
    add(0, composite("root", 1)),
    add(0, composite("other", 1)),
    add(0, group("g", 1, "root")),
    add(1, pod("a", in_group="g")),
    add(1, pod("b", nodeName="n1")),
]
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "a pod that changes its group": (
        pod("a", in_group="h"),
        'Pod/a: spec.schedulingGroup.podGroupName: found text "h", allowed text "g" as before, '
        "or a deletion and an addition",
    ),
    "a pod that leaves its group": (pod("a"), "spec.schedulingGroup.podGroupName: found empty text"),
    "a pod that changes its node": (pod("b", nodeName="n2"), 'spec.nodeName: found text "n2", allowed text "n1"'),
    "a gate that was not there": (pod("b", schedulingGates=[{"name": "x"}]), "spec.schedulingGates: found a new gate"),
    "a group that changes its parent": (
        group("g", 1, "other"),
        'PodGroup/g: spec.parentCompositePodGroupName: found text "other", allowed text "root"',
    ),
    "a gang that becomes basic": (group("g", None, "root"), 'spec.schedulingPolicy: found text "basic"'),
    "a tree that gets a constraint": (
        composite("root", 1, schedulingConstraints={"topology": [{"key": "rack"}]}),
        'spec.schedulingConstraints.topology: found text "rack", allowed empty text as before',
    ),
}


@pytest.mark.parametrize("manifest, want", CHANGES.values(), ids=CHANGES)
def test_what_can_never_change_is_refused(tmp_path: Path, manifest: dict[str, Any], want: str) -> None:
    path = write(tmp_path / "t.jsonl", [*BEFORE, update(2, manifest)])
    with pytest.raises(InputError) as caught:
        play(path)
    assert str(caught.value).startswith(f"{path}:9: ")
    assert want in str(caught.value)


def test_a_priority_class_ends_with_its_deletion(tmp_path: Path) -> None:
    golden = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "golden"},
        "value": 7,
        "globalDefault": True,
    }
    gone = {"t": 1, "delete": {"kind": "PriorityClass", "name": "golden"}}
    events = [add(0, golden), gone, add(2, pod("a")), add(2, pod("b", priorityClassName="golden"))]
    with pytest.raises(InputError, match=r't\.jsonl:5: Pod/b: add\.spec\.priorityClassName: found text "golden"'):
        play(write(tmp_path / "t.jsonl", events))
    result = play(write(tmp_path / "t.jsonl", [*events[:3], add(3, golden | {"value": 8})]))
    assert result.ledger.pods["default/a"].pod.priority == 0
    with pytest.raises(InputError, match=r"PriorityClass/golden: update\.value: found number 8, allowed 7 as before"):
        play(write(tmp_path / "t.jsonl", [add(0, golden), update(1, golden | {"value": 8})]))


def test_minima_gates_and_everything_else_may_change(tmp_path: Path) -> None:
    gated = [add(1, pod("c", schedulingGates=[{"name": "x"}, {"name": "y"}]))]
    changes = [
        update(2, group("g", 3, "root")),
        update(2, composite("root", 2)),
        update(2, pod("a", "2", in_group="g")),
    ]
    ungated = [update(2, pod("c", schedulingGates=[{"name": "y"}])), update(3, pod("c"))]
    result = play(write(tmp_path / "t.jsonl", [*BEFORE, *gated, *changes, *ungated]))
    assert result.bindings["default/c"] in ("n1", "n2")


def cut(raw: bytes) -> bytes:
    packed = gzip.compress(raw)
    return packed[: len(packed) - 20]


def damaged(raw: bytes) -> bytes:
    packed = bytearray(gzip.compress(raw))
    packed[len(packed) // 2] ^= 0xFF
    return bytes(packed)


FILES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a cut gzip": (cut, "cannot be read on"),
    "a damaged gzip": (damaged, "cannot be read on"),
    "UTF-16": (lambda raw: raw.decode().encode("utf-16"), "not UTF-8"),
    "Latin-1": (lambda raw: raw.replace(b'"z"', b'"\xe4"'), "not UTF-8"),
    "an empty file": (lambda _: b"", "1: found an empty file"),
    "blank lines only": (lambda _: b"\n\n", "1: found an empty file"),
    "a line without end": (lambda raw: raw + b'{"t": 9, "add": "' + b"x" * 2**25, "a line of more than 16777216 bytes"),
    "some other text": (lambda _: b"submit,duration\n1,2\n", "allowed a native trace"),
}


@pytest.mark.parametrize("spoil, want", FILES.values(), ids=FILES)
def test_a_bad_file_is_one_line(tmp_path: Path, spoil: Callable[[bytes], bytes], want: str) -> None:
    path = tmp_path / "t.jsonl"
    write(path, [*GOOD, *(add(2, pod(f"p{n}")) for n in range(50)), add(3, pod("z"))])
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(InputError) as caught:
        play(str(path))
    assert str(caught.value).startswith(f"{path}:")
    assert want in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_before_the_header_says_nothing(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "t.jsonl", [*GOOD, add(3, pod("z"))]))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert list(play(str(path)).bindings) == ["default/a", "default/z"]


def test_leniency_ends_at_the_cut_of_a_gzip(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    write(path, [*GOOD, *(add(2, pod(f"p{n}", cpu=f"{n}m")) for n in range(1, 400))])
    path.write_bytes(cut(path.read_bytes()))
    result = play(str(path), lenient=True)
    assert result.skipped == 1
    assert "cannot be read on" in result.first_skipped
    assert "default/a" in result.bindings


@pytest.mark.parametrize("path", ["missing.jsonl", "."], ids=["a missing file", "a folder"])
def test_what_cannot_be_opened_is_one_line(path: str) -> None:
    with pytest.raises(InputError) as caught:
        open_trace(Complaints(path))
    assert str(caught.value).startswith(f"{path}: ")


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [*GOOD, "", "   ", add(3, pod("z"))])
    assert len(play(path).bindings) == 2


def test_a_list_adds_all_its_items(tmp_path: Path) -> None:
    both = {"apiVersion": "v1", "kind": "List", "items": [node("n1"), pod("a")]}
    assert play(write(tmp_path / "t.jsonl", [add(0, both)])).bindings == {"default/a": "n1"}


def test_a_bad_item_of_a_list_is_named(tmp_path: Path) -> None:
    both = {"apiVersion": "v1", "kind": "List", "items": [node("n1"), pod("a", cpu="x")]}
    with pytest.raises(InputError, match=r"t\.jsonl:2: Pod/a: add\.items\[1\]\.spec\.containers\[0\]"):
        play(write(tmp_path / "t.jsonl", [add(0, both)]))


def test_the_header_brings_configuration_and_gates(tmp_path: Path) -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "other"}],
    }
    header = HEADER | {"config": config, "feature_gates": {"CompositePodGroup": False}}
    result = play(write(tmp_path / "t.jsonl", GOOD, header))
    assert result.bindings == {}  # no profile answers for the pod's scheduler


def test_numbers_of_manifests_stay_what_they_are(tmp_path: Path) -> None:
    text = json.dumps(add(1, pod("a"))).replace('"cpu": "1"', '"cpu": 0.5')
    result = play(write(tmp_path / "t.jsonl", [add(0, node("n1")), text]))
    assert result.ledger.pods["default/a"].pod.incoming.requested.milli_cpu == 500


@pytest.mark.parametrize("known", [None, "native", "philly"])
def test_a_first_line_that_cannot_be_read_is_refused_with_leniency_too(tmp_path: Path, known: Format | None) -> None:
    path = tmp_path / "t.jsonl"
    write(path, GOOD)
    path.write_bytes(b"\xff\n" + path.read_bytes())
    with pytest.raises(InputError, match=r"t\.jsonl:1: found bytes that are not UTF-8 at byte 1 of the line"):
        open_trace(Complaints(str(path), lenient=True), known)


def test_a_trace_may_come_through_a_pipe(tmp_path: Path) -> None:
    path, pipe = Path(write(tmp_path / "t.jsonl", GOOD)), tmp_path / "pipe"
    os.mkfifo(pipe)
    feed = threading.Thread(target=pipe.write_bytes, args=(path.read_bytes(),))
    feed.start()
    try:
        assert play(str(pipe)).bindings == {"default/a": "n1"}
    finally:
        feed.join()

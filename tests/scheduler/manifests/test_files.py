"""Which files are read, in which order, and that what one file says holds for all."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from gangsched.manifests import Decoder, InputError, read_files

NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\n"


def names(paths: list[str], stdin: io.BytesIO | None = None) -> list[str]:
    return [obj.name for obj in read_files(paths, stdin=stdin).objects]


def test_directories_are_read_in_name_order_and_other_files_left_alone(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(NODE.format("b"))
    (tmp_path / "a.yml.gz").write_bytes(gzip.compress(NODE.format("a").encode()) + gzip.compress(b"# second member\n"))
    (tmp_path / "c.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "c"}}))
    (tmp_path / "notes.txt").write_text("not: [a manifest")
    assert names([str(tmp_path)]) == ["a", "b", "c"]
    assert names([str(tmp_path / "c.json"), str(tmp_path / "b.yaml")]) == ["c", "b"]


@pytest.mark.parametrize(
    "text",
    [
        NODE.format("x") + "---\n---\n" + NODE.format("y") + "---\n",
        '{"apiVersion":"v1","kind":"Node","metadata":{"name":"x"}}\n{"apiVersion":"v1","kind":"Node","metadata":{"name":"y"}}',
        "\ufeff" + NODE.format("x") + "---\n" + NODE.format("y"),
    ],
    ids=["YAML documents, some empty", "JSON documents", "a byte order mark"],
)
def test_standard_input_holds_many_documents(text: str) -> None:
    assert names(["-"], io.BytesIO(text.encode())) == ["x", "y"]


def test_an_empty_file_beside_others_holds_nothing(tmp_path: Path) -> None:
    for name in ("e.yaml", "e.json", "c.yaml"):
        (tmp_path / name).write_text("# comment\n" if name == "c.yaml" else "")
    (tmp_path / "n.yaml").write_text(NODE.format("n"))
    assert names([str(tmp_path)]) == ["n"]


def test_an_object_given_twice_is_warned_about(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n"
    other = pod.replace("name: p", "name: p, namespace: other")
    (tmp_path / "a.yaml").write_text("---\n".join([NODE.format("p"), pod, pod, other]))
    (tmp_path / "b.yaml").write_text("---\n".join([NODE.format("q"), pod]))
    loaded = read_files([str(tmp_path)])
    assert loaded.warnings == (f"{tmp_path / 'a.yaml'}:10: Pod/default/p: is given 3 times, the last one counts",)
    assert len(loaded.objects) == 6


def test_of_many_given_twice_the_first_ones_show_their_line(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("---\n".join(NODE.format(name) for name in 2 * "abcdefghijkl"))
    places = [warning.partition(": ")[0] for warning in read_files([str(file)]).warnings]
    assert places == [f"{file}:{4 * at + 1}" for at in range(12, 22)] + [str(file)] * 2


POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec: {{nodeName: {}, containers: [{{name: c, image: x}}]}}\n"
QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {}}}\nspec: {{parent: {}}}\n"
MISSED = {
    "a node that no file has": (
        [NODE.format("n"), POD.format("a", "ghost"), POD.format("b", "ghost"), POD.format("c", "n")],
        ["Pod/a: spec.nodeName: node ghost is not there, so the pod takes no room (1 more)"],
    ),
    "a node that comes later": ([POD.format("a", "n"), NODE.format("n")], []),
    "a parent that no file has": ([QUEUE.format("q", "p")], ["Queue/q: spec.parent: queue p is not there"]),
    "a parent that comes later": ([QUEUE.format("q", "p"), QUEUE.format("p", "root")], []),
    "the queue that is always there": ([QUEUE.format("q", "default")], []),
    "the queue itself": ([QUEUE.format("q", "q")], ["Queue/q: spec.parent: the queue is its own ancestor"]),
    "two queues in a circle, and one below": (
        [QUEUE.format("q", "p"), QUEUE.format("p", "q"), QUEUE.format("o", "q")],
        [
            "Queue/q: spec.parent: the queue is its own ancestor",
            "Queue/p: spec.parent: the queue is its own ancestor",
        ],
    ),
}


@pytest.mark.parametrize(("documents", "want"), MISSED.values(), ids=MISSED)
def test_what_is_named_and_not_there_is_warned_about(documents: list[str], want: list[str], tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("---\n".join(documents))
    assert list(read_files([str(file)]).warnings) == [f"{file}: {text}" for text in want]


def test_a_class_may_stand_after_the_pods_that_name_it(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "x"}], "priorityClassName": "urgent"},
    }
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 9,
    }
    (tmp_path / "a.json").write_text(json.dumps(pod))
    (tmp_path / "b.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [priority]}))
    (read, _) = read_files([str(tmp_path)]).objects
    assert read.priority == 9  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r'a\.json:1: Pod/p: spec\.priorityClassName: found text "urgent"'):
        read_files([str(tmp_path / "a.json")])


def test_a_decoder_that_reads_on_reports_only_news(tmp_path: Path) -> None:
    (tmp_path / "q.yaml").write_text("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: q}\n")
    (tmp_path / "n.yaml").write_text(NODE.format("n"))
    decoder = Decoder()
    first = read_files([str(tmp_path / "q.yaml")], decoder=decoder)
    second = read_files([str(tmp_path / "n.yaml")], decoder=decoder)
    assert (first.skipped, len(first.warnings)) == ({"HyperNode": 1}, 1)
    assert (second.skipped, second.warnings, len(second.objects)) == ({}, (), 1)


def test_lines_are_those_of_the_document_at_fault(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(NODE.format("a") + "---\n" + NODE.format("b") + "---\n# comment\n" + NODE.format("C"))
    with pytest.raises(InputError, match=r"many\.yaml:12: Node/C: metadata\.name"):
        read_files([str(path)])
    path = tmp_path / "many.json"
    documents = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in ("a", "b", "C")]
    path.write_text("\n".join(json.dumps(document, indent=1) for document in documents))
    with pytest.raises(InputError, match=r"many\.json:19: Node/C: metadata\.name"):
        read_files([str(path)])

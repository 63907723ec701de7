"""``--nodes``: shapes and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangsched.manifests import Decoder, InputError
from gangsched.manifests.errors import describe
from gangsched.replay.nodes import named_nodes, nodes_of, read_nodes
from gangsched_framework.resources import Resources

GI = 2**30
SHAPES = {
    "GPUs, everything else ample": ("8gpu", Resources(96_000, 768 * GI, 0, 110, {"nvidia.com/gpu": 8})),
    "named amounts": (
        "cpu=32,memory=128Gi,nvidia.com/gpu=8",
        Resources(32_000, 128 * GI, 0, 110, {"nvidia.com/gpu": 8}),
    ),
    "a sliver of a CPU": ("cpu=0.0001", Resources(1, 768 * GI, 0, 110, {})),
    "half a CPU": ("cpu=500m", Resources(500, 768 * GI, 0, 110, {})),
    "another vendor's devices": ("amd.com/gpu=4,pods=5", Resources(96_000, 768 * GI, 0, 5, {"amd.com/gpu": 4})),
}


@pytest.mark.parametrize("shape, want", SHAPES.values(), ids=SHAPES)
def test_a_shape_is_what_a_node_offers(shape: str, want: Resources) -> None:
    nodes = nodes_of(f"2x{shape}")
    assert nodes is not None
    assert [node.name for node in nodes] == ["node-1", "node-2"]
    assert all(node.allocatable == want for node in nodes)


def test_names_sort_as_numbers() -> None:
    nodes = nodes_of("12x8gpu") or []
    assert [node.name for node in nodes] == sorted(node.name for node in nodes)
    assert (nodes[0].name, nodes[11].name) == ("node-01", "node-12")


BAD = {
    "no node": ("0x8gpu", "found 0 nodes"),
    "a node too many": ("200001x8gpu", "found 200001 nodes, allowed 1 to 200000"),
    "nodes without measure": (f"{10**12}x8gpu", "found 1000000000000 nodes, allowed 1 to 200000"),
    "an unknown resource": ("2xgpus=8", 'found resource text "gpus"'),
    "a misspelt resource": ("2xmemry=8Gi", "did you mean memory?"),
    "no quantity": ("2xcpu=many", "cpu: found"),
    "a negative amount": ("2xcpu=-1", "must not be negative"),
    "half a GPU": ("2xnvidia.com/gpu=500m", "a whole amount"),
    "an amount beyond 64 bits": ("2xcpu=1e400", 'cpu: found text "1e400"'),
    "a resource twice": ("2xcpu=1,cpu=2", "found cpu twice, allowed each resource once"),
    "GPUs twice": ("2x8gpu,nvidia.com/gpu=4", "found nvidia.com/gpu twice"),
    "a name of three parts": ("2xa/b/c=1", 'found text "a/b/c", allowed a name'),
    "a name that is no ASCII": ("2xé/x=1", 'found text "é/x", allowed a name'),
    "nothing named": ("2xfoo", "NAME=QUANTITY"),
}


@pytest.mark.parametrize("text, want", BAD.values(), ids=BAD)
def test_a_bad_shape_is_explained(text: str, want: str) -> None:
    with pytest.raises(InputError) as caught:
        nodes_of(text)
    assert str(caught.value).startswith("--nodes")
    assert want in str(caught.value)


@pytest.mark.parametrize("text", ["nodes.yaml", "80", "x8gpu", "./80x/nodes.yaml"])
def test_other_texts_name_files(text: str) -> None:
    assert nodes_of(text) is None


@pytest.mark.parametrize("text", ["80", "x8gpu", "80x", "-1x8gpu", "1.5x8gpu", "80X8gpu", "nowhere.yaml", "a\0b", ""])
def test_a_text_that_names_neither_a_file_nor_a_shape_is_answered_with_both(text: str) -> None:
    with pytest.raises(InputError) as caught:
        named_nodes(text, Decoder())
    want = "allowed a file or folder that exists, or COUNTxSHAPE such as 80x8gpu"
    assert str(caught.value) == f"--nodes: found {describe(text)}, {want}"


def test_nodes_may_come_from_manifests(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 2}}\n", encoding="utf-8"
    )
    assert [node.name for node in read_nodes(str(file), Decoder())] == ["a"]


def test_a_file_of_nodes_holds_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", encoding="utf-8")
    with pytest.raises(InputError, match="found Namespace/a, allowed nodes only"):
        read_nodes(str(file), Decoder())


def test_a_node_given_twice_is_warned_about(tmp_path: Path) -> None:
    file = tmp_path / "n.yaml"
    file.write_text("---\n".join(["apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"] * 2))
    decoder = Decoder()
    read_nodes(str(file), decoder)
    assert decoder.warnings == [f"{file}:5: Node/n: is given 2 times, the last one counts"]

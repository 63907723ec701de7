"""The Philly table: rows to gangs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gangsched.manifests import InputError
from gangsched.replay.complaints import Complaints
from gangsched.replay.converters.philly import HEADER, pieces
from gangsched.replay.events import TraceEvent
from gangsched.replay.formats import open_trace
from gangsched.replay.nodes import nodes_of
from gangsched_framework.objects import Pod, PodGroup
from tests.scheduler.replay.play import SECOND, moments, play


def events_of(path: Path, rows: list[str], *, lenient: bool = False, pod_per_gpu: bool = False) -> list[TraceEvent]:
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return list(open_trace(Complaints(str(path), lenient), "philly", pod_per_gpu=pod_per_gpu).events())


PIECES = {
    "one GPU": (1, 8, (1,)),
    "a whole node": (8, 8, (8,)),
    "twelve are eight and four": (12, 8, (8, 4)),
    "thirty-two are four nodes": (32, 8, (8, 8, 8, 8)),
    "one pod for each GPU": (3, 1, (1, 1, 1)),
}


@pytest.mark.parametrize("gpus, most, want", PIECES.values(), ids=PIECES)
def test_a_job_is_cut_into_pods(gpus: int, most: int, want: tuple[int, ...]) -> None:
    assert pieces(gpus, most) == want


def test_a_row_becomes_a_group_and_its_pods(tmp_path: Path) -> None:
    events = events_of(tmp_path / "p.csv", ["1.5,100,12,vc1"])
    assert [(event.time, event.line, event.verb) for event in events] == [(1_500_000_000, 2, "add")] * 3
    group, *pods = (event.obj for event in events)
    assert isinstance(group, PodGroup)
    assert (group.name, group.required, group.labels) == ("job-000001", 2, {"vc": "vc1"})
    assert [pod.name for pod in pods if isinstance(pod, Pod)] == ["job-000001-0", "job-000001-1"]
    asked = [pod.incoming.requested.scalars["nvidia.com/gpu"] for pod in pods if isinstance(pod, Pod)]
    assert asked == [8, 4]
    assert all(pod.labels == {"vc": "vc1"} for pod in pods if isinstance(pod, Pod))


def test_pods_of_one_size_share_their_spec(tmp_path: Path) -> None:
    pods = [event.obj for event in events_of(tmp_path / "p.csv", ["0,1,4,a", "5,1,4,b"])]
    specs = [pod.spec for pod in pods if isinstance(pod, Pod)]
    assert specs[0] is specs[1]


def test_one_pod_for_each_gpu_when_asked(tmp_path: Path) -> None:
    pods = [event.obj for event in events_of(tmp_path / "p.csv", ["0,1,12,a"], pod_per_gpu=True)]
    assert sum(isinstance(pod, Pod) for pod in pods) == 12


BAD_ROWS = {
    "too few columns": ("1,2,3", "found 3 columns"),
    "a negative time": ("-1,2,3,a", "submit_s: found"),
    "a time that is no number": ("NaN,2,3,a", "submit_s: found"),
    "a decreasing time": ("0,2,3,a", "submit_s: found a time before"),
    "no duration": ("9,,3,a", "duration_s: found"),
    "a duration that is text": ("9,long,3,a", "duration_s: found"),
    "no GPU": ("9,2,0,a", "num_gpus: found"),
    "half a GPU": ("9,2,0.5,a", "num_gpus: found"),
    "a cluster of GPUs": ("9,2,9999999,a", "num_gpus: found"),
    "digits of another script": ("9,2,٣,a", "num_gpus: found"),
    "no virtual cluster": ("9,2,3,", "vc: found nothing"),
    "a virtual cluster that is no label": ("9,2,3,a b", 'vc: found text "a b", allowed at most 63 letters'),
    "a control character": ("9,2,3,a\0b", r'vc: found text "a\x00b"'),
    "a quote left open": ('9,2,3,"a', "found no row of a table"),
}


@pytest.mark.parametrize("row, want", BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, row: str, want: str) -> None:
    path = tmp_path / "p.csv"
    with pytest.raises(InputError) as caught:
        events_of(path, ["5,1,1,a", row])
    assert str(caught.value).startswith(f"{path}:3: {want}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_cells_may_stand_in_quotes_and_lines_end_as_on_windows(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "p.csv"
    names = ",".join(f'"{name}"' for name in HEADER.split(","))
    path.write_bytes(mark + f'{names}\r\n"5","1","1","a"\r\n'.encode())
    source = open_trace(Complaints(str(path)))
    assert source.header.format == "philly"
    assert [event.time // SECOND for event in source.events()] == [5, 5]


def test_leniency_skips_and_counts_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(f"{HEADER}\n5,1,1,a\nbad\n6,1,1,a\n", encoding="utf-8")
    complaints = Complaints(str(path), lenient=True)
    events = list(open_trace(complaints).events())
    assert [event.time // SECOND for event in events] == [5, 5, 6, 6]
    assert complaints.skipped == 1
    assert complaints.first == f"{path}:3: found 1 columns, allowed 4: {HEADER}"


def test_durations_may_be_any_decimal(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(f"{HEADER}\n0,1e2,1,a\n0,0.5,1,a\n", encoding="utf-8")
    result = play(str(path), nodes_of("1x8gpu"))
    assert moments(result) == {"job-000001-0": (0, 100), "job-000002-0": (0, 0.5)}


def test_finished_gangs_are_deleted_and_room_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(f"{HEADER}\n0,100,16,a\n10,50,8,b\n".encode()))
    result = play(str(path), nodes_of("2x8gpu"))
    # Backoff after the refusals at 10, 12, 15 ... s; the first retry after 100 s is at 116 s at the latest.
    assert moments(result)["job-000001-0"] == (0, 100)
    bound, finished = moments(result)["job-000002-0"]
    assert bound is not None
    assert finished == bound + 50
    assert 100 <= bound < 117
    assert not result.ledger.groups
    assert not any(result.ledger.members.values())

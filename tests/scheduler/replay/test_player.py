"""The order inside an instant, departures, changes of objects, and the end of a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gangsched.replay.check import CheckFailed, check_bindings, is_placed
from gangsched.replay.ledger import Ledger
from gangsched_framework.testing import make_node, make_pod, make_pod_group
from tests.scheduler.replay.play import SECOND, moments, play, play_with_reports
from tests.scheduler.replay.traces import HEADER, add, composite, delete, group, node, pod, update, write

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, tuple[float | None, float | None]]]] = {
    "a pod succeeds its duration after it is bound": (
        [add(0, node("n1")), add(2.5, pod("a", duration="10s"))],
        {"a": (2.5, 12.5)},
    ),
    "a pod without a duration runs for ever": ([add(0, node("n1")), add(0, pod("a"))], {"a": (0, None)}),
    "a pod of no duration succeeds at once": (
        [add(0, node("n1", "1")), add(1, pod("a", duration="0s")), add(1, pod("b", duration="0s"))],
        {"a": (1, 1), "b": (1, 1)},
    ),
    "a completion frees its room for an arrival of the same instant": (
        [add(0, node("n1", "1")), add(0, pod("a", duration="5s")), add(5, pod("b", duration="5s"))],
        {"a": (0, 5), "b": (5, 10)},
    ),
    "two events of one instant are both seen before the first cycle": (
        [add(0, node("n1", "1")), add(0, pod("low", priority=1)), add(0, pod("high", priority=5))],
        {"low": (None, None), "high": (0, None)},
    ),
    "a parked pod is woken by a completion": (
        [add(0, node("n1", "1")), add(0, pod("a", duration="3.2s")), add(1, pod("b"))],
        {"a": (0, 3.2), "b": (3.2, None)},
    ),
    "a refused gang is retried on time alone": (
        # refused at 1 s, 3 s (backoff 1 s), 6 s (2 s): the room of 4 s is seen at 6 s
        [
            add(0, node("n1", "1")),
            add(0, pod("a", duration="4s")),
            add(1, group("g", 1)),
            add(1, pod("g-0", in_group="g")),
        ],
        {"a": (0, 4), "g-0": (6, None)},
    ),
    "a deleted pod gives its room back": (
        [add(0, node("n1", "1")), add(0, pod("a", duration="50s")), add(1, pod("b")), delete(2, "Pod", "a")],
        {"a": (0, None), "b": (2, None)},
    ),
    "a waiting pod may be deleted": (
        [add(0, pod("a")), delete(1, "Pod", "a"), add(2, node("n1"))],
        {"a": (None, None)},
    ),
    "a name may be used again, and the old pod's end does not touch the new one": (
        [
            add(0, node("n1")),
            add(0, pod("a", duration="5s")),
            delete(2, "Pod", "a"),
            add(3, pod("a", duration="5s")),
        ],
        {"a": (3, 8)},
    ),
    "an update keeps the node of a running pod": (
        [add(0, node("n1", "2")), add(0, pod("a", duration="9s")), update(1, pod("a", duration="9s"))],
        {"a": (0, 9)},
    ),
    "an update may lift a scheduling gate": (
        [
            add(0, node("n1")),
            add(0, pod("a", schedulingGates=[{"name": "wait"}])),
            update(4, pod("a")),
        ],
        {"a": (4, None)},
    ),
    "a pod may come with its node": (
        [add(0, node("n1", "1")), add(0, pod("a", duration="3s", nodeName="n1")), add(1, pod("b"))],
        {"a": (0, 3), "b": (3, None)},
    ),
    "a node that grows lets a pod in": (
        [add(0, node("n1", "1")), add(0, pod("a", cpu="2")), update(7, node("n1", "2"))],
        {"a": (7, None)},
    ),
    "a gang waits for its last pod": (
        [
            add(0, node("n1")),
            add(0, group("g", 2)),
            add(0, pod("g-0", in_group="g")),
            add(5, pod("g-1", in_group="g")),
        ],
        {"g-0": (5, None), "g-1": (5, None)},
    ),
    "pods may come before their group": (
        [add(0, node("n1")), add(0, pod("g-0", in_group="g", duration="1s")), add(3, group("g", 1))],
        {"g-0": (3, 4)},
    ),
}


@pytest.mark.parametrize("events, want", CASES.values(), ids=CASES)
def test_pods_start_and_end_when_they_should(
    tmp_path: Path, events: list[dict[str, Any]], want: dict[str, tuple[float | None, float | None]]
) -> None:
    assert moments(play(write(tmp_path / "t.jsonl", events))) == want


def test_completions_come_before_events_and_those_before_flushes(tmp_path: Path) -> None:
    """All three fall on second 6; one cycle order tells: the gang of the flush is older than the new pod."""
    events = [
        add(0, node("n1", "1")),
        add(0, pod("a", duration="6s")),
        add(1, group("g", 1)),
        add(1, pod("g-0", in_group="g")),
        add(6, pod("b")),
    ]
    result, reports = play_with_reports(write(tmp_path / "t.jsonl", events))
    assert [report.entity for report in reports if report.time == 6 * SECOND][:1] == ["podgroup/default/g"]
    assert moments(result)["g-0"] == (6, None)


def test_the_end_is_cut_where_the_user_wants(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [add(0, node("n1")), add(0, pod("a", duration="10s")), add(8, pod("b"))])
    result = play(path, until=5 * SECOND)
    assert (result.end, moments(result)) == (5 * SECOND, {"a": (0, None)})
    assert result.ledger.integrals_at(result.end).served["cpu"] == 1000 * 5 * SECOND


def test_a_replay_ends_when_only_useless_retries_are_left(tmp_path: Path) -> None:
    events = [add(0, node("n1", "1")), add(0, group("g", 1)), add(0, pod("g-0", cpu="2", in_group="g"))]
    result = play(write(tmp_path / "t.jsonl", events))
    assert result.tries == 1
    assert [entity.key for entity in result.waiting.backoff] == ["podgroup/default/g"]
    assert result.ledger.gangs[result.waiting.backoff[0].key].why == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_replay_ends_without_backoff_too(tmp_path: Path) -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "podMaxBackoffSeconds": 1,
    }
    events = [add(0, node("n1", "1")), add(0, group("g", 1)), add(0, pod("g-0", cpu="2", in_group="g"))]
    assert play(write(tmp_path / "t.jsonl", events, HEADER | {"config": config})).tries == 1


def test_finished_groups_are_cleared_away_only_when_they_ask_for_it(tmp_path: Path) -> None:
    def events(**notes: str) -> list[dict[str, Any]]:
        return [add(0, node("n1")), add(0, group("g", 1, **notes)), add(0, pod("g-0", in_group="g", duration="2s"))]

    kept = play(write(tmp_path / "kept.jsonl", events()))
    gone = play(write(tmp_path / "gone.jsonl", events(**{"gangsched.dev/delete-when-finished": "true"})))
    assert len(kept.ledger.groups) == 1
    assert not gone.ledger.groups
    assert [gang.finished for gang in gone.ledger.all_gangs()] == [2 * SECOND]


def test_the_hash_sees_bindings_and_not_the_wording(tmp_path: Path) -> None:
    base = [add(0, node("n1")), add(0, pod("a")), add(0, pod("b", cpu="9"))]
    one = play(write(tmp_path / "1.jsonl", base))
    again = play(write(tmp_path / "2.jsonl", base))
    changed = [add(0, node("n1")), add(0, pod("a")), add(0, pod("b", nodeSelector={"disk": "ssd"}))]
    other_words = play(write(tmp_path / "3.jsonl", changed))
    later = play(write(tmp_path / "4.jsonl", [add(0, node("n1")), add(1, pod("a")), add(1, pod("b", cpu="9"))]))
    assert one.decisions_hash == again.decisions_hash == other_words.decisions_hash
    assert one.decisions_hash != later.decisions_hash
    assert one.decisions == 2  # a is bound, b's PodScheduled turns False


# --- --check --------------------------------------------------------------------------------------------------------


def test_an_over_committed_node_is_noticed() -> None:
    ledger = Ledger()
    ledger.node_added(make_node("n1").capacity(cpu=2, pods=10).obj())
    for name in ("a", "b"):
        ledger.pod_added(make_pod(name).requests(cpu="1500m").obj(), None)
    check_bindings(ledger, [ledger.pod_bound("default/a", "n1")])
    with pytest.raises(CheckFailed, match="node n1 is over-committed by pod default/b: cpu 3000 of 2000"):
        check_bindings(ledger, [ledger.pod_bound("default/b", "n1")])


def test_too_many_pods_on_a_node_are_noticed() -> None:
    ledger = Ledger()
    ledger.node_added(make_node("n1").capacity(cpu=2, pods=1).obj())
    for name in ("a", "b"):
        ledger.pod_added(make_pod(name).obj(), None)
    with pytest.raises(CheckFailed, match="pods 2 of 1"):
        check_bindings(ledger, [ledger.pod_bound("default/a", "n1"), ledger.pod_bound("default/b", "n1")])


def test_a_gang_below_its_minimum_is_noticed() -> None:
    ledger = Ledger()
    ledger.node_added(make_node("n1").capacity(cpu=9, pods=10).obj())
    ledger.group_added(make_pod_group("g").min_count(2).obj())
    for name in ("a", "b"):
        ledger.pod_added(make_pod(name).in_group("g").obj(), None)
    first = ledger.pod_bound("default/a", "n1")
    with pytest.raises(CheckFailed, match="pod default/a was bound although podgroup/default/g is below its minimum"):
        check_bindings(ledger, [first])
    check_bindings(ledger, [first, ledger.pod_bound("default/b", "n1")])


def test_a_tree_is_placed_when_enough_of_its_children_are(tmp_path: Path) -> None:
    events = [
        add(0, composite("root", 2)),
        add(0, group("g1", 1, "root")),
        add(0, group("g2", 1, "root")),
        add(0, pod("g1-0", in_group="g1")),
        add(0, pod("g2-0", in_group="g2")),
        add(1, node("n1")),
    ]
    result = play(write(tmp_path / "t.jsonl", events))
    (root,) = (key for key in result.ledger.groups if key.kind == "compositepodgroup")
    assert is_placed(result.ledger, root)
    result.ledger.pod_deleted("default/g2-0")
    assert not is_placed(result.ledger, root)

"""Damaged input is accepted or refused in one line; no other exception, no hang, no nonsense let through.

The long run: ``python -m tests.fuzz --inputs 100000 --seed 1``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsched.manifests import read_files
from tests.fuzz import samples
from tests.fuzz.readers import READERS, SHARES, ask, one
from tests.fuzz.sense import check_objects, check_run

FIXTURE = [HealthCheck.function_scoped_fixture]


@pytest.mark.parametrize("kind", READERS)
def test_damaged_input_is_accepted_or_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    @settings(max_examples=10 * SHARES[kind], deadline=None, suppress_health_check=FIXTURE, database=None)
    @given(seed=st.integers(0, 2**63))
    def look(seed: int) -> None:
        one(seed, tmp_path, kind)

    look()


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_of_many_inputs_some_are_accepted_and_some_refused(kind: str, tmp_path: Path) -> None:
    accepted = sum(one(seed, tmp_path, kind) for seed in range(1000))
    assert 20 < accepted < 980  # mutations must hit, and some must be harmless


def test_the_samples_themselves_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text(json.dumps(samples.WHOLE))
    objects = read_files([str(file)]).objects
    workloads = (1 + 2) + (1 + 2) + 2 + 2 + (1 + 2) + (1 + 1)
    assert len(objects) == 6 + workloads + 4  # the class of runtimes is none
    check_objects(objects)
    file.write_text(json.dumps(samples.CLUSTER))
    answer = ask("run", "-f", str(file), "-o", "json", codes=(0, 1))
    check_run(read_files([str(file)]).objects, json.loads(answer.stdout))
    for config in (samples.CONFIG, samples.FAIR):
        file.write_text(json.dumps(config))
        ask("config", "view", "-c", str(file), codes=(0,))
    file.write_text("\n".join(json.dumps(line) for line in samples.TRACE))
    ask("replay", str(file), "--check", codes=(0,))
    file.write_text("\n".join(samples.ROWS))
    ask("replay", str(file), "--check", codes=(0,))
    for scenario in samples.SCENARIOS:
        file.write_text(json.dumps(scenario))
        ask("conform", str(file), codes=(0,))


def test_nonsense_that_got_through_would_be_noticed(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text(json.dumps(samples.CLUSTER))
    objects = read_files([str(file)]).objects
    document = json.loads(ask("run", "-f", str(file), "-o", "json", codes=(0, 1)).stdout)
    document["pods"]["default/plain"]["node"] = document["bindings"]["default/plain"] = "n2"
    with pytest.raises(AssertionError, match="n2 is over-committed: cpu"):
        check_run(objects, document)
    document = json.loads(ask("run", "-f", str(file), "-o", "json", codes=(0, 1)).stdout)
    document["pods"]["default/g-0"]["node"] = None
    del document["bindings"]["default/g-0"]
    with pytest.raises(AssertionError, match="podgroup/default/g is below its minimum"):
        check_run(objects, document | {"evicted": {}})

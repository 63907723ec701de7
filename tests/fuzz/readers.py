"""Each reader of the command, asked with damaged input: it may accept it or refuse it in one line, nothing else."""

from __future__ import annotations

import gc
import io
import json
import random
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from attrs import frozen

from gangsched.cli.main import main
from gangsched.manifests import read_files
from tests.fuzz import samples
from tests.fuzz.mutate import as_json, as_yaml, garbled, mutated
from tests.fuzz.sense import check_configuration, check_objects, check_run

LIMIT = 5.0
"""Seconds of processor time one input may take."""

SUBJECTS = ("pod/p", "pod/plain", "pod/g-0", "podgroup/g", "cpg/root", "pg/j")
NO_GROUPS = "CompositePodGroup=false,TopologyAwareWorkloadScheduling=false,GenericWorkload=false"
WALKTHROUGH = str(samples.ROOT / "examples" / "walkthrough")
EVOLUTION = str(samples.ROOT / "examples" / "three-stage-evolution.jsonl")
RECORDING = str(samples.ROOT / "tests" / "conformance" / "kube" / "cases" / "plain-pod-gate.json")
_LONGEST = 1000
_SAID = re.compile(r"warning: |skipped objects of |skipped \d|.*: [\d,]+ events, [\d,]+ cycles$|Warning: ")


class Hang(Exception):
    """An input took longer than ``LIMIT``."""


@frozen
class Answer:
    """Exit code and what was printed. ``accepted``: the command went on to its work."""

    code: int
    stdout: str
    stderr: str

    @property
    def accepted(self) -> bool:
        return self.code != 2


def ask(*args: str, codes: tuple[int, ...] = (0, 2)) -> Answer:
    """Run the command in this process; any exception but its exit, a hang, and an unfit refusal are raised."""
    # A replay looks through all objects first; of a small one that is nearly the whole time.
    with _bounded(), patch.object(gc, "collect"):
        answer = _answer(args)
    assert answer.code in codes, f"exit code {answer.code}: {answer.stderr}"
    if not answer.accepted:
        assert answer.stdout == "" or args[0] == "conform"  # which plays scenario after scenario
        _check_refusal(answer)
    return answer


_OUT, _ERR = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
"""Standard output and error of every command: click keeps whatever it once wrote to."""


def _answer(args: tuple[str, ...]) -> Answer:
    code: object = 0
    with redirect_stdout(_OUT), redirect_stderr(_ERR):
        try:
            main(args, prog_name="gangsched")
        except SystemExit as end:
            code = end.code
        finally:
            stdout, stderr = _written(_OUT), _written(_ERR)
    assert isinstance(code, int), code
    return Answer(code, stdout, stderr)


def _written(stream: io.TextIOWrapper) -> str:
    """What was written to ``stream`` since the last time."""
    stream.seek(0)
    text = stream.read()
    stream.seek(0)
    stream.truncate()
    return text


def _check_refusal(answer: Answer) -> None:
    assert answer.stderr.endswith("\n")
    lines = [line for line in answer.stderr.removesuffix("\n").split("\n") if not _SAID.match(line)]
    assert len(lines) == 1, answer.stderr
    assert lines[0].isprintable()
    assert 0 < len(lines[0]) <= _LONGEST


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise Hang inside the body when it uses more processor time than ``LIMIT``."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(*_: object) -> NoReturn:
    raise Hang


def _document(text: str) -> Any:
    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} in the output")

    return json.loads(text, parse_constant=refuse)


# --- one input a reader ---------------------------------------------------------------------------------------------


def manifests(dice: random.Random, folder: Path) -> bool:
    """``run``, ``explain``, ``top``, ``replay --nodes`` and ``--queues``."""
    kind = dice.randrange(10)
    document = _manifest(dice, only={1: samples.NODE, 2: samples.QUEUE}.get(kind))
    raw, name = (as_json(document), "m.json") if dice.randrange(2) else (as_yaml(document), "m.yaml")
    file = folder / (name if dice.randrange(4) else "m")
    file.write_bytes(garbled(dice, raw))
    if kind == 0:
        return ask("explain", dice.choice(SUBJECTS), "-n", "default", str(file)).accepted
    if kind == 1:
        return ask("replay", EVOLUTION, "--nodes", str(file), "--check", "--until", "10").accepted
    if kind == 2:
        return ask("replay", EVOLUTION, "--queues", str(file), "--check", "--until", "10").accepted
    if kind == 3:
        answer = ask("top", dice.choice(("queues", "jobs")), str(file), "-o", "json")
        if answer.accepted:
            _document(answer.stdout)
        return answer.accepted
    if kind == 4:
        return ask("run", "-f", str(file), "--feature-gates", NO_GROUPS, codes=(0, 1, 2)).accepted
    answer = ask("run", "-f", str(file), "-o", "json", codes=(0, 1, 2))
    if answer.accepted:
        objects = read_files([str(file)]).objects
        check_objects(objects)
        check_run(objects, _document(answer.stdout))
    return answer.accepted


TIMES = (1, 1, 1, 2, 3)
"""How often one input is damaged: mostly so little that it may still make sense."""


def _manifest(dice: random.Random, *, only: Any = None) -> Any:
    """``only``, or many objects, or one, alone or in a cluster where it can be scheduled."""
    times = dice.choice(TIMES)
    if only is not None:
        return mutated(dice, only, times)
    if dice.randrange(4) == 0:
        return mutated(dice, dice.choice((samples.CLUSTER, samples.WHOLE)), times)
    item = dice.choice((*samples.ITEMS, *samples.CLUSTER["items"]))
    if dice.randrange(6):
        parts = [name for name, value in item.items() if isinstance(value, dict) and name != "metadata"]
        part = dice.choice(parts or ["metadata"])
        item = {**item, part: mutated(dice, item[part], times)}
    else:
        item = mutated(dice, item, times)
    return item if dice.randrange(2) else {**samples.CLUSTER, "items": [*samples.CLUSTER["items"], item]}


def configurations(dice: random.Random, folder: Path) -> bool:
    """``config view``, and ``-c`` of ``run``, ``replay`` and ``conform``."""
    document = mutated(dice, dice.choice((samples.CONFIG, samples.CONFIG, samples.FAIR)), dice.choice(TIMES))
    raw = garbled(dice, as_json(document) if dice.randrange(2) else as_yaml(document))
    file = folder / "c.yaml"
    file.write_bytes(raw)
    kind = dice.randrange(10)
    if kind == 0:
        return ask("run", "-f", WALKTHROUGH, "-c", str(file), codes=(0, 1, 2)).accepted
    if kind == 1:
        return ask("replay", EVOLUTION, "-c", str(file), "--check").accepted
    if kind == 2:
        return ask("conform", RECORDING, "-c", str(file), codes=(0, 1, 2)).accepted
    answer = ask("config", "view", "-c", str(file), "-o", "json")
    if answer.accepted:
        check_configuration(_document(answer.stdout))
    return answer.accepted


def native_traces(dice: random.Random, folder: Path) -> bool:
    """``replay`` of the native trace; cut after an hour, as what never fits is retried as long as anything runs."""
    lines = list(samples.TRACE)
    if dice.randrange(8) == 0:
        lines[0] = {**lines[0], "config": mutated(dice, samples.CONFIG)}
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(lines))
        lines[at] = mutated(dice, lines[at])
    return _replay(dice, folder, garbled(dice, b"\n".join(as_json(line) for line in lines)))


def philly_tables(dice: random.Random, folder: Path) -> bool:
    """``replay`` of the Philly table."""
    rows = [row.split(",") for row in samples.ROWS]
    for _ in range(dice.randrange(1, 4)):
        row = dice.choice(rows)
        if dice.randrange(4):
            row[dice.randrange(len(row))] = dice.choice(_CELLS)
        else:
            row.append("1") if dice.randrange(2) or len(row) == 1 else row.pop()
    text = "\n".join(",".join(row) for row in rows).encode("utf-8", "surrogatepass")
    more = ("--pod-per-gpu",) if dice.randrange(3) == 0 else ()
    return _replay(dice, folder, garbled(dice, text), "--nodes", "2x8gpu", *more)


_CELLS = (
    "",
    "0",
    "-1",
    "1e9",
    "1e400",
    "nan",
    "inf",
    "0.5",
    "8",
    "16",
    "8193",
    "x",
    '"',
    "9" * 80,
    "é",
    "\udcff",
    " 1",
)


def _replay(dice: random.Random, folder: Path, raw: bytes, *more: str) -> bool:
    file = folder / "t"
    file.write_bytes(raw)
    if dice.randrange(3) == 0:
        more = (*more, "--lenient")
    answer = ask("replay", str(file), "--check", "--until", "1h", "-o", "json", *more)
    if answer.accepted:
        document = _document(answer.stdout)
        assert "--lenient" in more or not document["trace"]["skipped"]
    return answer.accepted


def scenarios(dice: random.Random, folder: Path) -> bool:
    """``conform``."""
    document = mutated(dice, dice.choice(samples.SCENARIOS), dice.randrange(1, 3))
    file = folder / "s.json"
    file.write_bytes(garbled(dice, as_json(document)))
    return ask("conform", str(file), codes=(0, 1, 2)).accepted


READERS: dict[str, Callable[[random.Random, Path], bool]] = {
    reader.__name__.replace("_", "-"): reader
    for reader in (manifests, configurations, native_traces, philly_tables, scenarios)
}
"""Kind -> reader: makes one input from the dice, asks, and says whether it was accepted."""

SHARES = {"manifests": 8, "configurations": 5, "native-traces": 4, "philly-tables": 2, "scenarios": 1}
"""Of twenty inputs, how many are of which kind."""


def one(seed: int | str, folder: Path, kind: str) -> bool:
    """Input number ``seed`` of a kind; whether it was accepted."""
    return READERS[kind](random.Random(f"{kind}/{seed}"), folder)

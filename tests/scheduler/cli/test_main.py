"""The command itself: help, errors in one line, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gangsched.cli.main import VERBS, main
from tests.scheduler.cli.command import gangsched

ROOT = Path(__file__).resolve().parents[3]


def started(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process, as a user starts it."""
    return subprocess.run(
        [sys.executable, "-m", "gangsched", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | environment,
    )


def test_help_names_every_verb() -> None:
    for args in ((), ("--help",), ("-h",)):
        result = gangsched(*args)
        assert result.exit_code == 0
        assert all(verb in result.stdout for verb in VERBS)


def test_a_group_of_verbs_alone_shows_its_help() -> None:
    result = gangsched("config")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Usage: gangsched config")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_can_be_loaded_and_explains_itself(verb: str) -> None:
    result = gangsched(verb, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: {main.name} {verb}")


MISSING = "cannot be read: no such file or directory"


@pytest.mark.parametrize("verb", [*(verb for verb in VERBS if verb != "config"), "config view"])
def test_every_verb_tells_its_exit_codes(verb: str) -> None:
    assert "Exit code" in " ".join(gangsched(*verb.split(), "--help").stdout.split())


ERRORS = {
    "an unknown verb": (("rnu",), "gangsched: No such command 'rnu'"),
    "an unknown option": (("run", "--oncee"), "No such option '--oncee'"),
    "nothing to run": (("run",), "gangsched run: nothing to run: name manifests with -f FILE"),
    "an unknown output": (("run", "-f", "x", "-o", "xml"), "'xml' is not one of"),
    "a misspelt output": (("run", "-f", "x", "-o", "jsn"), """'yaml'; did you mean "json"?; see"""),
    "a misspelt subject": (("top", "queus"), """'queues', 'jobs'; did you mean "queues"?; see gangsched top --help"""),
    "a missing subject": (("top",), "Missing argument 'queues|jobs'. Choose from: queues, jobs; see"),
    "a missing manifest": (("run", "-f", "missing.yaml"), f"missing.yaml: {MISSING}"),
    "a missing trace": (("replay", "missing.jsonl"), f"missing.jsonl: {MISSING}"),
    "a missing recording": (("conform", "missing.jsonl"), f"missing.jsonl: {MISSING}"),
    "a missing configuration": (("config", "view", "-c", "missing.yaml"), f"missing.yaml: {MISSING}"),
    "an empty trace on standard input": (("replay", "-"), "<stdin>:1: found an empty file, allowed a trace with its"),
    "queues on standard input": (
        ("replay", "examples/three-stage-evolution.jsonl", "--queues", "-"),
        "--queues: found standard input, allowed a file or folder",
    ),
    "standard input given twice": (
        ("run", "-f", "-", "-f", "-"),
        "<stdin>: found - twice, allowed standard input once",
    ),
    "an unknown gate": (
        ("run", "-f", "x", "--feature-gates", "CompositePodGroups=true"),
        'did you mean "CompositePodGroup"?',
    ),
    "a gate without a value": (("run", "-f", "x", "--feature-gates", "CompositePodGroup"), "CompositePodGroup=true"),
    "a bad moment": (("replay", "x", "--until", "soon"), "found 'soon', allowed seconds or a duration such as 1d12h"),
    "an unknown format": (("replay", "x", "--format", "swf"), "'swf' is not one of"),
}


@pytest.mark.parametrize("args, want", ERRORS.values(), ids=ERRORS)
def test_a_users_error_is_one_line_and_exit_code_2(args: tuple[str, ...], want: str) -> None:
    result = gangsched(*args)
    assert result.exit_code == 2
    assert want in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_process_leaves_with_the_exit_code() -> None:
    assert started("--version").returncode == 0
    assert started("run", "-f", "examples/walkthrough").returncode == 1
    failed = started("run", "-f", "missing.yaml")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("missing.yaml: ")
    assert "Traceback" not in failed.stderr


def test_a_terminal_that_lacks_a_sign_gets_its_escape() -> None:
    told = started("run", "-f", "examples/walkthrough", "--trace", PYTHONIOENCODING="latin-1")
    assert (told.returncode, told.stderr) == (1, "")
    assert "R=2 S=0 M=1 \\u2192 Wait" in told.stdout


@pytest.mark.parametrize("args", ["run -f -", "explain pod/a -f -", "top jobs -f -", "replay -"])
def test_a_closed_standard_input_is_an_error_in_one_line(args: str) -> None:
    command = f"{sys.executable} -m gangsched {args} <&-"
    answer = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "<stdin>: cannot be read: it is closed\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_an_error_in_one_line() -> None:
    command = f"{sys.executable} -m gangsched config view > /dev/full"
    answer = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (answer.returncode, answer.stderr) == (2, "gangsched: No space left on device\n")


@pytest.mark.parametrize("verb", [("run", "-f"), ("replay",), ("config", "view", "-c"), ("conform",)])
def test_a_file_name_of_two_lines_is_told_in_one(tmp_path: Path, verb: tuple[str, ...]) -> None:
    path = tmp_path / "a\nb.json"
    path.write_text("{", encoding="utf-8")
    result = gangsched(*verb, str(path))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "a\\nb.json:1: " in result.stderr


def test_of_an_endless_line_the_beginning_and_the_end_are_told(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + "x" * 1015 + ": 1\n"
    )
    told = gangsched("config", "view", "-c", str(path)).stderr
    assert told.startswith(f'{path}:3: unknown field "xxx')
    assert " … xxx" in told
    assert len(told) == 1001


@pytest.mark.parametrize("args, code", [("run -f examples/walkthrough", 1), ("run -f missing.yaml", 2)])
def test_a_closed_stdout_keeps_the_exit_code_and_shows_no_traceback(args: str, code: int) -> None:
    command = f"{sys.executable} -m gangsched {args} >&-"
    answer = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert answer.returncode == code
    assert "Traceback" not in answer.stderr


FILES = "-f examples/walkthrough"
OUTPUTS = {
    "the help": "--help",
    "run": f"run {FILES} --trace",
    "explain": f"explain pod/pg1-pod-0 {FILES}",
    "top": f"top queues {FILES}",
    "replay": "replay examples/debated-choices.jsonl.gz --trace",
    "conform": "conform tests/conformance --list",
    "bench": "bench --list",
    "config": "config view",
}


@pytest.mark.parametrize("arguments", OUTPUTS.values(), ids=OUTPUTS)
def test_a_reader_that_leaves_early_ends_every_verb_alike_without_a_word(arguments: str) -> None:
    command = [sys.executable, "-m", "gangsched", *arguments.split()]
    reading, writing = os.pipe()
    os.close(reading)
    answer = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    os.close(writing)
    assert (answer.returncode, answer.stderr) == (141, "")

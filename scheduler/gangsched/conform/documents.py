"""Find recorded scenarios under a path and recognise their format by shape."""

from __future__ import annotations

import gzip
import json
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from gangsched.conform.errors import ConformError
from gangsched.conform.scenario import Scenario
from gangsched_framework.errors import unreadable

KUBE_FORMAT = "gangsched conformance v1"
MAX_BYTES = 64 << 20
"""Longest document; what is longer, a gzip bomb say, is refused before it fills the memory."""

SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


def read_scenarios(paths: Sequence[Path]) -> Iterator[Scenario]:
    """Every scenario of the files and folders, in order of path, file name and line.

    Raises ConformError for a path without scenarios, broken JSON or gzip, and documents of no known shape.
    """
    for path in paths:
        for file in _files(path):
            yield from _read_file(file)


def _files(path: Path) -> list[Path]:
    try:
        if not stat.S_ISDIR(path.stat().st_mode):
            return [path]
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        raise ConformError(f"{path}: {unreadable(problem)}") from None
    found = sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES) and p.is_file())
    if not found:
        raise ConformError(f"{path}: no recorded scenarios, expected files named *{', *'.join(SUFFIXES)}")
    return found


def _read_file(file: Path) -> Iterator[Scenario]:
    if file.name.removesuffix(".gz").endswith(".jsonl"):
        for number, line in _lines(file):
            where = f"{file}:{number}"
            yield from _recognise(_parse(line, where, 0), where, file)
    else:
        text = _text(file)
        yield from _recognise(_parse(text, str(file), 1), str(file), file)


def _text(file: Path) -> str:
    lines: list[str] = []
    size = 0
    for _, line in _lines(file):
        size += len(line) + 1
        if size > MAX_BYTES:
            raise ConformError(f"{file}: found more than {MAX_BYTES} bytes, a recording has far less")
        lines.append(line)
    return "\n".join(lines)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """(line number, line) of a text file, gzip or plain."""
    number = 0
    try:
        with gzip.open(file, "rb") if file.name.endswith(".gz") else file.open("rb") as stream:
            for number, raw in enumerate(iter(partial(stream.readline, MAX_BYTES + 1), b""), start=1):
                if len(raw) > MAX_BYTES:
                    raise ConformError(f"{file}:{number}: found a line of more than {MAX_BYTES} bytes")
                yield number, raw.decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as problem:
        raise ConformError(f"{file}:{number}: not UTF-8: {problem.reason}") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise ConformError(f"{file}:{number + 1}: {unreadable(problem)}") from None


def _parse(text: str, where: str, first_line: int) -> Any:
    """JSON text as a value; ``first_line`` 1 = a position inside the text is worth telling."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as problem:
        place = f"{where}:{problem.lineno}" if first_line else where
        raise ConformError(f"{place}: broken JSON: {problem.msg} (column {problem.colno})") from None
    except RecursionError:
        raise ConformError(f"{where}: broken JSON: nested too deeply") from None
    except ValueError as problem:
        raise ConformError(f"{where}: broken JSON: {problem}") from None


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _recognise(document: Any, where: str, file: Path) -> Iterator[Scenario]:
    if isinstance(document, dict):
        if document.get("format") == KUBE_FORMAT:
            _check_kube(document, where)
            yield Scenario(document["name"], "kube", where, document)
            return
        if isinstance(document.get("scenario"), dict) and "result" in document:
            yield Scenario(str(document["scenario"].get("name", where)), "volcano", where, document)
            return
        if "cases" in document and "plugin" in document:
            for case in _list(document, "cases", where):
                yield _node_plugin_case(case, where)
            return
        if "want" in document and "pod" in document:
            yield _node_plugin_case(document, where)
            return
        if document and all(isinstance(v, dict) and ("profiles" in v or "stage" in v) for v in document.values()):
            yield from _configurations(document, where, file)
            return
    elif (
        isinstance(document, list)
        and document
        and all(isinstance(item, dict) and isinstance(item.get("in"), str) for item in document)
    ):
        for item in document:
            yield Scenario(f"quantity/{json.dumps(item['in'])}", "quantity", where, item)
        return
    raise ConformError(f"{where}: unknown format, expected a recorded scenario ({KUBE_FORMAT}, node plugins, volcano)")


def _configurations(document: dict[str, Any], where: str, file: Path) -> Iterator[Scenario]:
    """``facts.json`` (sets of gates) or ``configs.json`` (files of the folder ``configs`` beside it)."""
    if all("events" in want for want in document.values()):
        for gates, want in document.items():
            yield Scenario(f"facts/{gates}", "facts", where, {"gates": gates, "want": want})
        return
    for name, want in document.items():
        source = file.parent / "configs" / name
        yield Scenario(f"configs/{name}", "configuration", where, {"file": str(source), "want": want})


def _node_plugin_case(case: Any, where: str) -> Scenario:
    if not isinstance(case, dict):
        raise ConformError(f"{where}: a case is an object, found {_kind(case)}")
    place = f"{where}: case {case.get('name', '?')}"
    _check_fields(case, _CASE_FIELDS, place)
    _check_fields(case, {key: kind for key, kind in _OPTIONAL_CASE_FIELDS.items() if key in case}, place)
    for key in ("nodes", *_OPTIONAL_CASE_FIELDS):
        for number, item in enumerate(case[key] if isinstance(case.get(key), list) else ()):
            if not isinstance(item, dict):
                raise ConformError(f"{place}: {key}[{number}]: found {_kind(item)}, expected an object")
    return Scenario(case["name"], "node-plugin", where, case)


Types = type | tuple[type, ...]

_CASE_FIELDS: dict[str, Types] = {"name": str, "plugin": str, "nodes": list, "pod": dict, "want": dict}
_OPTIONAL_CASE_FIELDS: dict[str, Types] = {
    **dict.fromkeys(("pods", "hints", "namespaces", "services", "replicationControllers"), list),
    **dict.fromkeys(("replicaSets", "statefulSets", "persistentVolumeClaims"), list),
    "profile": dict,
    "gates": dict,
    "repeat": int,
}
_CONFIG_FIELDS: dict[str, Types] = {
    "gates": dict,
    "kubeSchedulerConfiguration": dict,
    "trace": bool,
    "evictAtOnce": bool,
}
_STEP_FIELDS: dict[str, dict[str, Types]] = {
    "create": {"object": dict},
    "patch": {"kind": str, "name": str, "patch": dict},
    "delete": {"kind": str, "name": str},
    "cycle": {},
    "drain": {},
    "advance": {"seconds": (int, float)},
}
_OPTIONAL_STEP_FIELDS: dict[str, Types] = {
    **dict.fromkeys(("afterPop", "afterAlgorithm", "failBind"), list),
    "namespace": str,
    "graceful": bool,
    "max": int,
}


def _check_kube(document: dict[str, Any], where: str) -> None:
    _check_fields(document, {"name": str}, where)
    config = document.setdefault("config", {})
    _check_fields(document, {"config": dict}, where)
    _check_fields(config, {key: kind for key, kind in _CONFIG_FIELDS.items() if key in config}, f"{where}: config")
    steps, records = _list(document, "steps", where), _list(document, "records", where)
    if len(steps) != len(records):
        raise ConformError(f"{where}: {len(steps)} steps but {len(records)} records, expected one record a step")
    for number, (step, record) in enumerate(zip(steps, records, strict=True)):
        _check_step(step, f"{where}: steps[{number}]")
        if not isinstance(record, dict):
            raise ConformError(f"{where}: records[{number}]: found {_kind(record)}, expected an object")


def _check_step(step: Any, where: str) -> None:
    if not isinstance(step, dict) or not isinstance(step.get("op"), str) or step["op"] not in _STEP_FIELDS:
        allowed = ", ".join(_STEP_FIELDS)
        found = json.dumps(step.get("op")) if isinstance(step, dict) else _kind(step)
        raise ConformError(f"{where}: op: found {found}, allowed {allowed}")
    _check_fields(step, _STEP_FIELDS[step["op"]], where)
    _check_fields(step, {key: kind for key, kind in _OPTIONAL_STEP_FIELDS.items() if key in step}, where)
    if step["op"] == "advance" and step["seconds"] < 0:
        raise ConformError(f"{where}: seconds: found {step['seconds']}, expected 0 or more")
    for hook in ("afterPop", "afterAlgorithm"):
        for number, inner in enumerate(step.get(hook, ())):
            _check_step(inner, f"{where}: {hook}[{number}]")


def _check_fields(value: dict[str, Any], fields: Mapping[str, Types], where: str) -> None:
    for name, kind in fields.items():
        if not isinstance(value.get(name), kind):
            raise ConformError(f"{where}: {name}: found {_kind(value.get(name))}, expected {_kind_of(kind)}")


def _list(document: dict[str, Any], key: str, where: str) -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise ConformError(f"{where}: {key}: found {_kind(value)}, expected a list")
    return value


def _kind(value: Any) -> str:
    return _kind_of(type(value))


def _kind_of(kind: Types) -> str:
    names: dict[Types, str] = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        type(None): "nothing",
    }
    return names.get(kind, "a number")

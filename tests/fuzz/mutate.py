"""Damage to valid input: values dropped, retyped, renamed, duplicated, moved or nested; texts cut, doubled or garbled.

Everything is drawn from a ``random.Random``, so one number names one input.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from typing import Any

import yaml

NONSENSE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**50, 0.5, 1.5, -0.0, 1e300, float("inf"), float("nan")),
    *("", " ", "x", "X_", "*", "é", "ü", "\u2028", "\x00", "\x1b[31m", "\udcff", "a b", "a" * 300),
    *("-1", "1e9", "1e400", "500m", "9E", "5 Gi", "NaN", "null", "true", "{{.x}}", "default/a", "Pod", "NodeName"),
    *("300s", "-5s", "2026-13-01T00:00:00Z"),
    *([], {}, [[]], {"a": {}}, [None], {"": ""}, {"": 1}, {"items": []}, [{"key": 5}]),
)
LIKELY_NUMBERS = (0, 1, 2, 3, 7, 50, 100, 101, 300, 10**9, 2**31 - 1)
LIKELY_TEXTS = (
    *("a", "g", "h", "pg", "root", "n1", "web", "zone", "urgent", "default", "system-node-critical", "c2"),
    *("0", "1", "3", "250m", "2Gi", "1e3", "0.5", "50%", "10s", "1h30m", "kubernetes.io/hostname"),
    *("Exists", "In", "NotIn", "Gt", "DoesNotExist", "NoExecute", "PreferNoSchedule", "Never", "Always", "Running"),
    *("ScheduleAnyway", "Honor", "Ignore", "UDP", "MostAllocated", "LeastAllocated", "System", "DefaultBinder", "Gang"),
)
"""What may well be right somewhere: damage that only changes the meaning."""
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) below ``document``."""
    found: list[tuple[Any, Any]] = []
    waiting = [document] if isinstance(document, dict | list) else []
    while waiting:
        container = waiting.pop()
        for key in list(container) if isinstance(container, dict) else range(len(container)):
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def mutated(dice: random.Random, document: Any, times: int = 1) -> Any:
    """A copy of ``document`` with ``times`` places damaged."""
    document = copy.deepcopy(document)
    for _ in range(times):
        found = places(document)
        if not found:
            return copy.deepcopy(dice.choice(NONSENSE))
        container, key = dice.choice(found)
        _damage(dice, document, container, key)
    return document


def _damage(dice: random.Random, document: Any, container: Any, key: Any) -> None:
    how = dice.randrange(11)
    if how > 7 and isinstance(container[key], str | int):
        likely: tuple[Any, ...] = LIKELY_TEXTS if isinstance(container[key], str) else LIKELY_NUMBERS
        container[key] = dice.choice(likely)
    elif how in (0, 8):
        del container[key]
    elif how == 1 and isinstance(container, dict):
        names = (str(key).upper(), str(key)[:-1], f"{key}s", "x", "", "add", "kind")
        container[dice.choice(names)] = container.pop(key)
    elif how == 2 and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    elif how == 3:
        other, at = dice.choice(places(document))
        container[key] = copy.deepcopy(other[at])
    elif how == 4:
        container[key] = [container[key]]
    elif how == 5:
        container[key] = {dice.choice(("a", "items", str(key))): container[key]}
    elif how == 6 and dice.randrange(20) == 0:
        for _ in range(dice.choice((50, 150))):
            container[key] = [container[key]]
    else:
        container[key] = copy.deepcopy(dice.choice(NONSENSE))


def as_json(document: Any) -> bytes:
    """JSON, NaN and half characters included."""
    return json.dumps(document).encode()


def as_yaml(document: Any) -> bytes:
    """YAML, with anchors and aliases where a value stands twice; JSON where YAML cannot say it."""
    try:
        return bytes(yaml.dump(document, Dumper=_DUMPER, allow_unicode=True).encode("utf-8", "surrogatepass"))
    except (yaml.YAMLError, UnicodeError):
        return as_json(document)


def garbled(dice: random.Random, raw: bytes) -> bytes:
    """Mostly ``raw`` itself; else cut, with bytes changed or put in, lines moved, packed, or in another encoding."""
    how = dice.randrange(30)
    at = dice.randrange(len(raw) + 1)
    if how == 0:
        return raw[:at]
    if how == 1:
        return raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]
    if how == 2:
        return raw[:at] + raw[at // 2 :]
    if how == 3:
        return (
            raw[:at]
            + dice.choice((b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b"&a ", b"*a", b"<<: ", b"!!x ", b"---\n"))
            + raw[at:]
        )
    if how == 4:
        return _moved(dice, raw)
    if how == 5:
        packed = gzip.compress(raw, 1)
        return packed if dice.randrange(2) else packed[: dice.randrange(len(packed))]
    if how == 6:
        return raw[:at] + dice.choice((b"[", b'{"a":', b"- ", b"{a: ")) * 5000 + raw[at:]
    if how == 7:
        return raw.decode("utf-8", "replace").encode(dice.choice(("utf-16", "latin-1", "utf-32")), "replace")
    return raw


def _moved(dice: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    if dice.randrange(2):
        lines[one], lines[other] = lines[other], lines[one]
    elif dice.randrange(2):
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return b"\n".join(lines)

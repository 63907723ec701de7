"""The strict YAML and JSON reader: what values become, what is refused with which words, and where values stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.errors import InputError, did_you_mean
from gangsched_framework.strict_yaml import MAX_DEPTH, decode, parse, parse_json, read_text
from gangsched_framework.yaml_lines import line_of, lines

VALUES: dict[str, tuple[str, Any]] = {
    "a whole number": ("12", 12),
    "a number with a sign": ("-12", -12),
    "a number with separators": ("1_000", 1000),
    "a hexadecimal number": ("0x1F", 31),
    "an octal number as YAML 1.1 writes it": ("0777", 511),
    "an octal number as YAML 1.2 writes it": ("0o777", 511),
    "a number with a dot": ("0.5", 0.5),
    "a number with an exponent and no dot, as Kubernetes reads it": ("1e3", 1000.0),
    "a quantity stays text": ("100m", "100m"),
    "a quoted number stays text": ('"12"', "12"),
    "a base-60 number stays text": ("12:30", "12:30"),
    "a date stays text": ("2026-01-01", "2026-01-01"),
    "a timestamp stays text": ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    "yes is true, as Kubernetes reads it": ("yes", True),
    "off is false, as Kubernetes reads it": ("off", False),
    "a lone y stays text": ("y", "y"),
    "a tilde is nothing": ("~", None),
    "an empty value is nothing": ("", None),
    "a quoted empty value is text": ('""', ""),
    "the text tag makes text": ("!!str 5", "5"),
    "a hexadecimal prefix without digits stays text": ("0x_", "0x_"),
}


@pytest.mark.parametrize(("text", "want"), VALUES.values(), ids=VALUES)
def test_a_plain_value_becomes(text: str, want: Any) -> None:
    assert parse(f"k: {text}", "f") == [{"k": want}]
    assert type(parse(f"k: {text}", "f")[0]["k"]) is type(want)


@pytest.mark.parametrize("key", ["on", "1", "true", "1.0", "2026-01-01"])
def test_a_key_is_text_as_written(key: str) -> None:
    assert parse(f"{key}: x", "f") == [{key: "x"}]


def bomb(levels: int) -> str:
    """Each level lists the one before nine times."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(rows)


REFUSED = {
    "a key written twice": ("a: 1\nb: 2\na: 3", '3: key "a" already set in map'),
    "a key written twice in a flow mapping": ("x: {b: 1, b: 2}", '1: key "b" already set in map'),
    "a key written twice in JSON": ('{"b": 1,\n "b": 2}', '2: key "b" already set in map'),
    "a key with a line break written twice": ('"a\\nb": 1\n"a\\nb": 2', '2: key "a\\nb" already set in map'),
    "a tag with a line break": ("a: !b%0Ac 1", "1: tag !b\\nc is not allowed"),
    "a Python object": ("a: !!python/object/apply:os.system [ls]", "1: tag !!python/object/apply:os.system is not"),
    "a private tag": ("a: !thing 1", "1: tag !thing is not allowed"),
    "a private tag on a key": ("!thing a: 1", "1: tag !thing is not allowed"),
    "a number tag on text": ("a: !!int x", "1: tag !!int is not allowed"),
    "an alias inside its own anchor": ("a: &a\n- *a", "2: alias *a stands inside its own anchor"),
    "an alias deep inside its own anchor": ("a: &a {b: {c: [*a]}}", "1: alias *a stands inside its own anchor"),
    "an alias without anchor": ("a: *b", "1: alias *b has no anchor before it"),
    "an alias to an anchor of another document": ("a: &b 1\n---\na: *b", "3: alias *b has no anchor before it"),
    "aliases that expand to very much": (bomb(9), "6: the aliases expand to more than 100000 values"),
    "a merge of a number": ("a:\n  <<: 1\n  b: 2", "2: map merge requires map or sequence of maps as the value"),
    "a merge of a list of numbers": ("a: {<<: [{b: 1}, 2]}", "1: map merge requires map or sequence of maps as"),
    "two merge keys": ("a:\n  <<: {b: 1}\n  <<: {c: 1}", '3: key "<<" already set in map'),
    "a merge of itself": ("a: &a\n  <<: *a", "2: alias *a stands inside its own anchor"),
    "a key written twice beside a merge key": ("{<<: {b: 1}, b: 2, b: 3}", '1: key "b" already set in map'),
    "a list as key": ("? [a]\n: 1", "1: a key must be text"),
    "a list as key deep inside": ("a:\n- x\n- b: {c.d: {<<: {? [x] : 1}}}", '3: a[1].b["c.d"].<<: a key must be text'),
    "a template as a value": ("kind: Pod\nmetadata:\n  name: {{.Name}}", "3: metadata.name: a key must be text"),
    "an infinite number deep inside": ("a: [x, [y, {b: .inf}]]", "1: a[1][1].b: .inf is not a finite number"),
    "an alias as key": ("a: &a x\n*a : 1", "2: a key must be text"),
    "nothing as key": ("~: 1", "1: a key must be text, found nothing"),
    "a number that is none": ("a: .nan", "1: a: .nan is not a finite number"),
    "an infinite number": ("a: -.inf", "1: a: -.inf is not a finite number"),
    "a number too big for a float": ("a: 1e999", "1: a: 1e999 is not a finite number"),
    "a number too big for a float in JSON": ('{"a": 1e999}', "1: a: 1e999 is not a finite number"),
    "a number of five thousand digits": ("a: " + "9" * 5000, "1: a: 9999999999999999999999999999999999999999 is not a"),
    "a tab as indentation": ("a:\n\tb: 1", "2: found character that cannot start any token"),
    "a list that does not end": ("a: [1,\n\n", "1: did not find expected node content"),
    "JSON that does not end": ('{"a": 1,\n"b"', "2: did not find expected ',' or '}'"),
    "a control character": ("a: 1\nb: \x01", "2: control characters are not allowed, found a character with code 1"),
    "a zero byte": ("a\x00", "1: control characters are not allowed, found a character with code 0"),
    "lists 5,000 deep": ("[" * 5000 + "]" * 5000, "1: nested deeper than 100 levels"),
    "lists just too deep": ("[" * 101 + "]" * 101, "1: nested deeper than 100 levels"),
    "JSON mappings just too deep": ('{"a":' * 101 + "1" + "}" * 101, "1: nested deeper than 100 levels"),
    "blocks 5,000 deep": ("- " * 5000 + "x", "1: nested deeper than 100 levels"),
    "a million opening brackets": ("[" * 1_000_000, "1: nested deeper than 100 levels"),
    "half of a character pair": ('{"a": "\\ud800"}', "1: found invalid Unicode character escape code"),
    "text that cannot be encoded": ("a: \ud800", " half of a character pair stands alone (\\uD800 … \\uDFFF)"),
}


@pytest.mark.parametrize(("text", "want"), REFUSED.values(), ids=REFUSED)
def test_refused_with_line(text: str, want: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, "f.yaml")

    assert str(caught.value).startswith(f"f.yaml:{want}")
    assert "\n" not in str(caught.value)


def test_the_deepest_allowed_nesting_is_read() -> None:
    value: Any = "x"
    for _ in range(MAX_DEPTH):
        value = [value]

    assert parse("[" * MAX_DEPTH + "x" + "]" * MAX_DEPTH, "f") == [value]
    assert parse("[" * MAX_DEPTH + '"x"' + "]" * MAX_DEPTH, "f") == [value]


def test_an_alias_repeats_its_value() -> None:
    assert parse("a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]", "f") == [
        {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}, {"b": [1, 2]}]}
    ]


MERGES: dict[str, tuple[str, Any]] = {
    "brings fields": ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
    "leaves what the mapping writes before it": ("a: 2\n<<: {a: 1}", {"a": 2}),
    "leaves what the mapping writes after it": ("<<: {a: 1}\na: 2", {"a": 2}),
    "of several takes the first": ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
    "of an alias leaves its anchor alone": ("x: &x {a: 1}\ny: {<<: *x, b: 2}", {"x": {"a": 1}, "y": {"a": 1, "b": 2}}),
    "inside a merged mapping counts": ("<<: {<<: {a: 1}, b: 2}\nc: 3", {"a": 1, "b": 2, "c": 3}),
    "of an empty list brings nothing": ("<<: []\na: 1", {"a": 1}),
    "in quotes is a key": ('"<<": {a: 1}', {"<<": {"a": 1}}),
}


@pytest.mark.parametrize(("text", "want"), MERGES.values(), ids=MERGES)
def test_a_merge_key(text: str, want: Any) -> None:
    assert parse(text, "f") == [want]


def test_documents_keep_their_numbers() -> None:
    assert parse("# only words\n---\na: 1\n---\n---\n- b\n...\n", "f") == [None, {"a": 1}, None, ["b"]][1:]
    assert parse("", "f") == []
    assert parse("---\n---\na: 1", "f") == [None, {"a": 1}]


def test_json_with_tabs_and_character_pairs_is_read() -> None:
    assert parse('\ufeff{\n\t"a": ["\\ud83d\\ude00"]\n}'.lstrip("\ufeff"), "f") == [{"a": ["\U0001f600"]}]


def test_one_line_of_json_is_refused_with_the_callers_line() -> None:
    for text, want in {
        '{"t": NaN}': "t.jsonl:7: NaN is not a finite number",
        '{"t": 1, "t": 2}': 't.jsonl:7: key "t" already set in map',
        '{"t": 1': "t.jsonl:7: not JSON: Expecting ',' delimiter",
        "[" * 100_000: "t.jsonl:7: nested deeper than 100 levels",
    }.items():
        with pytest.raises(InputError) as caught:
            parse_json(text, "t.jsonl", 7)
        assert str(caught.value) == want


def test_files(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_bytes("\ufeffa: ä".encode())
    bad.write_bytes(b"a: 1\nb: \xff")

    assert parse(read_text(good), "good.yaml") == [{"a": "ä"}]
    with pytest.raises(InputError, match=r"bad\.yaml:2: the file is not UTF-8 text"):
        read_text(bad)
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: no such file or directory"):
        read_text(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        read_text("a\0b")
    bad.write_bytes(b"#" * (2**24 + 1))
    with pytest.raises(InputError, match=r"bad\.yaml: found more than 16777216 bytes"):
        read_text(bad)
    with pytest.raises(InputError, match="x:1: the file is not UTF-8 text"):
        decode("a: 1".encode("utf-16"), "x")


PLACES = """# a configuration
a: 1
b:
- c: d
  e: [1, 2]

- {f: g,
   h: i}
---
x:
  y: z
"""


def test_lines_of_values() -> None:
    assert lines(PLACES) == {
        (): 2,
        ("a",): 2,
        ("b",): 3,
        ("b", 0): 4,
        ("b", 0, "c"): 4,
        ("b", 0, "e"): 5,
        ("b", 0, "e", 0): 5,
        ("b", 0, "e", 1): 5,
        ("b", 1): 7,
        ("b", 1, "f"): 7,
        ("b", 1, "h"): 8,
    }
    assert lines(PLACES, 1) == {(): 10, ("x",): 10, ("x", "y"): 11}


def test_the_line_of_a_missing_value_is_that_of_what_would_hold_it() -> None:
    assert line_of(PLACES, 0, ["b", 1, "missing"]) == 7
    assert line_of(PLACES, 0, ["missing"]) == 2
    assert line_of(PLACES, 1, ["x", "y", "deeper"]) == 11
    assert line_of(PLACES, 2, []) is None
    assert line_of("a: [", 0, ["a"]) == 1


def test_did_you_mean() -> None:
    assert did_you_mean("schedulername", ["schedulerName"]) == '; did you mean "schedulerName"?'
    assert did_you_mean("NodeResourceFit", ["NodeName", "NodeResourcesFit"]) == '; did you mean "NodeResourcesFit"?'
    assert did_you_mean("xyz", ["schedulerName"]) == ""


# PyYAML writes text like 1E3 without quotes; Kubernetes' reader, and so ours, takes that for a number.
NUMERIC = tuple("0123456789+-.")
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(max_size=8).filter(lambda text: text.isprintable() and not text.startswith(NUMERIC))
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(min_size=1, max_size=5).filter(str.isprintable), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_read(value: Any) -> None:
    assert parse(json.dumps([value]), "f") == [[value]]
    assert parse(yaml.safe_dump(value, allow_unicode=True), "f") == [value]


@given(st.text(alphabet='ab:-[]{},&*! \n\t"#|>?%01.', max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refusal = ""
    try:
        parse(text, "f")
    except InputError as error:
        refusal = str(error)

    assert "\n" not in refusal

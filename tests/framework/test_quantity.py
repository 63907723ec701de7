"""Quantities (spec node-plugins.md §3.2), against the 217 recorded strings and as arithmetic."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.quantity import (
    MAX_INT64,
    UNIT,
    WRONG_FORMAT,
    WRONG_SUFFIX,
    Format,
    Quantity,
    parse_amount,
    parse_quantity,
    round_away,
    round_up_to_milli,
)

RECORD = Path(__file__).parents[2].parent / "shared/conformance/node-plugins/quantities.json"

# Recorded numbers that are bugs of the real parser: what leaves int64 wraps, and negative numbers in need of more than
# nano digits or 2**63 nano-units come out wrong (spec §3.2.4). Ours are mathematically exact.
DEVIATIONS = {
    "1E": {"milli"},
    "1Ei": {"milli"},
    "1.5E": {"milli"},
    "-1E": {"milli"},
    "-1Ei": {"value", "milli"},
    "-0.5n": {"value", "milli"},
    "1e19": {"value", "milli"},
    "5E": {"milli"},
    "9223372036854775808": {"value", "milli"},
    "9223372036854775808m": {"milli"},
    "9E": {"milli"},
    "8Ei": {"milli"},
    "7Ei": {"milli"},
    "99999999999999999999": {"value", "milli"},
    "123456789012345678901234567890": {"value", "milli"},
}


@pytest.mark.conformance
@pytest.mark.skipif(not RECORD.exists(), reason="the recordings are not here")
def test_every_recorded_string_parses_as_in_kubernetes_but_for_the_listed_bugs() -> None:
    differing = {}
    for record in json.loads(RECORD.read_text()):
        text = record["in"]
        try:
            quantity = parse_quantity(text)
        except ValueError as refusal:
            got: dict[str, object] = {"error": str(refusal), "sign": 0}
        else:
            got = {
                "value": quantity.value,
                "milli": quantity.milli_value,
                "canonical": quantity.canonical,
                "format": quantity.format.value,
                "sign": (quantity.nano > 0) - (quantity.nano < 0),
            }
        record = {field: value for field, value in record.items() if not field.startswith(("in", "milliC", "milliA"))}
        if different := {field for field in got.keys() | record.keys() if got.get(field) != record.get(field)}:
            differing[text] = different
    assert differing == DEVIATIONS


@pytest.mark.parametrize(
    "text, value, milli",
    [
        ("1E", 10**18, 10**21),
        ("1Ei", 2**60, 2**60 * 1000),
        ("-1Ei", -(2**60), -(2**60) * 1000),
        ("-0.5n", -1, -1),
        ("-1.5n", -1, -1),
        ("-1Pi", -(2**50), -(2**50) * 1000),
        ("1e19", 10**19, 10**22),
        ("8Ei", MAX_INT64, MAX_INT64 * 1000),
        ("-8Ei", -MAX_INT64, -MAX_INT64 * 1000),
        ("9223372036854775808", 2**63, 2**63 * 1000),
        ("9223372036854775808m", 9223372036854776, 2**63),
        ("1e-999999", 1, 1),
    ],
)
def test_where_the_real_parser_wraps_ours_is_exact(text: str, value: int, milli: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value, quantity.milli_value) == (value, milli)


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("1.0", "1"),
        ("0.9765625Ki", "1k"),
        ("1024.5Ki", "1049088"),
        ("2048E", "2048E"),
        ("1e1", "10"),
        ("1500e-3", "1500e-3"),
        ("15e2", "1500"),
        ("1e21", "1e21"),
    ],
)
def test_canonical_form(text: str, canonical: str) -> None:
    assert parse_quantity(text).canonical == canonical


def test_a_quantity_that_was_not_parsed_has_a_canonical_form() -> None:
    assert Quantity(1536 * UNIT, Format.BINARY).canonical == "1536"
    assert Quantity(1536 * 1024 * UNIT, Format.BINARY).canonical == "1536Ki"
    assert Quantity(1500 * UNIT, Format.EXPONENT).canonical == "1500"


def test_equality_is_by_amount_and_family_not_by_text() -> None:
    assert parse_quantity("1000m") == parse_quantity("1")
    assert parse_quantity("1024") != parse_quantity("1Ki")


@pytest.mark.parametrize("text, reason", [("1 Gi", WRONG_FORMAT), ("", WRONG_FORMAT), ("1K", WRONG_SUFFIX)])
def test_both_error_texts(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="quantit") as refused:
        parse_quantity(text)
    assert str(refused.value) == reason


@pytest.mark.parametrize("text", ["9" * 5000, "1e1001", "1e99999999999999999999"])
def test_absurd_lengths_are_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="quantity has"):
        parse_quantity(text)


@pytest.mark.parametrize(
    "text, resource, nano",
    [
        ("500m", "cpu", UNIT // 2),
        (" 1Gi\n", "memory", 2**30 * UNIT),
        ("1.5", "cpu", 3 * UNIT // 2),
        ("1e+20", "cpu", None),
        ("0", "cpu", 0),
        ("-0", "cpu", 0),
        ("5.", "pods", 5 * UNIT),
        ("9223372036854775807", "memory", MAX_INT64 * UNIT),
        ("9223372036854775807m", "cpu", MAX_INT64 * UNIT // 1000),
    ],
)
def test_amounts_of_resources(text: str, resource: str, nano: int | None) -> None:
    if nano is None:
        with pytest.raises(ValueError, match="must not exceed"):
            parse_amount(text, resource)
    else:
        assert parse_amount(text, resource) == nano


@pytest.mark.parametrize(
    "text, resource, reason",
    [
        ("-1", "", "must not be negative"),
        ("-0.1n", "", "must not be negative"),
        (".", "", "quantity has no digit before its suffix"),
        ("+", "", "quantity has no digit before its suffix"),
        ("-", "", "quantity has no digit before its suffix"),
        ("e3", "", "quantity has no digit before its suffix"),
        (".k", "", "quantity has no digit before its suffix"),
        ("9223372036854775808", "", "must not exceed 2**63 - 1"),
        ("9223372036854775807", "cpu", "must not exceed 2**63 - 1 milli-units"),
        ("9E", "cpu", "must not exceed 2**63 - 1 milli-units"),
        ("", "", WRONG_FORMAT),
        ("1GB", "", WRONG_FORMAT),
        ("1mi", "", WRONG_SUFFIX),
    ],
)
def test_an_amount_of_a_resource_is_refused_with_the_reason(text: str, resource: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_amount(text, resource)
    assert str(refused.value) == reason


SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "e2": 2, "E-4": -4}


@given(st.integers(-(10**14), 10**14), st.integers(0, 12), st.sampled_from(sorted(SUFFIXES)))
def test_a_decimal_quantity_is_its_number_rounded_away_from_zero_to_nano(digits: int, places: int, suffix: str) -> None:
    text = f"{'-' if digits < 0 else ''}{abs(digits) // 10**places}.{abs(digits) % 10**places:0{places}d}"
    exact = Fraction(digits, 10**places) * Fraction(10) ** SUFFIXES[suffix] * UNIT
    quantity = parse_quantity((text if places else text.split(".")[0]) + suffix)
    assert abs(quantity.nano) == -(-abs(exact.numerator) // exact.denominator)
    assert quantity.nano * digits >= 0


@given(st.integers(-(2**80), 2**80), st.sampled_from(Format))
def test_the_canonical_text_parses_to_the_same_amount_and_is_its_own_canonical_text(nano: int, form: Format) -> None:
    text = Quantity(nano, form).canonical
    again = parse_quantity(text)
    assert again.nano == nano
    if again.format is form:  # a number without suffix reads as decimal: 5000 of the binary family as 5k
        assert again.canonical == text


@given(st.integers(), st.integers(1, 10**12))
def test_rounding_goes_away_from_zero(amount: int, unit: int) -> None:
    rounded = round_away(amount, unit)
    assert abs(rounded) == -(-abs(amount) // unit)
    assert rounded * amount >= 0


def test_rounding_up_to_milli() -> None:
    assert [round_up_to_milli(n) for n in (0, 1, 10**6, 10**6 + 1)] == [0, 10**6, 10**6, 2 * 10**6]

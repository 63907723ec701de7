"""Times of manifests: RFC 3339 text to integer nanoseconds, through decimals only (architecture.md §4)."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from gangsched.manifests.errors import describe, found

SECOND = 10**9
"""Nanoseconds in a second."""

_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_RFC_3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)


@lru_cache(maxsize=4096)
def epoch_nanoseconds(text: str) -> int:
    """Nanoseconds from 1970 to the time ``text``; what lies beyond nanoseconds is cut. Raises InputError."""
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise found(describe(text), "a time such as 2026-01-01T00:00:00Z")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        raise found(describe(text), "a day of the calendar") from None
    seconds = days * _DAY + hour * 3600 + minute * 60 + second
    if match[8]:
        offset = int(match[9]) * 3600 + int(match[10]) * 60
        seconds -= offset if match[8] == "+" else -offset
    return seconds * SECOND + int((match[7] or "")[:9].ljust(9, "0"))

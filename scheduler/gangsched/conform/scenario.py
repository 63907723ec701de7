"""What a recorded scenario is to the runner, and what comes out of playing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

from gangsched_framework.errors import GangschedError

Format = Literal["kube", "node-plugin", "quantity", "configuration", "facts", "volcano"]


class ConformError(GangschedError):
    """A file that is no recorded scenario, or one that cannot be read; the text names file and line."""


class NotBuilt(Exception):
    """A scenario needs something this engine does not have; the text names it."""


@frozen
class Scenario:
    """One recorded scenario. ``document`` is the JSON document as it stands in the file, ``where`` is ``FILE[:LINE]``."""

    name: str
    format: Format
    where: str
    document: Mapping[str, Any]

    @property
    def differs(self) -> str:
        """Why the recording is deliberately not what the engine does; empty when it should be matched."""
        return str(self.document.get("differs_reason") or "") if self.document.get("differs_from_seed") else ""


@frozen
class Difference:
    """One place where the engine and the recording part. ``step`` counts from 0; None where there are no steps."""

    step: int | None
    field: str
    expected: Any
    got: Any


@frozen
class Outcome:
    """What became of one scenario.

    ``verdict`` is ``skipped`` with the missing thing in ``reason``, or ``passed`` / ``failed``. A scenario marked as
    differing from the recording passes if and only if it differs (``reason`` then says why).
    """

    name: str
    where: str
    verdict: Literal["passed", "failed", "skipped"]
    differences: tuple[Difference, ...] = ()
    reason: str = ""
    differs: bool = False

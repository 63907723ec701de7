"""What a recorded scenario is to the runner, and what comes out of playing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import Factory, frozen

from gangsched.conform.fields import Fields

Format = Literal["kube", "node-plugin", "quantity", "configuration", "facts", "volcano"]


@frozen
class Scenario:
    """One recorded scenario: its JSON ``document`` and ``where`` it stands, ``FILE[:LINE]``."""

    name: str
    format: Format
    where: str
    document: Mapping[str, Any]

    @property
    def differs(self) -> str:
        """Why the recording is deliberately not what the engine does; empty when it should be matched."""
        if not self.document.get("differs_from_seed"):
            return ""
        return str(self.document.get("differs_reason") or "no reason recorded")


@frozen
class Options:
    """How to play: the fields to compare, and a configuration file for kube scenarios that bring none.

    ``state_only``: of Volcano's sessions, compare what was known when the first one opened.
    """

    fields: Fields = Factory(Fields)
    config: str | None = None
    state_only: bool = False


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

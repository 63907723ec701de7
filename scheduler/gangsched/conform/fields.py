"""Which fields of a recording are compared.

Fields are selected by name: a path counts when one of its field names is wanted (all are, unless some are named) and
none is unwanted. The field ``msg`` also stands for the text part of conditions and events.
"""

from __future__ import annotations

from attrs import frozen

from gangsched.conform.errors import ConformError

NOT_BINDING = frozenset({"trace"})
"""Recorded for explanation only (conformance README §5)."""


@frozen
class Fields:
    """Which fields are compared. ``only`` empty = all; ``without`` are left out and win."""

    only: frozenset[str] = frozenset()
    without: frozenset[str] = NOT_BINDING

    @classmethod
    def parse(cls, text: str) -> Fields:
        """``a,b`` = these only; ``-a`` = all but these (may be mixed)."""
        names = [name.strip() for name in text.split(",") if name.strip()]
        unknown = sorted({name.removeprefix("-") for name in names} - KNOWN)
        if unknown:
            raise ConformError(f"--fields: found {', '.join(unknown)}, allowed {', '.join(sorted(KNOWN))}")
        only = frozenset(name for name in names if not name.startswith("-"))
        return cls(only, frozenset(name[1:] for name in names if name.startswith("-")) | (NOT_BINDING - only))


_KUBE = """
op t queue active backoff parked incomplete pending inFlight key ts attempts unschedulable errors members gatedBy
rejectedBy expires heap cycles popped attempt root early code msg raw groups waitingOnPreemption order pods node
nominated bindFailures trace events bound podConditions groupConditions
"""
_NODE_PLUGINS = """
invalid nodeOrder preEnqueue signature preFilter skip nodes status filter plugin reasons feasible preScoreSkip scores
normalized total scoreError best chosen error unschedulablePlugins postFilter finalError hints event plugins runs
evaluated
"""
_OTHERS = """
value milli canonical format sign stage profiles args parallelism percentageOfNodesToScore podInitialBackoffSeconds
podMaxBackoffSeconds engine
"""
KNOWN = frozenset((*_KUBE.split(), *_NODE_PLUGINS.split(), *_OTHERS.split()))
"""Every field name a recording may hold."""

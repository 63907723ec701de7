"""Logging of the command line: the engine's events on stderr with ``-v``, nothing without."""

from __future__ import annotations

import logging
import sys

import structlog


def configure_logging(verbose: bool) -> None:
    """``verbose``: one line an event, ``event key=value …``; no times, so equal runs log equal lines."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.LogfmtRenderer(key_order=["level", "event", "cycle", "entity"], bool_as_flag=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else logging.CRITICAL),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )

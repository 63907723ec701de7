"""Errors a user can cause, and the one a broken invariant raises."""

from __future__ import annotations


class GangschedError(Exception):
    """Base of every error caused by input or use; its text is fit to be shown to a user as it stands."""


class InvariantError(AssertionError):
    """A mutable structure contradicts itself: a bug in gangsched, never a user's fault."""


class ConfigurationError(GangschedError):
    """A profile cannot be built: unknown plugin, wrong extension point, bad arguments (node-plugins.md §2.6-2.7)."""

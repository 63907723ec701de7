"""Workload kinds to the pods and groups their controllers create, one file a kind.

Everything is created at once: there is no controller that waits, scales or restarts. Where a controller draws random
characters for a name, five digits in order stand instead, as for any ``generateName`` (architecture.md §11).
"""

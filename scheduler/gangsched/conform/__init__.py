"""Conformance: read recorded scenarios, play them on the core, compare with what the real scheduler did.

Nothing below this layer knows it exists; it uses the public stages of the core only.
"""

"""Benchmark cases, named as scheduler_perf names its own: ``benchmarks/`` and ``gangsched bench`` both run these."""

"""Replay: an event trace on a virtual clock (architecture.md §4, §8).

``open_trace`` reads a trace of any known format as a stream of events, ``Player`` plays it on an ``Engine``, the
``Ledger`` keeps the books, ``run_folder`` writes what a run leaves.
"""

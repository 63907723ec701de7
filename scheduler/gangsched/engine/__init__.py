"""The core: a sans-IO scheduler that takes objects and time, and gives decisions as values (architecture.md §3).

``scheduler.py`` is the door, ``cycle.py`` the straight line of one cycle. No file, socket, thread, wall clock or
randomness is used here.
"""

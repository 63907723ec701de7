"""Who is next: the scheduling queue of pods and whole PodGroup trees (spec podgroup-scheduling.md §2).

``scheduling_queue.SchedulingQueue`` is the one door. Behind it stands one file per container of §2.1.
"""

"""The words and the contract of gangsched: objects, statuses, trees, the node table, every extension point.

Floor 1: imports nothing of ours. Start with ``interface`` (what a plugin may be) and ``objects`` (what it sees).
"""

"""Fair sharing as pure maths: resources, shares and what tenants deserve (spec fair-share.md §1, §3, §4).

Nothing here knows a queue, a plugin or an engine; every file holds one formula and names where it comes from.
"""

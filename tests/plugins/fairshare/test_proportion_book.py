"""What the live form of Proportion answers by whole vectors is what the readable rules say resource by resource."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.account import TenantAccount
from gangsched_framework.accounts import Accounts
from gangsched_framework.hierarchy import Forest
from gangsched_framework.resources import CPU, MEMORY, PODS
from gangsched_plugins.fairshare.entitlement import beyond, is_overused, share_of_deserved
from gangsched_plugins.fairshare.proportion_book import ProportionBook

NAMES = [CPU, MEMORY, "example.com/gpu", PODS]
HELD = st.lists(st.integers(0, 3), max_size=4)
AMOUNTS = (0, 0.05, 0.1, 0.95, 1, 1.9, 1.95, 2, 2.9000000000000004, 5)
DESERVED = st.lists(st.sampled_from(AMOUNTS), min_size=4, max_size=4)


@given(HELD, DESERVED, HELD)
def test_shares_and_limits_are_those_of_the_rules(held: list[int], deserved: list[float], more: list[int]) -> None:
    accounts = Accounts(Forest())
    accounts.names = NAMES
    book = ProportionBook(accounts)
    tenant = accounts.tenants["default"]
    assert isinstance(tenant, TenantAccount)
    tenant.allocated = tuple(held)
    book._settled = True
    book._deserve("default", deserved)
    allocated, limit = book.amounts(held), book.amounts(deserved)
    assert book.share(tenant) == share_of_deserved(allocated, limit)
    assert (book.overused(tenant) != "") == is_overused(allocated, limit)
    assert (book.beyond(tenant, tuple(more)) != "") == bool(beyond(allocated, book.amounts(more), limit))

"""What changed in the order of tenants and jobs since somebody who keeps them in order last looked."""

from __future__ import annotations

from attrs import define

from gangsched_framework.objects import EntityKey

Branch = tuple[str, ...]
"""Tenants that stand together: changes above them move them as one."""


@define(eq=False)
class Moved:
    """Tenants and jobs whose key may have changed. ``tenants``: True = there may be more room than before.

    ``branches``: what their tenants have in common may have changed.
    """

    tenants: dict[str, bool]
    jobs: dict[EntityKey, None]
    branches: dict[Branch, None]

    def note(self, tenant: str, grew: bool) -> None:
        """The key of a tenant may have changed; ``grew``: it, or somebody below it, may take more than before."""
        self.tenants[tenant] = grew or self.tenants.get(tenant, False)

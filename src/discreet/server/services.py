"""What handlers work with; held by the application as `app.state.site`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from starlette.requests import HTTPConnection

from discreet.server.deciding.counter import Counter
from discreet.server.deciding.pool import Pool
from discreet.server.ledger.database import Database
from discreet.server.operation.uses import Uses
from discreet.server.people.accounts import Accounts
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue


@dataclass(frozen=True)
class Site:
    settings: Settings
    database: Database
    counter: Counter
    catalogue: Catalogue
    accounts: Accounts
    pool: Pool = field(default_factory=Pool)
    uses: Uses = field(default_factory=Uses)


def site_of(connection: HTTPConnection) -> Site:
    """A dependency: the site that a request came to."""
    return cast(Site, connection.app.state.site)

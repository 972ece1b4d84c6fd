"""What handlers work with; held by the application as `app.state.site`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from starlette.requests import HTTPConnection

from discreet.server.accounts import Accounts
from discreet.server.catalogue import Catalogue
from discreet.server.counter import Counter
from discreet.server.ledger.database import Database
from discreet.server.settings import Settings


@dataclass(frozen=True)
class Site:
    settings: Settings
    database: Database
    counter: Counter
    catalogue: Catalogue
    accounts: Accounts


def site_of(connection: HTTPConnection) -> Site:
    """A dependency: the site that a request came to."""
    return cast(Site, connection.app.state.site)

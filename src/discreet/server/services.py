"""What handlers work with; held by the application as `app.state.services`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from starlette.requests import HTTPConnection

from discreet.server.deciding.counter import Counter
from discreet.server.deciding.pool import Pool
from discreet.server.ledger.database import Database
from discreet.server.operation.uses import Uses
from discreet.server.people.accounts import Accounts
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.server.showing.made import Made
from discreet.server.showing.perturbed import PerturbedTables

VISITING = 2  # threads for what visitors have made: draws, and large files
WAITING, SHARE = 200, 20  # who may wait for it; one visitor's part, a twentieth


@dataclass(frozen=True)
class Services:
    """`pool` decides; `visiting` makes what visitors want made, so that decisions have a thread."""

    settings: Settings
    database: Database
    counter: Counter
    catalogue: Catalogue
    accounts: Accounts
    pool: Pool = field(default_factory=Pool)
    visiting: Pool = field(default_factory=lambda: Pool(VISITING, WAITING, "visitor", SHARE))
    uses: Uses = field(default_factory=Uses)

    def close(self, seconds: float = 0.0) -> bool:
        """Decisions that have begun may end; what visitors had made is not needed. Are all done?"""
        idle = self.visiting.close(0.0)
        return self.pool.close(seconds) and idle

    @cached_property
    def made(self) -> Made:
        return Made(self.visiting)

    @cached_property
    def perturbed(self) -> PerturbedTables:
        return PerturbedTables(self.database, self.counter.secret)


def services_of(connection: HTTPConnection) -> Services:
    """A dependency: what the handlers of a request work with."""
    return cast(Services, connection.app.state.services)

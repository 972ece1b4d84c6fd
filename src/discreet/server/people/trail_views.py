"""What custodians and auditors are shown of the trail."""

from __future__ import annotations

from pydantic import Field

from discreet.server.ledger.schema import Trail
from discreet.server.ledger.trail import VerifiedTrail, entries, verify_trail
from discreet.server.services import Services
from discreet.server.showing.views import View

MOST = 200  # entries at once


class TrailEntry(View):
    number: int
    at: str
    kind: str
    actor: str = Field(description="An account's number, public, server, or operator and a name.")
    about: str | None = Field(description="The account that it is about.")
    address: str | None
    note: str | None
    hash: str


class TrailView(View):
    entries: list[TrailEntry] = Field(description="The newest first.")
    before: int | None = Field(description="To ask for those before; none: there are no more.")


class TrailProblem(View):
    entry: int | None
    what: str


class TrailVerification(View):
    holds: bool
    entries: int
    head: str = Field(description="NUMBER:HASH. Note it elsewhere.")
    problems: list[TrailProblem]


def trail_view(
    services: Services,
    *,
    kind: str | None = None,
    account: str | None = None,
    before: int | None = None,
) -> TrailView:
    with services.database.read() as session:
        found = entries(session, kind=kind, account=account, before=before, limit=MOST + 1)
    more = len(found) > MOST
    return TrailView(
        entries=[_entry(one) for one in found[:MOST]],
        before=found[MOST - 1].number if more else None,
    )


def verification_view(services: Services) -> TrailVerification:
    with services.database.read() as session:
        found: VerifiedTrail = verify_trail(session)
    return TrailVerification.model_validate(found.to_json())


def _entry(row: Trail) -> TrailEntry:
    return TrailEntry.model_validate(row, from_attributes=True)

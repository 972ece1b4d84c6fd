"""What the public is shown of data sets, margins and decisions, by the API and by pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from discreet.decision.answering.answer import Outcome, Status, Why
from discreet.decision.answering.desk import Desk
from discreet.errors import DisclosureError
from discreet.server.catalogue import Overview, UnknownDataset
from discreet.server.counter import Decided
from discreet.server.ledger import store
from discreet.server.ledger.schema import Entry, Kind
from discreet.server.site import Site
from discreet.server.terms import policy_words
from discreet.table.formula import Formula

Names = Annotated[list[str], Field(examples=[["Race", "Income"]])]


class View(BaseModel):
    model_config = ConfigDict(frozen=True)


class ErrorBody(View):
    code: str = Field(examples=["wrong_input"])
    message: str = Field(examples=["tract has no variable 'Rase'; it has Gender, Race, Income."])
    details: dict[str, object] | None = None


class ErrorView(View):
    """The one shape of every error."""

    error: ErrorBody


class VariableView(View):
    name: str = Field(examples=["Race"])
    categories: list[str] = Field(examples=[["White", "Black", "Chinese"]])


class DatasetItem(View):
    slug: str = Field(examples=["tract"])
    title: str
    opened_at: str
    closed: bool
    previous: str | None = Field(description="The older vintage.")
    address: str = Field(examples=["/api/v1/datasets/tract"])


class DatasetsView(View):
    datasets: list[DatasetItem]


class OrderView(View):
    """How many margins of so many variables are released, possible and gone."""

    order: int
    released: int
    possible: int = Field(description="Or not yet looked at.")
    gone: int


class DatasetView(DatasetItem):
    variables: list[VariableView]
    rule: str = Field(examples=["static"])
    policy: list[str] = Field(description="In words.")
    policy_version: int
    orders: list[OrderView]


class MarginView(View):
    """A margin that is out, and where."""

    margin: Names
    status: Status
    address: str


class StatusView(View):
    margin: Names
    status: Status
    candidate: bool = Field(description="Can it be asked for now?")
    why: Why
    message: str
    near: list[MarginView] = Field(description="The largest tables within it that are out.")
    address: str | None


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    variables: list[str] = Field(min_length=1, max_length=1_000, examples=[["Race", "Income"]])


class DecisionView(View):
    entry: int = Field(description="In the ledger.")
    outcome: Outcome
    why: Why
    message: str
    margin: Names
    near: list[MarginView]
    address: str | None = Field(description="Of the table, if it is out.")
    ticket: str | None = Field(description="Where the outcome of a pending request will be.")


class TicketView(View):
    entry: int
    at: str
    outcome: Outcome
    why: Why
    message: str
    margin: Names
    address: str | None


class FrontierView(View):
    """The largest tables that are out: everything within them is out too."""

    dataset: str
    margins: list[MarginView]


class UseView(View):
    day: str = Field(examples=["2026-11-15"])
    what: str = Field(examples=["download csv"])
    n: int


class StatisticsView(View):
    dataset: str
    totals: dict[str, int] = Field(examples=[{"requests": 12, "grants": 7, "refusals": 5}])
    days: list[UseView]


# Addresses and names


def dataset_address(slug: str) -> str:
    return f"/api/v1/datasets/{quote(slug, safe='')}"


def margin_path(names: Iterable[str]) -> str:
    """Variables as they stand in an address.

    >>> margin_path(["Age group", "A/B", "C"])
    'Age%20group*A%2FB*C'
    """
    return "*".join(quote(name, safe="") for name in names)


def table_address(slug: str, names: Iterable[str]) -> str:
    return f"{dataset_address(slug)}/tables/{margin_path(names)}"


def chosen(overview: Overview, names: Sequence[str]) -> tuple[str, ...]:
    """The variables in the order of the table; each must be one, and stand once."""
    known = set(overview.names)
    for place, name in enumerate(names[: len(known) + 1]):
        if name not in known:
            raise DisclosureError(
                f"{overview.slug} has no variable {_short(name)}; it has "
                f"{', '.join(overview.names)}."
            )
        if name in names[:place]:
            raise DisclosureError(f"the variable {_short(name)} is named twice; name it once.")
    return overview.ordered(names)


def read_margin(overview: Overview, text: str) -> tuple[str, ...]:
    """Variables from an address: `Age%20group*Race`, or with the stars percent-encoded too."""
    names = [unquote(part) for part in text.split("*")]
    if not set(names) <= set(overview.names):
        names = unquote(text).split("*")
    return chosen(overview, names)


def read_where(overview: Overview, parts: Iterable[str]) -> dict[str, str]:
    """Categories from `Race:White`, one a variable."""
    where: dict[str, str] = {}
    for part in parts:
        fits = [name for name in overview.names if part.startswith(f"{name}:")]
        if not fits:
            raise DisclosureError(
                f"where = {_short(part)} must be VARIABLE:CATEGORY, with a variable of "
                f"{', '.join(overview.names)}."
            )
        valid = [n for n in fits if part[len(n) + 1 :] in overview.categories(n)]
        name = max(valid or fits, key=len)
        if not valid:
            raise DisclosureError(
                f"{name} has no category {_short(part[len(name) + 1 :])}; it has "
                f"{', '.join(overview.categories(name))}."
            )
        if name in where:
            raise DisclosureError(f"where names {name} twice; name it once.")
        where[name] = part[len(name) + 1 :]
    return where


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


# What is shown


def datasets_view(site: Site) -> DatasetsView:
    return DatasetsView(datasets=[_item(overview) for overview in site.catalogue.datasets()])


def dataset_view(site: Site, slug: str) -> DatasetView:
    overview = site.catalogue.dataset(slug)
    rule = overview.policy.server.rule
    return DatasetView(
        **_item(overview).model_dump(),
        variables=[
            VariableView(name=name, categories=list(categories))
            for name, categories in overview.variables
        ],
        rule=rule,
        policy=policy_words(
            overview.policy,
            note=overview.note,
            version=overview.policy_version,
            vintage=overview.previous is not None,
        ),
        policy_version=overview.policy_version,
        orders=orders_of(site, overview),
    )


def _item(overview: Overview) -> DatasetItem:
    return DatasetItem(
        slug=overview.slug,
        title=overview.title,
        opened_at=overview.opened_at,
        closed=overview.closed,
        previous=overview.previous,
        address=dataset_address(overview.slug),
    )


def orders_of(site: Site, overview: Overview) -> list[OrderView]:
    """The query space by order; nothing is looked at that is not known."""
    served(site, overview.slug)
    with site.counter.desk(overview.slug) as desk:
        return orders(desk.space.counts(), len(overview.names))


def orders(counts: dict[str, dict[int, int]], most: int) -> list[OrderView]:
    return [
        OrderView(order=d, **{status: counts[status].get(d, 0) for status in Status})
        for d in range(1, most + 1)
    ]


def served(site: Site, slug: str) -> None:
    if slug not in site.counter.served:
        raise UnknownDataset(f"{slug!r} is not served here.")


def status_view(site: Site, slug: str, names: Sequence[str]) -> StatusView:
    """How a margin stands; costs a trial where the data decide."""
    overview = site.catalogue.dataset(slug)
    served(site, slug)
    margin = chosen(overview, names)
    found = site.counter.standing(slug, margin)
    out = site.catalogue.margins(slug)
    why, address = found.why, None
    if found.status is Status.RELEASED:
        why, address = _shown(slug, margin, found.why, out)
    near = []
    if address is None:
        with site.counter.desk(slug) as desk:
            near = [_named(desk, s) for s in desk.near(desk.margin(margin))]
    return StatusView(
        margin=list(margin),
        status=found.status,
        candidate=found.candidate,
        why=why,
        message=said(overview, why),
        near=_near(slug, near, out),
        address=address,
    )


def decision_view(site: Site, slug: str, decided: Decided) -> DecisionView:
    """What was decided, as it is told."""
    overview = site.catalogue.dataset(slug)
    out = site.catalogue.margins(slug)
    why, address = decided.why, None
    if decided.outcome is Outcome.GRANTED:
        why, address = _shown(slug, decided.margin, decided.why, out)
    pending = decided.outcome is Outcome.PENDING
    return DecisionView(
        entry=decided.number,
        outcome=decided.outcome,
        why=why,
        message=said(overview, why),
        margin=list(decided.margin),
        near=_near(slug, decided.near, out),
        address=address,
        ticket=f"{dataset_address(slug)}/requests/{decided.number}" if pending else None,
    )


def ticket_view(site: Site, slug: str, number: int, actor: str | None) -> TicketView | None:
    """The outcome of a request: of the public's or of `actor`'s own; of anybody's if None."""
    with site.database.read() as session:
        dataset = store.find_dataset(session, slug)
        if dataset is None:
            raise UnknownDataset(f"there is no data set {slug!r}.")
        entry = store.entry(session, dataset, number)
        if entry is None or entry.kind != Kind.REQUEST:
            return None
        if actor is not None and entry.actor not in ("public", actor):
            return None
        about = select(Entry).where(
            Entry.dataset_id == dataset.id,
            Entry.about == (entry.about or number),
            Entry.kind.in_([Kind.APPROVED, Kind.REJECTED]),
        )
        last = session.scalar(about.order_by(Entry.number.desc()).limit(1)) or entry
    margin, outcome, why = tuple(entry.margin or ()), Outcome(last.outcome or ""), last.why or ""
    address, out = None, site.catalogue.margins(slug)
    if outcome is Outcome.PENDING and any(set(margin) <= set(other) for other in out):
        outcome, why = Outcome.GRANTED, Why.OUT  # it came out with another table
    why = Why(why)
    if outcome is Outcome.GRANTED:
        why, address = _shown(slug, margin, why, out)
    return TicketView(
        entry=number,
        at=last.at,
        outcome=outcome,
        why=why,
        message=said(site.catalogue.dataset(slug), why),
        margin=list(margin),
        address=address,
    )


def said(overview: Overview, why: Why) -> str:
    """The answer in words; first of all, whether what is out rests on less than whole tables."""
    return why.said if overview.note is None else f"{overview.note} {why.said}"


def frontier_view(site: Site, slug: str) -> FrontierView:
    overview = site.catalogue.dataset(slug)
    margins = site.catalogue.margins(slug)
    largest = Formula.of(margins, overview.names).frontier.margins if margins else ()
    return FrontierView(dataset=slug, margins=_near(slug, largest, margins))


def statistics_view(site: Site, slug: str) -> StatisticsView:
    with site.database.read() as session:
        dataset = store.find_dataset(session, slug)
        if dataset is None:
            raise UnknownDataset(f"there is no data set {slug!r}.")
        uses = store.uses(session, dataset)
    totals: dict[str, int] = {}
    for use in uses:
        totals[use.what] = totals.get(use.what, 0) + use.n
    days = [UseView(day=use.day, what=use.what, n=use.n) for use in uses]
    return StatisticsView(dataset=slug, totals=totals, days=days)


def _shown(
    slug: str, margin: Sequence[str], why: Why, out: Iterable[Sequence[str]]
) -> tuple[Why, str | None]:
    """Where a released table is; what is out stays out, but it may be served no more."""
    if any(set(margin) <= set(other) for other in out):
        return why, table_address(slug, margin)
    return Why.WITHDRAWN, None


def _near(
    slug: str, margins: Iterable[Sequence[str]], out: Iterable[Sequence[str]]
) -> list[MarginView]:
    kept = [m for m in margins if any(set(m) <= set(other) for other in out)]
    return [
        MarginView(margin=list(m), status=Status.RELEASED, address=table_address(slug, m))
        for m in kept
    ]


def _named(desk: Desk, margin: int) -> tuple[str, ...]:
    return tuple(name for place, name in enumerate(desk.table.names) if margin >> place & 1)

"""What the public is shown of data sets, margins and decisions, by the API and by pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from sqlalchemy import select

from discreet.decision.answering.answer import Outcome, Status, Why
from discreet.decision.answering.desk import Desk
from discreet.server.deciding.counter import Decided
from discreet.server.deciding.terms import policy_words
from discreet.server.ledger import store
from discreet.server.ledger.schema import Entry, Kind
from discreet.server.services import Services
from discreet.server.showing.catalogue import Overview, UnknownDataset
from discreet.server.showing.instead import instead
from discreet.server.showing.languages import computed
from discreet.server.showing.naming import (
    chosen,
    dataset_address,
    perturbed_data,
    table_address,
)
from discreet.server.showing.perturbed import INSTEAD, offers
from discreet.server.showing.shapes import (
    AboutView,
    DatasetItem,
    DatasetsView,
    DatasetView,
    DecisionView,
    FrontierView,
    InsteadView,
    MarginView,
    OrderView,
    StatisticsView,
    StatusView,
    TicketView,
    UseView,
    VariableView,
)
from discreet.table.formula import Formula


def datasets_view(services: Services) -> DatasetsView:
    return DatasetsView(datasets=[_item(overview) for overview in services.catalogue.datasets()])


def dataset_view(services: Services, slug: str, *, kept: bool = False) -> DatasetView:
    """What a data set is; `kept`: how many tables are possible as somebody looked last."""
    overview = services.catalogue.dataset(slug)
    rule = overview.policy.server.rule
    return DatasetView(
        **_item(overview).model_dump(),
        about=AboutView.model_validate(overview.words.about),
        variables=[_variable(overview, name) for name in overview.names],
        rule=rule,
        policy=policy_words(
            overview.policy,
            note=overview.note,
            version=overview.policy_version,
            vintage=overview.previous is not None,
            searched=overview.searched,
        ),
        policy_version=overview.policy_version,
        orders=orders_of(services, overview, kept=kept),
    )


def _variable(overview: Overview, name: str) -> VariableView:
    words = overview.words.variable(name)
    return VariableView(
        name=name,
        categories=list(overview.categories(name)),
        title=overview.words.title(name),
        description=words.description,
        unit=words.unit,
        within=words.within,
        levels=[list(level) for level in words.levels],
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


def orders_of(services: Services, overview: Overview, *, kept: bool = False) -> list[OrderView]:
    """The query space by order; nothing is looked at that is not known."""
    served(services, overview.slug)
    counter, slug = services.counter, overview.slug
    counts = counter.kept_counts(slug) if kept else None
    return OrderView.each(counter.counts(slug) if counts is None else counts, len(overview.names))


def served(services: Services, slug: str) -> Overview:
    """A data set that is decided on here."""
    overview = services.catalogue.dataset(slug)
    if slug not in services.counter.served:
        raise UnknownDataset(f"{slug!r} is not served here.")
    return overview


def status_view(services: Services, slug: str, names: Sequence[str]) -> StatusView:
    """How a margin stands; costs a trial where the data decide."""
    overview = served(services, slug)
    margin = chosen(overview, names)
    found = services.counter.standing(slug, margin)
    out = services.catalogue.margins(slug)
    why, address = found.why, None
    if found.status is Status.RELEASED:
        why, address = _shown(slug, margin, found.why, out)
    near, offered = [], []
    if address is None:
        with services.counter.desk(slug) as desk:
            near = [_named(desk, s) for s in desk.near(desk.margin(margin))]
        if not found.candidate:
            offered = _instead(services, overview, margin)
    return StatusView(
        margin=list(margin),
        status=found.status,
        candidate=found.candidate,
        why=why,
        message=said(overview, why),
        near=_near(slug, near, out),
        instead=offered,
        address=address,
    )


def decision_view(services: Services, slug: str, decided: Decided) -> DecisionView:
    """What was decided, as it is told."""
    overview = services.catalogue.dataset(slug)
    out = services.catalogue.margins(slug)
    why, address = decided.why, None
    if decided.outcome is Outcome.GRANTED:
        why, address = _shown(slug, decided.margin, decided.why, out)
    pending, refused = (decided.outcome is o for o in (Outcome.PENDING, Outcome.REFUSED))
    return DecisionView(
        entry=decided.number,
        outcome=decided.outcome,
        why=why,
        message=said(overview, why),
        margin=list(decided.margin),
        near=_near(slug, decided.near, out),
        instead=_instead(services, overview, decided.margin) if refused else [],
        address=address,
        ticket=f"{dataset_address(slug)}/requests/{decided.number}" if pending else None,
        perturbed=_perturbed(services, overview, decided) if refused else None,
    )


def _perturbed(services: Services, overview: Overview, decided: Decided) -> str | None:
    """Where a perturbed table can be had instead."""
    if decided.why not in INSTEAD or not offers(overview, decided.margin):
        return None
    number = services.perturbed.newest(overview.slug)
    return None if number is None else perturbed_data(overview.slug, number, decided.margin)


def ticket_view(services: Services, slug: str, number: int, actor: str | None) -> TicketView | None:
    """The outcome of a request: of the public's or of `actor`'s own; of anybody's if None."""
    with services.database.read() as session:
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
    address, out = None, services.catalogue.margins(slug)
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
        message=said(services.catalogue.dataset(slug), why),
        margin=list(margin),
        address=address,
    )


def said(overview: Overview, why: Why) -> str:
    """The answer in words; first of all, whether what is out rests on less than whole tables."""
    first = "" if overview.note is None else f"{computed(overview.note)} "
    return first + computed(why.said)


def frontier_view(services: Services, slug: str) -> FrontierView:
    overview = services.catalogue.dataset(slug)
    margins = services.catalogue.margins(slug)
    largest = Formula.of(margins, overview.names).frontier.margins if margins else ()
    return FrontierView(dataset=slug, margins=_near(slug, largest, margins))


def statistics_view(services: Services, slug: str) -> StatisticsView:
    services.uses.write(services.database)
    with services.database.read() as session:
        dataset = store.find_dataset(session, slug)
        if dataset is None:
            raise UnknownDataset(f"there is no data set {slug!r}.")
        uses = store.uses(session, dataset)
    totals: dict[str, int] = {}
    for use in uses:
        totals[use.what] = totals.get(use.what, 0) + use.n
    days = [UseView.model_validate(use) for use in uses]
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


def _instead(services: Services, overview: Overview, margin: Sequence[str]) -> list[InsteadView]:
    """What could be asked for within a margin."""
    if overview.closed:
        return []
    with services.counter.desk(overview.slug) as desk:
        found = [(_named(desk, s), known) for s, known in instead(desk, desk.margin(margin))]
    at = f"{dataset_address(overview.slug)}/status?"
    return [
        InsteadView(
            margin=list(names), known=known, address=at + urlencode({"variables": ",".join(names)})
        )
        for names, known in found
    ]


def _named(desk: Desk, margin: int) -> tuple[str, ...]:
    return desk.table.axes.names_of(margin)

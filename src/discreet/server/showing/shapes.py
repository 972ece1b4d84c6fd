"""The shapes of what the public is shown of data sets, margins and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from discreet.decision.answering.answer import Outcome, Status, Why

Names = Annotated[list[str], Field(examples=[["Race", "Income"]])]


class View(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class Body(BaseModel):
    """What is sent: nothing but what is known."""

    model_config = ConfigDict(extra="forbid")


class ErrorBody(View):
    code: str = Field(examples=["wrong_input"])
    message: str = Field(examples=["tract has no variable 'Rase'; it has Gender, Race, Income."])
    details: dict[str, object] | None = None


class ErrorView(View):
    """The one shape of every error."""

    error: ErrorBody


class AboutView(View):
    """The data in words."""

    universe: str | None = Field(description="Who is counted.")
    notes: list[str]
    source: str | None
    period: str | None
    contact: str | None
    licence: str | None


class NamedView(View):
    name: str = Field(examples=["Race"])
    categories: list[str] = Field(examples=[["White", "Black", "Chinese"]])
    title: str = Field(description="What readers see instead of the name.")
    description: str | None
    unit: str | None


class VariableView(NamedView):
    within: str | None = Field(description="The variable that is a coarser coding of it.")
    levels: list[list[str]] = Field(
        description="Ever coarser groupings: of each category, the group."
    )


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

    @classmethod
    def each(cls, counts: Mapping[str, dict[int, int]], most: int) -> list[OrderView]:
        """From how many margins have a status, by order."""
        return [
            cls(order=d, **{status: counts[status].get(d, 0) for status in Status})
            for d in range(1, most + 1)
        ]


class DatasetView(DatasetItem):
    about: AboutView
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


class InsteadView(View):
    """A margin that is not out and can be asked for."""

    margin: Names
    known: bool = Field(description="It is possible; else nobody has looked, and asking tells.")
    address: str = Field(description="Of its status.")


class StatusView(View):
    margin: Names
    status: Status
    candidate: bool = Field(description="Can it be asked for now?")
    why: Why
    message: str
    near: list[MarginView] = Field(description="The largest tables within it that are out.")
    instead: list[InsteadView] = Field(
        description="If it is gone: the largest tables within it that can be asked for."
    )
    address: str | None


class RequestBody(Body):
    variables: list[str] = Field(min_length=1, max_length=1_000, examples=[["Race", "Income"]])


class DecisionView(View):
    entry: int = Field(description="In the ledger.")
    outcome: Outcome
    why: Why
    message: str
    margin: Names
    near: list[MarginView]
    instead: list[InsteadView] = Field(
        description="If it is refused: the largest tables within it that can be asked for."
    )
    perturbed: str | None = Field(
        description="If it is refused as unsafe and the terms offer it: the address of a perturbed "
        "table, which keeps all that is out and is no count of the data."
    )
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

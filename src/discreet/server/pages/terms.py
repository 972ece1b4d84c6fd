"""The terms of a data set: its policy, the curated list, and a changed codebook."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from discreet.decision.answering.gate import why
from discreet.decision.law.policy import Policy
from discreet.decision.law.policy import sections as every_section
from discreet.errors import DisclosureError, PolicyError
from discreet.server.deciding.requests import deciding
from discreet.server.deciding.unready import Unready
from discreet.server.guards.errors import Refused
from discreet.server.pages.charts import space_bars
from discreet.server.pages.custodian import people_of
from discreet.server.pages.render import Custodian, Here, Staff, page
from discreet.server.people.identity import Visitor
from discreet.server.services import Services, services_of
from discreet.server.showing import staff_views, views
from discreet.server.showing.catalogue import Overview
from discreet.table.formula import Formula

router = APIRouter()
DONE = {
    "changed": "The policy is changed.",
    "proposed": "The change is proposed; another custodian must make the same.",
}
ACCEPTED = {
    "accepted": "The change is accepted.",
    "proposed": "Your acceptance is kept; another custodian must accept it, too.",
}
MOST = 1_000  # tables of the list
CHANGED = "The policy was changed by somebody else; look at it again."


async def fields(request: Request) -> FormData:
    """A dependency: what a form sent."""
    return await request.form(max_fields=500)


Fields = Annotated[FormData, Depends(fields)]


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of the policy as a form shows it."""

    name: str
    value: Any
    kind: str  # bool, int, float or str
    meta: Mapping[str, Any]
    locked: str | None

    @property
    def choices(self) -> tuple[str, ...]:
        return ("true", "false") if self.kind == "bool" else tuple(self.meta.get("choices", ()))


def sections(policy: Policy) -> list[tuple[str, str, list[Key]]]:
    """Every section with what it is about and its keys."""
    return [
        (name, section.__doc__ or "", [_key(policy, name, e) for e in dataclasses.fields(section)])
        for name, section in every_section().items()
    ]


def _key(policy: Policy, section: str, entry: dataclasses.Field[Any]) -> Key:
    name, value = f"{section}.{entry.name}", getattr(getattr(policy, section), entry.name)
    return Key(name, value, type(entry.default).__name__, entry.metadata, policy.locked.get(name))


def changes(policy: Policy, sent: Mapping[str, Any]) -> dict[str, Any]:
    """What a form would change; each value as its key's type.

    >>> changes(Policy(), {"small.width": "5", "small.most": "2", "attribute.check": "false"})
    {'small.width': 5, 'attribute.check': False}
    """
    found = {}
    for _, _, keys in sections(policy):
        for key in keys:
            text = sent.get(key.name)
            if isinstance(text, str):
                value = _read(key, text.strip())
                if value != key.value:
                    found[key.name] = value
    if not found:
        raise PolicyError("nothing is different from the policy as it is.")
    return found


def _read(key: Key, text: str) -> Any:
    if key.kind == "bool" and text in ("true", "false"):
        return text == "true"
    try:
        return {"int": int, "float": float, "str": str}[key.kind](text)
    except (KeyError, ValueError):
        raise PolicyError(f"{key.name} = {text[:60]!r} cannot be read.") from None


@router.get("/desk/{slug}/policy")
def policy(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    return _policy(request, who, services.catalogue.dataset(slug), said=DONE.get(done, ""))


@router.post("/desk/{slug}/policy/try")
@deciding
def try_policy(
    request: Request, services: Here, who: Custodian, slug: str, sent: Fields
) -> Response:
    """What a change would do; nothing is changed."""
    overview = services.catalogue.dataset(slug)
    try:
        wanted = changes(overview.policy, sent)
        run = staff_views.dry_run_view(services, slug, wanted)
    except Unready:
        raise
    except DisclosureError as error:
        return _policy(request, who, overview, error=why(error), sent=sent)
    now = overview.policy.to_dict()
    return page(
        request,
        "dry_run",
        who,
        dataset=overview,
        changes=[(key, now[key], value) for key, value in wanted.items()],
        run=run,
        before=space_bars(run.before),
        after=space_bars(run.after, title="Then"),
    )


@router.post("/desk/{slug}/policy")
@deciding
def change_policy(
    request: Request, services: Here, who: Custodian, slug: str, sent: Fields
) -> Response:
    """Other terms from now on."""
    overview = views.served(services, slug)
    if sent.get("version") != str(overview.policy_version):
        raise Refused(409, "conflict", CHANGED)
    try:
        wanted = staff_views.checked_changes(services, slug, changes(overview.policy, sent))
        note = str(sent.get("note", ""))[:1_000]
        version = services.counter.change_policy(slug, wanted, who.actor, note)
    except Unready:
        raise
    except DisclosureError as error:
        return _policy(request, who, overview, error=why(error), sent=sent)
    done = "changed" if version > overview.policy_version else "proposed"
    return RedirectResponse(f"/desk/{slug}/policy?done={done}", 303)


def _policy(
    request: Request,
    who: Visitor,
    overview: Overview,
    *,
    sent: Mapping[str, Any] | None = None,
    **told: Any,
) -> Response:
    return page(
        request,
        "policy",
        who,
        dataset=overview,
        proposed=staff_views.policy_view(services_of(request), overview.slug).proposed,
        sections=sections(overview.policy),
        sent=sent or {},
        **told,
    )


@router.get("/desk/{slug}/listed")
def listed(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    said = "The list is changed." if done == "listed" else ""
    return _listed(request, services, who, slug, said=said)


@router.post("/desk/{slug}/listed")
@deciding
def change_list(
    request: Request,
    services: Here,
    who: Custodian,
    slug: str,
    margins: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Replace the list: a table a line, as in a formula."""
    overview = views.served(services, slug)
    lines = [line.strip() for line in margins.splitlines() if line.strip()]
    try:
        if len(lines) > MOST:
            raise DisclosureError(f"the list has {len(lines):,} tables; {MOST:,} at most.")
        read = [Formula.parse(line, overview.names, files=False) for line in lines]
        sets = [margin for formula in read for margin in formula.margins]
        services.counter.list_margins(slug, sets, who.actor)
    except Unready:
        raise
    except DisclosureError as error:
        return _listed(request, services, who, slug, sent=margins, error=str(error))
    return RedirectResponse(f"/desk/{slug}/listed?done=listed", 303)


def _listed(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    *,
    sent: str | None = None,
    **told: Any,
) -> Response:
    overview = services.catalogue.dataset(slug)
    margins = staff_views.listed_view(services, slug).margins
    lines = [str(Formula.of([margin], overview.names)) for margin in margins or ()]
    return page(
        request,
        "listed",
        who,
        dataset=overview,
        margins=margins,
        text="\n".join(lines) if sent is None else sent,
        **told,
    )


@router.get("/desk/{slug}/codebook")
def codebook(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    return _codebook(request, services, who, slug, said=ACCEPTED.get(done, ""))


@router.post("/desk/{slug}/codebook")
@deciding
def accept(
    request: Request,
    services: Here,
    who: Custodian,
    slug: str,
    hash: Annotated[str, Form(max_length=64)] = "",
    reason: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Accept what it says, if all that is out passes the policy so."""
    views.served(services, slug)
    try:
        done = services.counter.accept(slug, hash, who.actor, reason.strip())
    except Unready:
        raise
    except DisclosureError as error:
        return _codebook(request, services, who, slug, error=str(error))
    told = "accepted" if done else "proposed"
    return RedirectResponse(f"/desk/{slug}/codebook?done={told}", 303)


def _codebook(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    **told: Any,
) -> Response:
    return page(
        request,
        "codebook",
        who,
        dataset=services.catalogue.dataset(slug),
        found=staff_views.codebook_view(services, slug),
        people=people_of(services),
        **told,
    )

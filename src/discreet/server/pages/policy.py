"""The policy of a data set: read it, try a change, make it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
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
from discreet.server.pages.render import page
from discreet.server.people.identity import Visitor, needs
from discreet.server.services import Services, services_of
from discreet.server.showing import staff_views, views
from discreet.server.showing.catalogue import Overview

router = APIRouter()
Here = Annotated[Services, Depends(services_of)]
Staff = Annotated[Visitor, Depends(needs("custodian", "auditor"))]
Custodian = Annotated[Visitor, Depends(needs("custodian"))]
DONE = {
    "changed": "The policy is changed.",
    "proposed": "The change is proposed; another custodian must make the same.",
}
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
        return _policy(request, who, overview, error=why(error), sent=sent, status=422)
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
    overview = services.catalogue.dataset(slug)
    views.served(services, slug)
    if sent.get("version") != str(overview.policy_version):
        raise Refused(409, "conflict", CHANGED)
    try:
        wanted = staff_views.checked_changes(services, slug, changes(overview.policy, sent))
        note = str(sent.get("note", ""))[:1_000]
        version = services.counter.change_policy(slug, wanted, who.actor, note)
    except Unready:
        raise
    except DisclosureError as error:
        return _policy(request, who, overview, error=why(error), sent=sent, status=422)
    done = "changed" if version > overview.policy_version else "proposed"
    return RedirectResponse(f"/desk/{slug}/policy?done={done}", 303)


def _policy(
    request: Request,
    who: Visitor,
    overview: Overview,
    *,
    said: str = "",
    error: str = "",
    sent: Mapping[str, Any] | None = None,
    status: int = 200,
) -> Response:
    return page(
        request,
        "policy",
        who,
        status=status,
        dataset=overview,
        proposed=staff_views.policy_view(services_of(request), overview.slug).proposed,
        sections=sections(overview.policy),
        sent=sent or {},
        said=said,
        error=error,
    )

"""The API as a page: every route, from the description that programs read."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup, escape

from discreet.server.api.tables import base_address
from discreet.server.pages.public import Someone
from discreet.server.pages.render import Here, page

router = APIRouter()
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A parameter, or a key of a body."""

    name: str
    kind: str
    said: str = ""
    required: bool = False
    default: str = ""
    place: str = ""


@dataclass(frozen=True)
class Operation:
    """A route: what it does, for whom, what it takes and what comes back."""

    id: str
    method: str
    path: str
    does: str
    more: str
    roles: tuple[str, ...]
    takes: tuple[Field, ...]
    gives: tuple[Field, ...]
    types: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]
    example: str


@dataclass(frozen=True)
class Group:
    name: str
    said: str
    operations: tuple[Operation, ...]


@router.get("/api")
def reference(request: Request, services: Here, who: Someone) -> Response:
    """The interface for programs, to be read by people."""
    groups = groups_of(request.app.openapi(), base_address(request))
    return page(request, "reference", who, groups=groups, marked=marked)


def marked(text: str) -> Markup:
    """What stands between backticks is code.

    >>> marked("with `cost`, <what>")
    Markup('with <code>cost</code>, &lt;what&gt;')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def groups_of(openapi: Schema, base: str) -> list[Group]:
    found: dict[str, list[Operation]] = {tag["name"]: [] for tag in openapi.get("tags", ())}
    for path, methods in openapi["paths"].items():
        for method, described in methods.items():
            tag = (described.get("tags") or ["other"])[0]
            made = Reader(openapi).operation(method.upper(), path, described, base)
            found.setdefault(tag, []).append(made)
    said = {tag["name"]: tag.get("description", "") for tag in openapi.get("tags", ())}
    return [
        Group(name, said.get(name, ""), tuple(operations))
        for name, operations in found.items()
        if operations
    ]


class Reader:
    """Reads one description, and follows its references."""

    def __init__(self, openapi: Schema) -> None:
        self.openapi = openapi

    def operation(self, method: str, path: str, described: Schema, base: str) -> Operation:
        does, _, more = described.get("description", "").partition("\n\n")
        takes = [self.parameter(one) for one in described.get("parameters", ())]
        body = self._content(described.get("requestBody", {}))
        takes += [*self.fields(body, "body")] if body else []
        responses: Schema = described.get("responses", {})
        good: Schema = next((r for code, r in responses.items() if code[:1] == "2"), {})
        return Operation(
            re.sub(r"[^a-z0-9]+", "-", f"{method} {path}".lower()).strip("-"),
            method,
            path,
            " ".join(does.split()),
            " ".join(more.split()),
            tuple(described.get("x-roles", ())),
            tuple(takes),
            tuple(self.fields(self._content(good), "")),
            tuple(good.get("content", {})),
            tuple((code, r["description"]) for code, r in responses.items() if code >= "300"),
            self._example(method, path, described, body, base),
        )

    def parameter(self, one: Schema) -> Field:
        schema = one.get("schema", {})
        default = schema.get("default")
        said = one.get("description") or self._resolved(schema).get("description", "")
        shown = "" if default in (None, [], "") else str(default)
        return Field(
            one["name"], self.kind(schema), said, one.get("required", False), shown, one["in"]
        )

    def fields(self, schema: Schema | None, place: str) -> Iterator[Field]:
        """The keys of an object; of one of several, those of the first."""
        schema = self._resolved(schema or {})
        if "anyOf" in schema:
            schema = self._resolved(schema["anyOf"][0])
        required = schema.get("required", ())
        for name, one in schema.get("properties", {}).items():
            said = one.get("description", "") or self._resolved(one).get("description", "")
            yield Field(name, self.kind(one), " ".join(said.split()), name in required, "", place)

    def kind(self, schema: Schema) -> str:
        """A type in a few words."""
        if "anyOf" in schema:
            kinds = dict.fromkeys(self.kind(one) for one in schema["anyOf"])
            return " or ".join(kinds)
        found = self._resolved(schema)
        if "const" in found:
            return json.dumps(found["const"])
        if "enum" in found:
            return " | ".join(map(str, found["enum"]))
        match found.get("type"):
            case "array":
                return f"list of {self.kind(found.get('items', {}))}"
            case "object":
                return "object"
            case "null":
                return "null"
            case str(kind):
                return {"integer": "whole number", "string": "text", "boolean": "yes or no"}.get(
                    kind, kind
                )
        return "anything"

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.openapi["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _content(self, described: Schema) -> Schema | None:
        content = described.get("content", {})
        found: Schema | None = content.get("application/json", {}).get("schema")
        return found

    def _example(
        self, method: str, path: str, described: Schema, body: Schema | None, base: str
    ) -> str:
        """A call that can be copied, from the examples of its parts."""
        values, query = dict[str, str](), list[tuple[str, str]]()
        for one in described.get("parameters", ()):
            example = (one.get("schema", {}).get("examples") or [None])[0]
            if one["in"] == "path":
                values[one["name"]] = str(example or 1)
            elif one.get("required") and example is not None:
                query.append((one["name"], str(example)))
        address = base + re.sub(
            r"\{(\w+)\}", lambda match: quote(values.get(match[1], match[1]), safe="*"), path
        )
        address += f"?{urlencode(query, safe=',')}" if query else ""
        words = ["curl"] if method in ("GET", "POST") else ["curl", "-X", method]
        if "security" in described and {} not in described["security"]:
            words += ["-H", "Authorization: Bearer KEY"]
        if body:
            words += ["--json", json.dumps(self._sample(body))]
        elif method == "POST":
            words += ["-X", "POST"]
        return shlex.join([*words, address])

    def _sample(self, body: Schema) -> dict[str, Any]:
        found = self._resolved(body)
        required = found.get("required", list(found.get("properties", {}))[:1])
        return {
            name: (one.get("examples") or [self.kind(one)])[0]
            for name, one in found.get("properties", {}).items()
            if name in required
        }

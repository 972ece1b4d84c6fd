"""Putting data sets behind a server: read, judge the frontier once, open the ledgers, serve."""

from __future__ import annotations

import gc
import json
import math
import os
import re
import secrets
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from discreet.data.codebook import Codebook
from discreet.data.examples import PREFIX, find_example
from discreet.data.reading import Reading
from discreet.data.settings import only
from discreet.data.smallfiles import read_toml
from discreet.decision.answering.gate import NotSafe
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, DisclosureError, FormulaError, LedgerError, PolicyError
from discreet.look.progress import working
from discreet.look.result import Shown
from discreet.server.deciding.codebooks import CodebookView
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import Database, migrate, open_database
from discreet.server.ledger.marks import OTHER_SECRET, in_use
from discreet.server.ledger.meaning import Meaning
from discreet.server.notices.post import Hook, Mailbox
from discreet.server.operation.ending import GRACE, stay
from discreet.server.operation.logs import log
from discreet.server.people.accounts import Accounts
from discreet.server.people.actors import operator
from discreet.server.people.openid import Provider
from discreet.server.services import Services
from discreet.server.setting_checks import LEAST_SECRET, check_names
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.server.showing.describe import describe
from discreet.table.formula import Formula
from discreet.table.load import read
from discreet.table.table import Table

if TYPE_CHECKING:
    from fastapi import FastAPI

RESERVED = {"users", "static", "new", "trail", "keys"}
OURS = "discreet.server."
SAID = {NotSafe, LedgerError, FormulaError, PolicyError, DisclosureError}  # hold no counts
TURN = 0.001  # seconds that a thread computes before others have a turn: readers need many turns
SPEC = "DISCREET_SERVED"  # how worker processes learn what is served


@dataclass(frozen=True)
class DataSpec(Shown):
    """A data set to be served: where it is, and on which terms.

    >>> import discreet as dc
    >>> dc.server.DataSpec("czech", "example:czech", title="Czech auto workers").slug
    'czech'
    """

    slug: str
    data: str
    title: str = ""
    count: str | None = None
    codebook: str | None = None
    table: str | None = None
    variables: tuple[str, ...] | None = None
    records: bool = False
    crosstab: str | None = None
    totals: str | None = None
    without: str | tuple[str, ...] | None = None
    bands: Mapping[str, object] | tuple[str, ...] | None = None
    policy: str | None = None
    set: tuple[str, ...] = ()
    frontier: str | None = None
    listed: str | None = None
    previous: str | None = None
    apart: bool = False
    effort: float = 1.0
    seconds: float = math.inf

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> DataSpec:
        known = cls.__dataclass_fields__
        only(content, known, "a data set")
        for name in ("slug", "data"):
            if not isinstance(content.get(name), str):
                raise DataError(f"a data set needs a {name}.")
        lists = {k: tuple(v) for k, v in content.items() if isinstance(v, list)}
        return cls(**{**content, **lists})

    @property
    def how(self) -> Reading:
        """How its data are read."""
        names = [one.name for one in fields(Reading) if one.name in self.__dataclass_fields__]
        return Reading.of({name: getattr(self, name) for name in names})

    def read(self) -> Table:
        return read(self.data, self.how)

    def book(self) -> Codebook | None:
        """What says what its columns mean: its own codebook, or that of an example."""
        if self.codebook is not None:
            return Codebook.read(self.codebook)
        return find_example(self.data).codebook if self.data.startswith(PREFIX) else None

    def terms(self) -> Policy:
        policy = Policy.read(self.policy) if self.policy else Policy()
        return policy.set(self.set)


def slug_of(data: str) -> str:
    """The name of a data set, made from where its data are.

    >>> slug_of("example:czech"), slug_of("/srv/People 2026.csv")
    ('czech', 'people-2026')
    """
    return re.sub(r"[^a-z0-9]+", "-", Path(data.rpartition(":")[2]).stem.lower()).strip("-")


def read_specs(path: str | Path) -> list[DataSpec]:
    """A TOML file with a table [[datasets]] for each."""
    listed = read_toml(path).get("datasets")
    if not isinstance(listed, list) or not listed:
        raise DataError(f"{str(path)!r} names no data set; write [[datasets]] for each.")
    return [DataSpec.of(entry) for entry in listed]


def prepare(settings: Settings) -> Settings:
    """Make the database and the secret if they are not there.

    >>> import tempfile
    >>> import discreet as dc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settings = dc.server.Settings(database=f"sqlite:///{folder}/server.db")
    ...     len(dc.server.prepare(settings).secret.get_secret_value()) > 30
    True
    """
    check_names(os.environ)
    Mailbox.of(settings), Provider.of(settings)
    migrate(settings.database)
    found = settings.model_copy(update={"secret": SecretStr(_secret(settings))})
    Hook.of(found)
    return found


def build_services(settings: Settings, specs: Sequence[DataSpec]) -> Services:
    """Everything that handlers work with."""
    database = open_database(settings.database)
    counter = Counter(database, settings.secret.get_secret_value().encode())
    try:
        for spec in in_order(database, specs):
            with working(f"opening {spec.slug}"):
                _open(counter, spec)
        _check_rest(counter)
    except BaseException:
        database.close()
        raise
    return Services(
        settings,
        database,
        counter,
        Catalogue(database),
        Accounts(database, hours=settings.session_hours),
    )


def accept_codebook(
    settings: Settings, specs: Sequence[DataSpec], slug: str, actor: str, why: str | None
) -> tuple[CodebookView, bool]:
    """What is said otherwise of the data of `slug`, and was it accepted? It is, with a reason.

    As a server does it that is started with these data sets, without a server.
    """
    settings = settings.model_copy(update={"secret": SecretStr(_secret(settings))})
    database = open_database(settings.database)
    try:
        counter = Counter(database, settings.secret.get_secret_value().encode())
        with database.read() as session:
            known = store.slugs(session)
        if slug not in known:
            raise LedgerError(
                f"there is no data set {slug!r}; there is {', '.join(known) or 'none'}."
            )
        for spec in in_order(database, specs):
            if spec.slug in known:
                _open(counter, spec)
        if slug not in counter.served:
            raise LedgerError(f"the data of {slug!r} are needed, too; name them.")
        change = counter.codebook_change(slug)
        if change.accepted or why is None:
            return change, False
        return change, counter.accept(slug, change.hash, actor, why)
    finally:
        database.close()


def in_order(database: Database, specs: Sequence[DataSpec]) -> list[DataSpec]:
    """As the ledger has them, older vintages first; what is new comes last."""
    with database.read() as session:
        known = {slug: place for place, slug in enumerate(store.slugs(session))}
    return sorted(specs, key=lambda spec: known.get(spec.slug, len(known)))


def _check_rest(counter: Counter) -> None:
    """Ledgers of data sets that are not served here are read from, too."""
    with counter.database.read() as session:
        for found in verify_all(session):
            for problem in found.problems:
                raise LedgerError(
                    f"the ledger of {found.dataset!r} does not hold: {problem} Run `discreet "
                    "ledger verify`, and restore the newest backup."
                )


def application() -> FastAPI:
    """The application of a worker process."""
    from discreet.server.app import create_app

    warnings.simplefilter("ignore")
    check_names(os.environ)
    settings = Settings()
    specs = [DataSpec.of(entry) for entry in json.loads(os.environ[SPEC])]
    made = create_app(settings, build_services(settings, specs))
    _ready_readers()
    return made


def _ready_readers() -> None:
    """Threads that compute hold up readers less: short turns, and no search for garbage in all
    that was loaded before.
    """
    sys.setswitchinterval(TURN)
    gc.collect()
    gc.freeze()


def serve(
    settings: Settings,
    specs: Sequence[DataSpec],
    *,
    workers: int = 1,
    tell: Callable[[str], object] = print,
) -> None:
    """Serve until the process is asked to stop; requests under way are finished first.

    >>> import discreet as dc
    >>> try:
    ...     dc.server.serve(dc.server.Settings(database="sqlite:///tables.db"), [], workers=2)
    ... except dc.DisclosureError as error:
    ...     print(error)
    several workers need PostgreSQL; give its address with --database.
    """
    import uvicorn

    from discreet.server.guards.protocol import Protocol

    if workers > 1 and make_url(settings.database).get_backend_name() == "sqlite":
        raise DataError("several workers need PostgreSQL; give its address with --database.")
    if workers > 1 and not settings.shared:
        settings = settings.model_copy(update={"shared": "database"})
    settings = prepare(settings)
    services = build_services(settings, specs)  # what is new is opened here, once
    for slug in other_terms(services.database, specs):
        log().warning("policy differs", dataset=slug, served_under="the policy of its ledger")
    for slug in services.counter.served:
        if not services.counter.codebook_change(slug).accepted:
            log().warning("codebook differs", dataset=slug, until="a custodian accepts the change")
    tell(f"Serving {', '.join(services.counter.served)} at http://{settings.host}:{settings.port}")
    app: FastAPI | str
    if workers == 1:
        from discreet.server.app import create_app

        app = create_app(settings, services)
    else:
        _tell_workers(settings, specs)
        app = "discreet.server.launch:application"
    _ready_readers()
    try:
        uvicorn.run(
            app,
            factory=workers > 1,
            host=settings.host,
            port=settings.port,
            workers=workers,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http=Protocol,
            limit_concurrency=2_500,  # more than may wait for a decision: others still read
            timeout_keep_alive=10,
            timeout_graceful_shutdown=GRACE,
        )
    finally:
        services.database.close()
        if services.close():
            stay()


def _tell_workers(settings: Settings, specs: Sequence[DataSpec]) -> None:
    os.environ[SPEC] = json.dumps([asdict(spec) for spec in specs])
    for name, value in settings.model_dump(exclude_none=True).items():
        said = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        os.environ[f"DISCREET_{name.upper()}"] = said


def _open(counter: Counter, spec: DataSpec) -> None:
    _check_slug(spec.slug)
    policy = spec.terms()
    with _no_counts(spec):
        table, book = spec.read(), spec.book()
    with _no_counts(spec):
        frontier = None if spec.frontier is None else _margins(spec.frontier, table)
        searched = frontier is None and policy.server.rule == "static"
        if searched and not _is_known(counter, spec):
            frontier = _found(table, policy, spec)
        counter.open(
            table,
            policy,
            slug=spec.slug,
            title=spec.title,
            frontier=frontier,
            searched=searched,
            listed=None if spec.listed is None else _margins(spec.listed, table),
            previous=spec.previous,
            apart=spec.apart,
            older_names=None if book is None else book.previous,
            about=describe(book, table),
            meaning=Meaning.of(table, book, count=spec.count),
            actor=f"operator {operator()}",
        )


@contextmanager
def _no_counts(spec: DataSpec) -> Iterator[None]:
    """What is said of data on standard error names no value, no cell and no count of them."""
    try:
        yield
    except DisclosureError as error:
        if _is_missing(spec) or type(error) in SAID or type(error).__module__.startswith(OURS):
            raise
        raise DataError(
            f"the data of {spec.slug!r} cannot be served as they are. What is wrong with them can "
            "hold what is confidential, and is not said here: `discreet look` and `discreet "
            "assess` of the same data, with the same options, say it."
        ) from error
    except (SQLAlchemyError, MemoryError):
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}, while {spec.slug!r} was opened") from error


def _is_missing(spec: DataSpec) -> bool:
    """There is no such file or example, which tells nothing of data."""
    if spec.data.startswith(PREFIX):
        return True
    return "://" not in spec.data and not Path(spec.data).exists()


def _check_slug(slug: str) -> None:
    if not re.fullmatch(r"[a-z0-9](-?[a-z0-9]+)*", slug) or slug in RESERVED:
        raise DataError(
            f"{slug!r} cannot be a name in addresses; use small letters, digits and hyphens, and "
            f"none of {', '.join(sorted(RESERVED))}."
        )


def other_terms(database: Database, specs: Sequence[DataSpec]) -> list[str]:
    """The data sets whose ledger has another policy than the one that is given."""
    with database.read() as session:
        found = {spec.slug: store.find_dataset(session, spec.slug) for spec in specs}
    return [
        spec.slug
        for spec in specs
        if (known := found[spec.slug]) is not None
        and Policy.loads(known.policy).to_dict() != spec.terms().to_dict()
    ]


def _is_known(counter: Counter, spec: DataSpec) -> bool:
    """Then its terms are those of the ledger."""
    with counter.database.read() as session:
        return spec.slug in store.slugs(session)


def _found(table: Table, policy: Policy, spec: DataSpec) -> list[list[str]]:
    """The frontier that the static rule serves, chosen once."""
    from discreet.decision.frontier.frontier import frontier

    found = frontier(
        table,
        policy=policy,
        certified=policy.bounds.proof != "outer",
        max_order=policy.server.max_order or None,
        effort=spec.effort,
        seconds=spec.seconds,
    )
    return [list(margin) for margin in found.formula.margins]


def _margins(text: str, table: Table) -> list[list[str]]:
    return [list(margin) for margin in Formula.parse(text, table.names).margins]


def _is_used(url: str) -> bool:
    """Then it needs the secret that it was made with."""
    database = open_database(url)
    try:
        with database.read() as session:
            return in_use(session)
    finally:
        database.close()


def _check_length(secret: str, settings: Settings) -> None:
    """A short secret can be guessed; a ledger that was made with one can have no other."""
    if len(secret) >= LEAST_SECRET:
        return
    if not _is_used(settings.database):
        raise LedgerError(
            f"DISCREET_SECRET has {len(secret)} characters, and fewer than {LEAST_SECRET} can be "
            "guessed; make one with `openssl rand -base64 48`."
        )
    log().warning("the secret is short", characters=len(secret), least=LEAST_SECRET)


def _secret(settings: Settings) -> str:
    """The secret that was given, or one beside the SQLite file, which only its owner reads."""
    given = settings.secret.get_secret_value()
    if given:
        _check_length(given, settings)
        return given
    url = make_url(settings.database)
    if url.get_backend_name() != "sqlite":
        raise LedgerError(
            "set DISCREET_SECRET: a server on PostgreSQL needs a secret to sign with."
        )
    path = Path(f"{url.database}.secret")
    if not path.exists():
        if _is_used(settings.database):
            raise LedgerError(OTHER_SECRET)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(48))
    return path.read_text().strip()

"""Small sites and a client that talks to an application in this process."""

import asyncio
from contextlib import contextmanager

import httpx
from argon2 import PasswordHasher

from discreet.decision.law.policy import Policy
from discreet.server.app import create_app
from discreet.server.deciding.counter import Counter
from discreet.server.ledger.database import migrate, open_database
from discreet.server.people.accounts import Accounts
from discreet.server.services import Services
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.table.load import load

MYOPIC = {"server.rule": "myopic", "bounds.proof": "outer", "server.slot": 0.0}
MANY = {"requests_per_minute": 10**6, "decisions_per_minute": 10**6}
PASSWORD = "a long enough one 4 tests"
ROLES = ("analyst", "custodian", "auditor")


class Client:
    """Sends requests to the application, with a key or without."""

    def __init__(self, app, runner, key=None, address="127.0.0.1"):
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = httpx.ASGITransport(app, client=(address, 1))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)
        self.runner = runner

    def request(self, method, path, **more):
        return self.runner.run(self.http.request(method, path, **more))

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, json=None, **more):
        return self.request("POST", path, json={} if json is None else json, **more)


class World:
    """A site, its application, and a client for everybody."""

    def __init__(self, folder, runner, **settings):
        url = settings.pop("database", f"sqlite:///{folder}/site.db")
        migrate(url)
        database = open_database(url)
        self.settings = Settings(
            database=url,
            cookies_over_http=True,
            **MANY | {"address": "http://test"} | settings,
        )
        quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        self.site = Services(
            self.settings,
            database,
            Counter(database, b"secret"),
            Catalogue(database),
            Accounts(database, hasher=quick),
        )
        self.app = create_app(self.settings, self.site, quiet=True)
        self.users = {
            role: self.site.accounts.create(f"{role}1", role, PASSWORD).id for role in ROLES
        }
        self.keys = {r: self.site.accounts.make_key(self.users[r], "tests") for r in ROLES}
        self.runner = runner

    def open(self, slug="tract", changes=MYOPIC, data="example:tract", **more):
        self.site.counter.open(load(data), Policy.of(changes), slug=slug, **more)
        return self

    def client(self, role="public", address="127.0.0.1"):
        return Client(self.app, self.runner, self.keys.get(role), address)


@contextmanager
def world(folder, **settings):
    with asyncio.Runner() as runner:
        made = World(folder, runner, **settings)
        yield made
        made.site.database.close()

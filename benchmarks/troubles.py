"""What can go wrong beneath a table server: each trouble lasts as long as its block."""

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import open_database

SUFFIXES = ("", "-wal", "-shm")
# columns of text that are written once
ROWS = {
    "entries": ("at", "kind", "actor", "margin", "outcome", "why", "state", "meaning", "hash"),
    "publications": ("margin", "counts", "table_hash"),
    "datasets": ("title", "fingerprint", "policy", "variables", "meaning"),
}


@contextmanager
def small_disk(folder, size, owner=None):
    """A disk of so much room; none where nobody may mount one."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True
    )
    if mounted.returncode:
        yield None
        return
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def postgres_on_small_disk(server, size):
    """A database whose tables lie on a disk of so much room, and that disk; or an ordinary one."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-disk-"))  # where the user postgres may go
    folder.chmod(0o755)
    owner = "postgres" if os.geteuid() == 0 else None
    name = f"small_{folder.name.rpartition('-')[2]}"
    with small_disk(folder / "disk", size, owner) as disk:
        where = "" if disk is None else f'TABLESPACE "{name}"'
        with psycopg.connect(server, autocommit=True) as admin:
            if disk is not None:
                admin.execute(f"CREATE {where} LOCATION '{disk}'")
            admin.execute(f'CREATE DATABASE "{name}" {where}')
        yield f"{server.rpartition('/')[0]}/{name}", disk
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            if disk is not None:
                admin.execute(f"DROP {where}")
    shutil.rmtree(folder)


@contextmanager
def full(folder):
    ballast = folder / "ballast"
    try:
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield
    finally:
        ballast.unlink()


def spoilt(value, chance):
    """The same with one character, or byte, changed."""
    place = chance.randrange(len(value))
    if isinstance(value, bytes):
        return value[:place] + bytes([value[place] ^ 1 << chance.randrange(8)]) + value[place + 1 :]
    other = chance.choice([c for c in "0123456789abcdefghiABCDEF" if c != value[place]])
    return value[:place] + other + value[place + 1 :]


class Troubles:
    """Of one database; `disk` is where it lies, if that can be filled."""

    def __init__(self, life, disk):
        self.life, self.disk, self.chance = life, disk, life.chance
        kinds = [self.locked, self.read_only, self.corrupted, self.clock_back, self.gone]
        self.kinds = [*kinds, *([self.full] if disk is not None else [])]

    def full(self):
        return full(self.disk)

    @contextmanager
    def clock_back(self):
        self.life.order(back=self.chance.choice([2, 60, 3_600, 90_000]))
        try:
            yield
        finally:
            self.life.order()

    @contextmanager
    def corrupted(self):
        """A row was changed by somebody who put the guards aside."""
        with self.row() as (key, change):
            table, column, *_ = key
            before = self.read(*key)
            assert before is not None, key
            change(spoilt(before, self.chance))
            try:
                assert self.is_found(), (table, column, before)
                yield
            finally:
                change(before)

    def is_found(self):
        """Does `verify` see it?"""
        with closing(open_database(self.life.url)) as database, database.read() as session:
            return not all(found.holds for found in verify_all(session))

    def key(self, keys):
        """Some row, and one of its columns."""
        table = self.chance.choice(list(ROWS))
        column = self.chance.choice(ROWS[table])
        return table, column, self.chance.choice(keys(table, column))


class OfSqlite(Troubles):
    @property
    def file(self):
        return make_url(self.life.url).database

    @contextmanager
    def locked(self):
        with closing(sqlite3.connect(self.file, isolation_level=None, timeout=30)) as other:
            other.execute(self.chance.choice(["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]))
            yield
            other.execute("ROLLBACK")

    @contextmanager
    def read_only(self):
        self.life.order(read_only=True)
        try:
            yield
        finally:
            self.life.order()

    @contextmanager
    def gone(self):
        """Somebody takes the files elsewhere, and puts them back."""
        for suffix in SUFFIXES:
            with suppress(FileNotFoundError):
                os.rename(f"{self.file}{suffix}", f"{self.file}.elsewhere{suffix}")
        try:
            yield
        finally:
            for suffix in SUFFIXES:
                with suppress(FileNotFoundError):
                    os.rename(f"{self.file}.elsewhere{suffix}", f"{self.file}{suffix}")

    @contextmanager
    def row(self):
        with closing(sqlite3.connect(self.file, isolation_level=None, timeout=30)) as other:
            other.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            self.other = other
            key = self.key(
                lambda table, column: other.execute(
                    f"SELECT rowid FROM {table} WHERE {column} IS NOT NULL"
                ).fetchall()
            )
            guards = other.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
                key[:1],
            ).fetchall()

            def change(value):
                table, column, (row,) = key
                other.execute("BEGIN IMMEDIATE")
                for name, _ in guards:
                    other.execute(f"DROP TRIGGER {name}")
                other.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
                for _, sql in guards:
                    other.execute(sql)
                other.execute("COMMIT")

            yield key, change

    def read(self, table, column, row):
        found = self.other.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", row)
        return found.fetchone()[0]


class OfPostgres(Troubles):
    def __init__(self, life, disk, server):
        super().__init__(life, disk)
        self.server, self.name = server, make_url(life.url).database

    def connect(self, url=None):
        return psycopg.connect(url or self.life.url, autocommit=True)

    def cut_off(self, other):
        """All connections of the server."""
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = %s AND pid <> pg_backend_pid()",
            [self.name],
        )

    @contextmanager
    def locked(self):
        mode = self.chance.choice(["EXCLUSIVE", "ACCESS EXCLUSIVE"])
        with self.connect() as other, other.transaction():
            other.execute(f"LOCK TABLE datasets, entries, publications IN {mode} MODE")
            yield

    @contextmanager
    def read_only(self):
        """As a standby is, or a database that an operator has set so."""
        with self.connect(self.server) as other:
            other.execute(f'ALTER DATABASE "{self.name}" SET default_transaction_read_only = on')
            self.cut_off(other)
            try:
                yield
            finally:
                other.execute(f'ALTER DATABASE "{self.name}" RESET default_transaction_read_only')
                self.cut_off(other)

    @contextmanager
    def gone(self):
        """It crashes and is started again, or only its connections end."""
        if self.chance.random() < 0.5:
            with self.connect(self.server) as other:
                for _ in range(5):
                    self.cut_off(other)
                    time.sleep(0.05)
                yield
            return
        with self.connect(self.server) as other:
            data = other.execute("SHOW data_directory").fetchone()[0]
            bin_ = other.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()[
                0
            ]
        options = Path(data, "postmaster.opts").read_text().partition(" ")[2]
        options = re.sub(r'"-D" "[^"]*"', "", options).replace('"', "").strip()
        as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_owner, f"{bin_}/pg_ctl", "-D", data, "-w"]
        quiet = {"check": True, "cwd": "/", "stdout": subprocess.DEVNULL}
        subprocess.run([*command, "-m", "immediate", "stop"], **quiet)
        try:
            yield
        finally:
            log = Path(data).parent / "log"
            subprocess.run([*command, "-o", options, "-l", log, "start"], **quiet)

    @contextmanager
    def row(self):
        with self.connect() as other:
            self.other = other
            other.execute("SET session_replication_role = replica")  # no guard looks
            key = self.key(
                lambda table, column: other.execute(
                    f"SELECT ctid FROM {table} WHERE {column} IS NOT NULL"
                ).fetchall()
            )
            table, column, (place,) = key
            names = {"entries": "dataset_id, number", "datasets": "id",
                     "publications": "dataset_id, entry_number"}[table]  # fmt: skip
            found = other.execute(f"SELECT {names} FROM {table} WHERE ctid = %s", [place])
            self.where = " AND ".join(f"{name} = %s" for name in names.split(", "))
            self.values = found.fetchone()

            def change(value):
                other.execute(
                    f"UPDATE {table} SET {column} = %s WHERE {self.where}", [value, *self.values]
                )

            yield key, change

    def read(self, table, column, _):
        found = self.other.execute(f"SELECT {column} FROM {table} WHERE {self.where}", self.values)
        return found.fetchone()[0]

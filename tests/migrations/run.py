"""Makes outbox tables from processes of five languages at the same moment, each with its own package and driver.

    postgres-fixture -- mariadb-fixture run.py [ROUNDS]

OJS_TEST_POSTGRES and OJS_TEST_MYSQL name the servers. Each program connects to an empty database, prints `ready`, and
then, for each line of its input, migrates the outbox table of that name and prints `done`. All get a line when all have
answered the one before. In the end each table is there once, with the same columns, and takes a job.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import openjobspec as ojs
import psycopg
import pymysql
from openjobspec.outbox import Outbox

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROUNDS = 20
#: Two of each language: a package must not be in its own way either.
PROCESSES = 2
#: Seconds until a program that hangs is ended, so that its pipe ends too. Java compiles its program first.
PATIENCE = 300


def java() -> tuple[str, ...]:
    """Java compiles the file itself; the drivers are those of the adapters' tests."""
    home = subprocess.run([ROOT / "scripts" / "jdk.sh"], check=True, capture_output=True, text=True).stdout.strip()
    repository = Path(os.environ.get("MAVEN_REPOSITORY", Path.home() / ".m2" / "repository"))
    drivers = [*repository.glob("org/postgresql/postgresql/*/*.jar"), *repository.glob("org/mariadb/jdbc/*/*/*.jar")]
    jars = [*(ROOT / "java" / "target").glob("ojs-*.jar"), *drivers]
    path = os.pathsep.join(str(jar) for jar in sorted(jars))
    return (f"{home}/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", path, str(HERE / "Migrate.java"))


def go() -> tuple[str, ...]:
    """The program is in the module that has the drivers."""
    program = ROOT / "target" / "migrations" / "migrate-go"
    program.parent.mkdir(parents=True, exist_ok=True)
    path = f"{os.environ['PATH']}{os.pathsep}/usr/local/go/bin"
    folder = ROOT / "go" / "adapters" / "tests"
    subprocess.run(["go", "build", "-o", program, "./migrate"], cwd=folder, env=os.environ | {"PATH": path}, check=True)
    return (str(program),)


def commands() -> dict[str, tuple[str, ...]]:
    """The program of each language; its argument is the URL of the database."""
    return {
        "python": (sys.executable, str(HERE / "migrate.py")),
        "node": ("node", str(HERE / "migrate.mjs")),
        "ruby": ("ruby", "-I", str(ROOT / "ruby" / "lib"), str(HERE / "migrate.rb")),
        "go": go(),
        "java": java(),
    }


class Program:
    """A program of one language, connected to one database."""

    def __init__(self, language: str, command: tuple[str, ...], url: str) -> None:
        self.language = language
        self.process = subprocess.Popen(["timeout", str(PATIENCE), *command, url], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def begin(self, table: str) -> None:
        """Has it migrate."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{table}\n")
        self.process.stdin.flush()

    def await_line(self, wanted: str) -> None:
        """Waits for its next line. What else it says is on standard error."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if line != wanted:
            raise RuntimeError(f"{self.language} printed {line!r} in place of {wanted!r}")

    def end(self) -> None:
        """Ends its input, and with that the program."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        if code := self.process.wait():
            raise RuntimeError(f"{self.language} ended with {code}")


class PostgreSQL:
    """An empty database of PostgreSQL."""

    dialect = "postgresql"

    def __init__(self, server: str) -> None:
        self.name = f"migrations_{os.getpid()}"
        self.url = urlsplit(server)._replace(path=f"/{self.name}").geturl()
        self.admin = psycopg.connect(server, autocommit=True)
        self.admin.execute(f"CREATE DATABASE {self.name}")
        self.connection = psycopg.connect(self.url, autocommit=True)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What a query gives."""
        return self.connection.execute(sql).fetchall()

    def columns(self) -> list[tuple[object, ...]]:
        """Table, name and type of each column."""
        return self.rows("SELECT table_name, column_name, data_type FROM information_schema.columns"
                         " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position")  # fmt: skip

    def close(self) -> None:
        """Drops it."""
        self.connection.close()
        self.admin.execute(f"DROP DATABASE {self.name} WITH (FORCE)")
        self.admin.close()


class MariaDB:
    """An empty database of MariaDB."""

    dialect = "mysql"

    def __init__(self, server: str) -> None:
        self.name = f"migrations_{os.getpid()}"
        place = urlsplit(server)
        self.url = place._replace(path=f"/{self.name}").geturl()
        self.connection = pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username,
                                          password=place.password or "", autocommit=True)  # fmt: skip
        self.rows(f"CREATE DATABASE {self.name}")
        self.rows(f"USE {self.name}")

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What a query gives."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def columns(self) -> list[tuple[object, ...]]:
        """Table, name and type of each column."""
        return self.rows("SELECT table_name, column_name, data_type FROM information_schema.columns"
                         " WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position")  # fmt: skip

    def close(self) -> None:
        """Drops it."""
        self.rows(f"DROP DATABASE {self.name}")
        self.connection.close()


@contextlib.contextmanager
def programs(url: str, languages: dict[str, tuple[str, ...]]) -> Iterator[list[Program]]:
    """All of them, connected; they end with the block."""
    started = [Program(name, command, url) for name, command in languages.items() for _ in range(PROCESSES)]
    try:
        for one in started:
            one.await_line("ready")
        yield started
        for one in started:
            one.end()
    finally:
        for one in started:
            one.process.kill()
            one.process.wait()


def forms(database: PostgreSQL | MariaDB) -> dict[str, list[tuple[object, object]]]:
    """The columns of each table."""
    found: dict[str, list[tuple[object, object]]] = {}
    for table, column, kind in database.columns():
        found.setdefault(str(table), []).append((column, kind))
    return found


def check(database: PostgreSQL | MariaDB, tables: list[str]) -> None:
    """Each table is there once, with the columns that a migration alone makes, and takes a job."""
    with ojs.Client("memory:") as client:
        Outbox(client, database=database.dialect, table="alone").migrate(database.connection)
        found = forms(database)
        alone = {table.removeprefix("alone"): form for table, form in found.items() if table.startswith("alone")}
        expected = {name + suffix: form for name in ["alone", *tables] for suffix, form in alone.items()}
        assert found == expected, f"{sorted(found)} and not {sorted(expected)}, or other columns"
        for table in tables:
            Outbox(client, database=database.dialect, table=table).add(database.connection, "email.welcome", [1])
            assert database.rows(f"SELECT count(*) FROM {table}") == [(1,)]


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    languages, failed = commands(), 0
    tables = [f"outbox_{number}" for number in range(rounds)]
    for kind, variable in ((PostgreSQL, "OJS_TEST_POSTGRES"), (MariaDB, "OJS_TEST_MYSQL")):
        if variable not in os.environ:
            raise SystemExit(f"run.py: {variable} names no server: run it under the fixtures, as scripts/check.py does")
        with contextlib.closing(kind(os.environ[variable])) as database:
            try:
                with programs(database.url, languages) as started:
                    for table in tables:
                        for one in started:
                            one.begin(table)
                        for one in started:
                            one.await_line("done")
                check(database, tables)
                print(f"{kind.__name__}: {len(started)} processes made {rounds} tables together", flush=True)
            except (AssertionError, RuntimeError) as error:
                failed += 1
                print(f"FAILED {kind.__name__}: {error}", flush=True)
    print(f"{2 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

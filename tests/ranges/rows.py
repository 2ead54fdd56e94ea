"""The oldest versions of frameworks that adapters declare. `make test` has the newest: what the lock files pin."""
from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One adapter with other versions of what it builds on."""

    name: str
    language: str  # python, node, java
    adapter: str  # ojs-adapter-NAME
    versions: dict[str, str]  # packages of the framework; for java properties of Maven
    beside: dict[str, str] = field(default_factory=dict)  # what such a version needs, too
    leave_out: tuple[str, ...] = ()  # test files, by their names


_NEST = ("@nestjs/common", "@nestjs/core", "@nestjs/platform-express")
_OF_NEST = {"reflect-metadata": "0.1.14", "rxjs": "7.8.1"}

ROWS = [
    # The option for SQLite in the README came with 5.1.
    Row("django-4.2", "python", "django", {"Django": "4.2"}, leave_out=("test_readme.py",)),
    # The older driver of PostgreSQL, because 1.4 does not know psycopg 3. The README's models are those of 2.0.
    Row("sqlalchemy-1.4", "python", "sqlalchemy", {"SQLAlchemy": "1.4.46"},
        {"psycopg2-binary": "2.9.13", "aiosqlite": "0.19.0", "asyncpg": "0.30.0"}, ("test_readme.py",)),
    Row("sqlalchemy-2.0", "python", "sqlalchemy", {"SQLAlchemy": "2.0.0"}),
    # Flask-SQLAlchemy, which the tests use, wants 2.0.16.
    Row("flask-3.0", "python", "flask", {"Flask": "3.0.0"}, {"SQLAlchemy": "2.0.16"}),
    # Its test client is made of httpx.
    Row("fastapi-0.110", "python", "fastapi", {"fastapi": "0.110.0", "SQLAlchemy": "2.0.0"}, {"httpx": "0.27.2"}),
    # The tests run with two versions of Express each time: the oldest of 5 and the oldest of 4.
    Row("express-4.18", "node", "express", {"express": "5.0.0", "express4": "npm:express@4.18.0"}),
    Row("nestjs-10", "node", "nestjs", dict.fromkeys(_NEST, "10.0.0"), _OF_NEST),
    Row("nestjs-11", "node", "nestjs", dict.fromkeys(_NEST, "11.0.0"), _OF_NEST),
    Row("prisma-7", "node", "express", dict.fromkeys(("prisma", "@prisma/client", "@prisma/adapter-pg"), "7.10.0")),
    Row("spring-boot-3.4", "java", "spring-boot-starter", {"spring-boot.version": "3.4.0"}),
]

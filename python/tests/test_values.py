"""What becomes of values: kept, or refused with their place and with what to pass instead."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import os
import pathlib
import uuid
from collections import OrderedDict, defaultdict, namedtuple
from fractions import Fraction
from typing import Any

import pytest
from support import Recorder, in_state

import openjobspec as ojs
from openjobspec import _json


class Colour(enum.Enum):
    RED = "red"


class Word(str, enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Point:
    x: int


Pair = namedtuple("Pair", "a b")
NOW = datetime.datetime(2026, 1, 1, 12, 0)

KEPT = [
    None, True, 0, -1, 2**63, 10**30, 1.5, -0.0, "", "ü", [], {}, [1, [2, {"a": None}]], {"": 1}, Word.RED, Number.ONE, OrderedDict(a=1),
    defaultdict(int, a=1), {Word.RED: 1},
]  # fmt: skip

REFUSED = [
    ({1: "a"}, "args[0]: the key 1 is an int, and keys in JSON are text: pass str(key)"),
    ({"a": {None: 1}}, "args[0].a: the key None is a NoneType, and keys in JSON are text: pass str(key)"),
    ({"when": NOW}, "args[0].when: a job cannot hold a datetime: pass ….isoformat()"),
    ([NOW.date()], "args[0][0]: a job cannot hold a date: pass ….isoformat()"),
    (NOW.time(), "args[0]: a job cannot hold a time: pass ….isoformat()"),
    (datetime.timedelta(1), "args[0]: a job cannot hold a timedelta: pass ….total_seconds()"),
    (decimal.Decimal("1.10"), "args[0]: a job cannot hold a Decimal: pass str(…)"),
    (Fraction(1, 3), "args[0]: a job cannot hold a Fraction: pass str(…)"),
    ({1, 2}, "args[0]: a job cannot hold a set: pass sorted(…)"),
    (b"raw", "args[0]: a job cannot hold a bytes: pass base64.b64encode(…).decode()"),
    (bytearray(b"raw"), "args[0]: a job cannot hold a bytearray: pass base64.b64encode(…).decode()"),
    (float("nan"), "args[0]: JSON has no nan: pass None, or text"),
    ({"a": [1.0, float("-inf")]}, "args[0].a[1]: JSON has no -inf: pass None, or text"),
    (Point(1), "args[0]: a job cannot hold a Point: pass dataclasses.asdict(…)"),
    (Pair(1, 2), "args[0]: a job cannot hold a Pair: pass …._asdict(), or list(…)"),
    (Colour.RED, "args[0]: a job cannot hold a Colour: pass ….value"),
    (uuid.UUID(int=0), "args[0]: a job cannot hold a UUID: pass str(…)"),
    (pathlib.Path("a"), "args[0]: a job cannot hold a PosixPath: pass str(…)"),
    (ValueError("no"), "args[0]: a job cannot hold a ValueError: pass str(…)"),
    (range(3), "args[0]: a job cannot hold a range: pass list(…)"),
    (os.environ, "args[0]: a job cannot hold a _Environ: pass dict(…)"),
    (len, "args[0]: a job cannot hold a builtin_function_or_method: pass its name"),
    (1j, "args[0]: a job cannot hold a complex: pass [….real, ….imag]"),
    (10**5000, "args[0]: an integer of more than 4,300 digits: pass str(…)"),
    ("a\ud800", "args[0]: not text but half of a character at place 1 (a lone surrogate)"),
]


@pytest.mark.parametrize("value", KEPT, ids=repr)
def test_what_json_can_say_arrives_as_it_was(value: Any) -> None:
    with ojs.Client("memory:") as client:
        job = client.get_job(client.enqueue("a", [value], meta={"m": value}).id)
        assert job.args == [value] and job.meta["m"] == value


def test_a_tuple_arrives_as_a_list() -> None:
    with ojs.Client("memory:") as client:
        assert client.get_job(client.enqueue("a", ((1, 2), "b")).id).args == [[1, 2], "b"]


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=[type(value).__name__ for value, _ in REFUSED])
@pytest.mark.parametrize("orjson", [True, False])
def test_what_would_be_turned_into_something_else_is_refused(
    value: Any, message: str, orjson: bool, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not orjson:
        monkeypatch.setattr(_json, "orjson", None)
    with ojs.Client("memory:") as client:
        for send in (lambda: client.enqueue("a", [value]), lambda: client.enqueue_batch([("a", [value])])):
            with pytest.raises(ojs.OJSValidationError) as caught:
                send()
            assert message in caught.value.message and caught.value.code == "serialization_error"
        assert client.list_jobs().total == 0
    if not isinstance(value, (int, str)):  # whether these can be written is only known when they are
        with pytest.raises(ojs.OJSValidationError, match=r"meta\.m\[0\]"):
            ojs.Client(transport=recorder).enqueue("a", [1], meta={"m": [value]})
        assert recorder.requests == []


def test_a_list_that_contains_itself_is_refused() -> None:
    own: list[Any] = []
    own.append({"a": own})
    with ojs.Client("memory:") as client, pytest.raises(ojs.OJSValidationError, match="nested deeper than 500 levels, or containing itself"):
        client.enqueue("a", [own])


def test_a_result_is_held_to_the_same(make_worker: Any, client: ojs.Client) -> None:
    worker = make_worker()
    # Work that is done is not lost for a date, which has always been written as text.
    worker.register("kept", lambda ctx: {"n": Number.ONE, "at": NOW, "id": uuid.UUID(int=0), "c": Colour.RED, "p": Point(1)})
    worker.register("refused", lambda ctx: {"at": [NOW, {1: "a"}]})
    kept, refused = client.enqueue("kept"), client.enqueue("refused")
    with worker:
        assert in_state(client, kept.id, "completed").result == {
            "n": 1, "at": NOW.isoformat(), "id": str(uuid.UUID(int=0)), "c": "red", "p": {"x": 1},
        }  # fmt: skip
        error = in_state(client, refused.id, "discarded").error
    assert error is not None
    assert error["message"] == "what the handler returned: result.at[1]: the key 1 is an int, and keys in JSON are text: pass str(key)"
    with ojs.testing.fake_mode() as fake, ojs.Client() as faked:
        faked.enqueue("refused")
        with pytest.raises(ojs.OJSValidationError, match="result: the key 1"):
            fake.drain(fresh())


def fresh() -> ojs.Worker:
    worker = ojs.Worker()
    worker.register("refused", lambda ctx: {1: NOW})
    return worker


# --- answers that cannot be read ---

WRONG = [
    b"{", b"", b"[1, 2]", b'{"job": 7}', b'{"job": {"id": 7}}', b'{"job": {"id": "a", "args": "b"}}', b"\xff", b"<html>",
    b'{"job": {"id": "a", "n": ' + b"9" * 5000 + b"}}", b'{"job": {"id": "a", "n": 1e400}}', b"[" * 100_000,
]  # fmt: skip


class Liar:
    """A server that answers 200 and something else."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def request(self, method: str, path: str, body: Any = None) -> Any:
        return 200, self.body


@pytest.mark.parametrize("body", WRONG, ids=[repr(body[:20]) for body in WRONG])
@pytest.mark.parametrize("orjson", [True, False])
def test_an_answer_that_cannot_be_read_is_an_error_of_the_package(body: bytes, orjson: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not orjson:
        monkeypatch.setattr(_json, "orjson", None)
    client = ojs.Client(transport=Liar(body))
    for call in (lambda: client.get_job("a"), lambda: client.enqueue("a"), client.list_jobs, client.dead_letters, client.list_queues):
        with pytest.raises(ojs.OJSError) as caught:
            call()
        assert caught.value.code == "unexpected_answer", caught.value


def test_lists_that_are_null_are_empty() -> None:
    assert ojs.Client(transport=Liar(b'{"jobs": null}')).dead_letters() == []
    assert ojs.Client(transport=Liar(b'{"queues": null}')).list_queues() == []
    assert list(ojs.Client(transport=Liar(b'{"items": null}')).list_jobs()) == []


def test_the_bytes_of_a_refused_value_are_not_shown() -> None:
    with ojs.Client("memory:") as client, pytest.raises(ojs.OJSValidationError) as caught:
        client.enqueue("a", [base64.b64decode("c2VjcmV0")])
    assert "secret" not in str(caught.value)
    assert json.dumps(str(caught.value))

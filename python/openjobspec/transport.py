"""How requests reach a server: over the core (HTTP or the embedded engine), or over an object of your own.

An object of your own is anything with a ``request(method, path, body)`` method, plain or coroutine; ``path`` is relative
to ``/ojs/v1`` and ``body`` is the decoded JSON. It answers with ``(status, body)``, with ``{"status": …, "body": …}``, with
an object that has ``status`` and ``body``, or with the body alone, which then counts as status 200::

    class Mock:
        async def request(self, method, path, body=None):
            if (method, path) == ("POST", "/jobs"):
                return 201, {"job": {"id": "test-id", "type": body["type"], "state": "available", "args": body["args"]}}
            raise AssertionError(f"unexpected request: {method} {path}")

    client = ojs.Client(transport=Mock())
"""

from __future__ import annotations

import base64
import inspect
import os
import threading
from datetime import timedelta
from typing import Any, Mapping, Protocol, Sequence, runtime_checkable

from . import _native, _portal
from ._json import dumps, loads
from .errors import ClosedError, OJSError, OJSValidationError, UnknownOptionError
from .policies import unknown


@runtime_checkable
class Transport(Protocol):
    """What a custom transport looks like. ``request`` may be a coroutine function."""

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """One request; see the module's documentation for what it may return."""


class Answer:
    """Status and body of an answer, in whatever form the transport gave it."""

    __slots__ = ("status", "body")

    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body

    @classmethod
    def of(cls, value: Any) -> Answer:
        """Reads the forms a custom transport may answer in."""
        if isinstance(value, tuple) and len(value) == 2:
            return cls(int(value[0]), value[1])
        if isinstance(value, Mapping) and "status" in value and "body" in value:
            return cls(int(value["status"]), value["body"])
        if hasattr(value, "status") and hasattr(value, "body"):
            return cls(int(value.status), value.body)
        return cls(200, value)

    def as_bytes(self) -> bytes:
        """The body as JSON text."""
        if self.body is None:
            return b""
        if isinstance(self.body, (bytes, bytearray, memoryview)):
            return bytes(self.body)
        if isinstance(self.body, str):
            return self.body.encode("utf-8")
        return dumps(self.body)

    def decoded(self) -> Any:
        """The body of a 2xx; raises the error of any other answer, but a bulk answer with an outcome per item."""
        told = self.status == 422 and isinstance(self.body, Mapping) and "items" in self.body
        if not told and not 200 <= self.status < 300:
            raise _native.error_of(self.status, self.as_bytes())
        if isinstance(self.body, (bytes, bytearray, memoryview, str)):
            raw = self.as_bytes()
            return loads(raw) if raw else None
        return self.body


def send(transport: Any, method: str, path: str, body: Any) -> Any:
    """Calls a custom transport: its ``request``, else the method named like the HTTP method."""
    if hasattr(transport, "request"):
        return transport.request(method, path, body)
    function = getattr(transport, method.lower(), None)
    if function is None:
        raise OJSValidationError(f"the transport has neither request() nor {method.lower()}()")
    return function(path) if body is None else function(path, body=body)


def environment() -> dict[str, Any]:
    """What the variables ``OJS_…`` say, by the names of settings, lengths of time in seconds; the core reads them.

    Raises OJSValidationError, which names the variable, for a text that cannot be.
    """
    variables = {name: text for name, text in os.environ.items() if name.startswith("OJS_")}
    said: dict[str, Any] = loads(_native.environment(dumps(variables).decode()).encode())
    return said


def default_url() -> str:
    """``OJS_URL``, else a server on this machine."""
    return str(environment()["url"])


#: Keyword arguments that set up a connection: of :class:`~openjobspec.Client` and :class:`~openjobspec.Worker`.
CONNECTION_OPTIONS = ("auth_token", "headers", "tenant", "timeout", "connect_timeout", "max_sends", "ca_file",
                      "client_cert", "encryption_keys", "max_response_bytes", "proxy")  # fmt: skip


def unknown_option(name: str, names: Sequence[str]) -> UnknownOptionError:
    """The error for a setting that there is not."""
    return unknown(name, names)


def native_connection(url: str | None, options: Mapping[str, Any]) -> _native.Connection:
    """A connection of the core; nothing is opened before its first call."""
    said = environment()
    settings = {name: said.get(name) for name in CONNECTION_OPTIONS}
    settings.update((name, value) for name, value in options.items() if value is not None)
    settings.update((name, value.total_seconds()) for name, value in settings.items() if isinstance(value, timedelta))
    settings["encryption_keys"] = key_text(settings["encryption_keys"])
    return _native.Connection(url or said["url"], dumps(settings).decode())


def key_text(keys: str | Mapping[str, bytes] | None) -> str | None:
    """Keys as the core reads them, ``name:key,name:key``.

    >>> key_text({"k-2": bytes(32)})
    'k-2:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
    """
    if keys is None or isinstance(keys, str):
        return keys
    return ",".join(f"{name}:{base64.b64encode(key).decode()}" for name, key in keys.items())


async def awaited(value: Any) -> Any:
    """A coroutine of what can be awaited."""
    return await value


class TransportThreads:
    """Serves the requests of a worker through a custom transport, in a few daemon threads.

    More than one, because a transport may hold back an answer while a heartbeat is due.
    """

    COUNT = 4

    def __init__(self, custom: Any) -> None:
        self._custom = custom
        self._mailbox = _native.HostTransport()
        self.connection = _native.Connection.over(self._mailbox)
        for number in range(self.COUNT):
            threading.Thread(target=self._serve, name=f"openjobspec-transport-{number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                request = self._mailbox.pull(60_000)
            except ClosedError:
                return
            if request is not None:
                self._answer(*request)

    def _answer(self, ticket: int, method: str, path: str, raw: bytes | None) -> None:
        try:
            answer = send(self._custom, method, path, None if raw is None else loads(raw))
            if inspect.isawaitable(answer):
                answer = _portal.portal().run(awaited(answer))
            result = Answer.of(answer)
            self._mailbox.reply(ticket, result.status, result.as_bytes())
        except OJSError as error:
            # The transport speaks our language: an error of the server stays one.
            body = {"error": {"code": error.code, "message": error.message, "retryable": error.retryable}}
            if error.status:
                self._mailbox.reply(ticket, error.status, dumps(body))
            else:
                self._mailbox.fail(ticket, str(error))
        except BaseException as error:
            self._mailbox.fail(ticket, f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Lets the threads end."""
        self._mailbox.close()

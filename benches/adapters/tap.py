"""What reaches a PostgreSQL server: a door in front of it that counts, for scripts/bench_adapters.py."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from typing import BinaryIO

#: A client asks them (for TLS, for GSSAPI) before its first message; the answer is one byte.
_QUESTIONS = (80877103, 80877104)


@dataclass(frozen=True)
class Count:
    """Statements that the server says it has completed, and how often the client asked for its answers."""

    statements: int
    round_trips: int


class Tap:
    """Listens on a port of its own, and hands every message of PostgreSQL's protocol (version 3) on to the server behind it."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._lock = threading.Lock()
        self._statements = self._round_trips = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def count(self) -> Count:
        """Since the start, over all connections."""
        with self._lock:
            return Count(self._statements, self._round_trips)

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        while True:
            try:
                client = self._door.accept()[0]
            except OSError:  # closed
                return
            server = socket.create_connection(self._server)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._requests, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        """One connection, from the client to the server."""
        with client, server, client.makefile("rb") as requests, server.makefile("rb") as answers:
            try:
                _greet(requests, answers, client, server)
                answering = threading.Thread(target=self._answers, args=(answers, client), daemon=True)
                answering.start()
                while message := _message(requests):
                    if message[:1] in b"QSH":  # a simple query, Sync, Flush: now it waits
                        with self._lock:
                            self._round_trips += 1
                    server.sendall(message)
                server.shutdown(socket.SHUT_WR)
                answering.join()
            except OSError:
                pass  # either side has gone: so does the other

    def _answers(self, answers: BinaryIO, client: socket.socket) -> None:
        """One connection, from the server to the client."""
        try:
            while message := _message(answers):
                if message[:1] in b"CE":  # CommandComplete, ErrorResponse
                    with self._lock:
                        self._statements += 1
                client.sendall(message)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def _greet(requests: BinaryIO, answers: BinaryIO, client: socket.socket, server: socket.socket) -> None:
    """The messages before the protocol proper have no type."""
    while head := requests.read(8):
        server.sendall(head + requests.read(int.from_bytes(head[:4], "big") - 8))
        if int.from_bytes(head[4:], "big") not in _QUESTIONS:
            return
        client.sendall(answers.read(1))


def _message(stream: BinaryIO) -> bytes:
    """The next one, whole; nothing at the end."""
    head = stream.read(5)
    return head + stream.read(int.from_bytes(head[1:], "big") - 4) if len(head) == 5 else b""

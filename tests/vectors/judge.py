#!/usr/bin/env python3
"""A server for the vectors of workers: hands out their jobs, answers as they say, and tells which requests came.

    judge.py            prints "listening on http://127.0.0.1:PORT", serves until standard input ends

It speaks the plain protocol of the seed (no manifest, so no exchange). The queue `outcomes` holds the jobs of all outcomes; each life has
a queue of its own, and the worker bears its name. A program in any language runs the jobs and then asks:

    GET /verdicts/outcomes     waits until all expected requests have come
    GET /verdicts/lives        waits until all have come of the lives that have begun: the workers are over, but a worker that is told to
                               stop now does not wait for the answers to its last requests, which may still be on their way to this server

for a list of `{"name", "expected", "found"}`, two texts. `GET /published` tells the address of another server, which
speaks as the published ones do (published.py). An ack is compared byte by byte. Of a nack's error the members that
belong to the language are left out: type, error_class, stack, backtrace. Python 3.10, standard library only.
"""
from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from published import Published

VECTORS = Path(__file__).parent / "vectors.json"
#: Longest that a verdict waits for requests that have not come. Reached only by failures. Clients of HTTP give up after 60 s.
PATIENCE = 55.0


class Case:
    """One vector: its jobs, and the requests that came."""

    def __init__(self, vector: dict[str, Any], queue: str, first_id: int) -> None:
        self.vector = vector
        self.queue = queue
        self.found: list[str] = []
        self.answers = list(vector.get("answers", []))
        self.state = ""
        self.begun = False
        jobs = vector["jobs"] if "jobs" in vector else [{"type": vector["type"], "args": [vector["does"]], **vector.get("job", {})}]
        self.waiting = [
            {"id": f"019461a8-0000-7000-8000-{first_id + n:012}", "state": "active", "queue": queue, "attempt": 1, **job} for n, job in enumerate(jobs)
        ]
        self.ids = [job["id"] for job in self.waiting]

    def note(self, path: str, raw: bytes) -> tuple[int, Any]:
        """Keeps a report, gives the answer to it."""
        self.found.append(f"{path} {raw.decode() if path.endswith('/ack') else plain(raw)}")
        status, body = self.answers.pop(0) if self.answers else (200, {})
        return status, body

    def beat(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a heartbeat. How many there are depends on the clock: of their states the last one is kept."""
        self.begun = True
        self.state = body["state"]
        answer: dict[str, Any] = {}
        if self.vector.get("directive") and not self.waiting:
            answer["state"] = self.vector["directive"]
        return answer

    def awaited(self) -> bool:
        """Whether requests are still to come."""
        if "steps" not in self.vector:
            return len(self.found) < len(self.vector["requests"])
        return self.begun and self.told() != self.vector["requests"]

    def told(self) -> list[str]:
        """The requests. Jobs that run beside each other end in any order."""
        if "steps" not in self.vector:
            return self.found
        return [*self.found[:1], *sorted(self.found[1:]), f"/workers/heartbeat {self.state}"]


def plain(raw: bytes) -> str:
    """A nack without what belongs to the language."""
    body = json.loads(raw)
    error = body.get("error", {})
    # The core or the package finds out that there is no handler, never the program.
    if error.get("code") not in ("no_handler", "timeout", "snooze", "shutdown"):
        error.pop("type", None)
        error.get("details", {}).pop("error_class", None)
        if error.get("code") == "serialization_error":
            error.pop("message")
    error.get("details", {}).pop("stack", None)
    error.pop("backtrace", None)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class Judge(ThreadingHTTPServer):
    """The cases, by their queues."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
        self.changed = threading.Condition()
        self.published = Published()
        threading.Thread(target=self.published.serve_forever, daemon=True).start()
        self.outcomes = [Case(vector, "outcomes", n) for n, vector in enumerate(vectors["outcomes"])]
        self.lives = [Case(vector, vector["name"], 1000 + 100 * n) for n, vector in enumerate(vectors["lives"])]
        self.by_id = {id: case for case in self.outcomes + self.lives for id in case.ids}

    def answer(self, path: str, raw: bytes) -> tuple[int, Any]:
        """The answer to one request of a worker."""
        if not path.startswith("/ojs/v1/workers/"):
            return 404, {"error": {"code": "not_found", "message": "There is no manifest here."}}
        path = path.removeprefix("/ojs/v1")
        body = json.loads(raw)
        with self.changed:
            self.changed.notify_all()
            if path == "/workers/fetch":
                return 200, {"jobs": self.hand_out(body, raw)}
            if path == "/workers/heartbeat":
                return 200, self.beat(body)
            return self.by_id[body["job_id"]].note(path, raw)

    def hand_out(self, body: dict[str, Any], raw: bytes) -> list[dict[str, Any]]:
        jobs: list[dict[str, Any]] = []
        for case in self.outcomes + self.lives:
            case.begun |= case.queue in body["queues"]
            while case.queue in body["queues"] and case.waiting and len(jobs) < body["count"]:
                if "steps" in case.vector and not case.found:
                    case.found.append(f"/workers/fetch {raw.decode()}")
                jobs.append(case.waiting.pop(0))
        return jobs

    def beat(self, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for case in self.lives:
            if case.vector["name"] == body["worker_id"]:
                answer = case.beat(body)
        cancelled = [id for id in body["active_job_ids"] if id in self.by_id and self.by_id[id].vector.get("cancelled")]
        return {**answer, "cancelled_jobs": cancelled} if cancelled else answer

    def verdicts(self, kind: str) -> list[dict[str, str]]:
        """What was expected and what was found."""
        cases = self.outcomes if kind == "outcomes" else self.lives
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while any(case.awaited() for case in cases) and time.monotonic() < deadline:
                self.changed.wait(deadline - time.monotonic())
            if time.monotonic() >= deadline:
                # Waited for once, not again for the verdict of every other life.
                for case in cases:
                    case.begun = False
            return [{"name": case.vector["name"], "expected": "\n".join(case.vector["requests"]), "found": "\n".join(case.told())} for case in cases]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Judge
    # Status and body are two writes: without this the second one waits for an acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        # A program that has only its client asks below the prefix of the protocol.
        path = self.path.removeprefix("/ojs/v1")
        if path == "/published":
            self.respond(200, {"url": f"http://127.0.0.1:{self.server.published.server_port}"})
        elif path.startswith("/verdicts/"):
            self.respond(200, self.server.verdicts(path.removeprefix("/verdicts/")))
        else:
            self.respond(*self.server.answer(self.path, b"{}"))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.respond(*self.server.answer(self.path, raw))

    def respond(self, status: int, answer: Any) -> None:
        body = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/openjobspec+json")
        self.send_header("content-length", str(len(body)))
        try:
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            pass  # a worker that has been told to stop now does not wait for the answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    judge = Judge()
    threading.Thread(target=judge.serve_forever, daemon=True).start()
    print(f"listening on http://127.0.0.1:{judge.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()

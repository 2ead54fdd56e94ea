"""A double of the published servers, which offer less and write some things otherwise. `judge.py` starts it.

No exchange, no long poll, no lease tokens, no route for results; attempts are counted from 0; lists without entries are
`null`; heartbeats want a list of ids; refusals are nested or flat; a path that is not there is a line of text. The
server is openjobspec/ojs-backend-redis; `core/sdk/tests/sdk/other_servers.rs` cites its lines and tests each
difference.
"""
from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MANIFEST = {
    "specversion": "1.0.0-rc.1",
    "implementation": {"name": "ojs-backend-redis", "version": "0.1.0", "backend": "redis"},
    "levels": [0, 1, 2, 3, 4],
    "capabilities": ["push", "fetch", "ack", "fail", "cancel", "info", "heartbeat", "dead-letter", "retry", "cron"],
}
#: Members whose lists are empty, by path.
EMPTY = {"/queues": "queues", "/dead-letter": "jobs", "/cron": "crons"}
NO_ROUTE = 404, "404 page not found\n"

#: A status, and a body: text as it is, anything else as JSON.
Answer = tuple[int, Any]


class Published(ThreadingHTTPServer):
    """The jobs, by their ids."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.jobs: dict[str, dict[str, Any]] = {}

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        """The answer to one request."""
        if path == "/ojs/manifest":
            return 200, MANIFEST
        path, _, _query = path.removeprefix("/ojs/v1").partition("?")
        with self.lock:
            if (method, path) == ("POST", "/jobs"):
                return self.enqueue(body)
            if method == "GET" and path in EMPTY:
                return 200, {EMPTY[path]: None, "pagination": {"total": 0, "limit": 50, "offset": 0, "has_more": False}}
            if path.startswith("/jobs/") and path.count("/") == 2:
                return self.one(method, path.removeprefix("/jobs/"))
            if path.startswith("/workers/") and method == "POST":
                return self.worker(path.removeprefix("/workers/"), body)
        return NO_ROUTE

    def enqueue(self, body: dict[str, Any]) -> Answer:
        """A job that has no attempt yet is at attempt 0."""
        number = len(self.jobs) + 1
        options = body.get("options", {})
        job = {"id": body.get("id") or f"019461a8-0000-7000-8000-{number:012}", "type": body["type"],
               "args": body["args"], "queue": options.get("queue", "default"), "state": "available", "attempt": 0,
               "created_at": "2026-02-12T10:30:00.000Z"}
        self.jobs[job["id"]] = job
        return 201, {"job": job}

    def one(self, method: str, id: str) -> Answer:
        """Reads or cancels a job."""
        job = self.jobs.get(id)
        if job is None:
            about = {"code": "not_found", "message": f"Job '{id}' not found.", "retryable": False}
            return 404, {"error": about} if method == "GET" else about
        if method == "DELETE":
            job["state"] = "cancelled"
        return 200, {"job": job}

    def worker(self, what: str, body: dict[str, Any]) -> Answer:
        """Fetch, heartbeat, ack and nack."""
        if what == "fetch":
            waiting = (job for job in self.jobs.values() if job["state"] == "available")
            job = next((job for job in waiting if job["queue"] in body["queues"]), None)
            if job is None:
                return 200, {"jobs": None}
            job["state"] = "active"
            return 200, {"job": job, "jobs": [job]}
        if what == "heartbeat":
            if not isinstance(body.get("active_jobs", []), list):
                about = {"code": "invalid_request", "message": "Invalid JSON in request body.", "retryable": False}
                return 400, {"error": about}
            return 200, {"state": "active", "directive": "continue", "jobs_extended": body.get("active_jobs", [])}
        if what not in ("ack", "nack"):
            return NO_ROUTE
        job = self.jobs[body["job_id"]]
        if what == "ack":
            job |= {"state": "completed", "result": body.get("result")}
            return 200, {"acknowledged": True, "job_id": job["id"], "state": "completed"}
        # It raises the number with the failure. This one hands the job out again at once.
        job |= {"state": "available", "attempt": job["attempt"] + 1}
        return 200, {"attempt": job["attempt"], "job_id": job["id"], "max_attempts": 3, "state": "retryable"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Published
    # Status and body are two writes: without this the second one waits for an acknowledgement of the first.
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        status, body = self.server.answer(self.command, self.path, json.loads(raw) if raw else {})
        text = isinstance(body, str)
        sent = body.encode() if text else f"{json.dumps(body, ensure_ascii=False)}\n".encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8" if text else "application/openjobspec+json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_DELETE = handle_any

    def log_message(self, format: str, *args: Any) -> None:
        pass

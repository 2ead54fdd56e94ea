"""The `ojs` binary, from its tarball and from its Debian package: a job is enqueued, worked and done."""
from __future__ import annotations

import subprocess
from pathlib import Path

from place import Broken, Place, Server, unpacked


def played(place: Place, prefix: Path, version: str) -> None:
    """One job through the server, by the tools and over the wire."""
    said = place.run(prefix / "bin" / "ojs", "--version")
    if version not in said:
        raise Broken(f"ojs --version: {said}")
    with Server(place, prefix, "sqlite:jobs.db") as server:
        url = {"OJS_URL": server.url}
        ojs = prefix / "bin" / "ojs"
        place.run(ojs, "jobs", "enqueue", "email.send", '["ada@example.com"]', "--queue", "mail", **url)
        job = server.post("/ojs/v1/workers/fetch", {"queues": ["mail"], "count": 1, "worker_id": "w"})["jobs"][0]
        if job["args"] != ["ada@example.com"]:
            raise Broken(f"the server handed out {job}")
        done = {"job_id": job["id"], "worker_id": "w", "result": {"sent": True}, "lease_token": job.get("lease_token")}
        server.post("/ojs/v1/workers/ack", {name: value for name, value in done.items() if value is not None})
        listed = place.run(prefix / "bin" / "ojs", "jobs", "list", "--state", "completed", **url)
    if "email.send" not in listed:
        raise Broken(f"ojs jobs list: {listed}")


def tarball(packages: Path) -> None:
    """The binary alone: nothing is installed."""
    found = next((packages / "binary").glob("*.tar.gz"))
    with Place(packages) as place:
        played(place, unpacked(found, place.home / "prefix"), found.name.split("-")[1])


def debian(packages: Path) -> None:
    """dpkg would install it here (a dry run reads the dependencies); its files run from an empty root."""
    found = next((packages / "debian").glob("*.deb"))
    dry = subprocess.run(["dpkg", "--dry-run", "--install", found], capture_output=True, text=True)
    if dry.returncode != 0:
        raise Broken(f"dpkg --dry-run --install: {dry.stderr}")
    with Place(packages) as place:
        root = place.home / "root"
        subprocess.run(["dpkg-deb", "--extract", found, root], check=True)
        wanted = ["usr/lib/systemd/system/ojs.service", "usr/share/doc/ojs/copyright", "usr/share/man/man1/ojs.1.gz",
                  "usr/share/bash-completion/completions/ojs", "usr/share/doc/ojs/THIRD-PARTY-NOTICES.txt"]
        missing = [name for name in wanted if not (root / name).is_file()]
        if missing or b"/usr/local" in (root / wanted[0]).read_bytes():
            raise Broken(f"the package lacks {missing}, or its unit names /usr/local")
        played(place, root / "usr", found.name.split("_")[1])

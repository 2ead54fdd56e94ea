"""The server under test as a process: the program `ojs`."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading
from pathlib import Path

from support import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
REGION = "eu-west-1"


def binary() -> Path:
    """The program `ojs` of this build, or where OJS_BIN says."""
    if named := os.environ.get("OJS_BIN"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / profile / "ojs" for profile in ("release", "debug")) if path.exists()]
    assert built, "build `ojs` first: cargo build --workspace --bins"
    return max(built, key=lambda path: path.stat().st_mtime)


class OjsServer:
    """`ojs server` on a database, with an operator's credentials of Amazon in its environment. It sends to addresses of
    this machine, which a server of the package does not."""

    def __init__(self, store: Path, key: dict[str, str] | None = None) -> None:
        credentials = {name.upper(): value for name, value in (key or {}).items()}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self._process = subprocess.Popen(
            [
                *(binary(), "server", "--listen", "127.0.0.1:0", "--store", f"sqlite:{store}"),
                *("--webhook-allow", "127.0.0.1", "--log-level", "ojs_engine::features::push=debug,info", "--log-jobs"),
            ],
            env={**clean, **credentials, "AWS_REGION": REGION},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log: list[str] = []
        address: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(address,), daemon=True)
        self._reader.start()
        self.url = address.get(timeout=PATIENCE)
        assert self.url, "".join(self.log)

    def _read(self, address: queue.SimpleQueue[str]) -> None:
        found = False
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.log.append(line)
            if not found and (match := re.search(r"http://127\.0\.0\.1:\d+", line)):
                found = True
                address.put(match[0])
        address.put("")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        # Shown with a failed test: what became of each job, and of each request to the queue.
        print("".join(self.log))
        assert self._process.stdout is not None
        self._process.stdout.close()

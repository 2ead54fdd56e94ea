"""AWS's Lambda Runtime Interface Emulator, as the wheel of aws-sam-cli carries it."""

from __future__ import annotations

import itertools
import json
import os
import platform
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: The longest that a test waits for something that takes milliseconds. Reached only by failures.
PATIENCE = 60.0
MACHINES = {"aarch64": "arm64", "arm64": "arm64"}


def binary(folder: Path) -> Path:
    """A copy of the emulator that can be executed: in the wheel it cannot."""
    machine = MACHINES.get(platform.machine(), "x86_64")
    (carried,) = ROOT.glob(f".venv/sam/lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{machine}")
    copy = folder / "aws-lambda-rie"
    shutil.copy(carried, copy)
    copy.chmod(0o755)
    return copy


#: The emulator takes an address and does not say which port it was given, so each one gets a loopback address of its
#: own: a port that was free a moment ago could be another test's by now.
NUMBERS = itertools.count(100)


def own_host() -> str:
    """A loopback address that no other process and no other emulator of this one uses."""
    high, low = divmod(os.getpid() % 64_516, 254)
    return f"127.{next(NUMBERS) % 250}.{high}.{low + 1}"


class Emulator:
    """A function under the emulator, which starts its process with the first invocation.

    ``timeout`` is the limit of the function, in seconds: the emulator ends the process that passes it.
    """

    def __init__(self, folder: Path, command: list[str], timeout: int = 30, **environment: str) -> None:
        host = own_host()
        address = f"{host}:9000"
        self._url = f"http://{address}/2015-03-31/functions/function/invocations"
        self._log = folder / "emulator.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "OJS_"))}
        about = {
            "AWS_LAMBDA_FUNCTION_NAME": "ojs-worker",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(timeout),
            "LAMBDA_TASK_ROOT": str(folder),
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(binary(folder), "--log-level", "error"),
                    *("--runtime-interface-emulator-address", address, "--runtime-api-address", f"{host}:9001"),
                    *command,
                ],
                cwd=folder,
                env={**kept, **about, **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._listening(address)

    def _listening(self, address: str) -> None:
        host, port = address.split(":")
        while self._process.poll() is None:
            try:
                socket.create_connection((host, int(port)), PATIENCE).close()
                return
            except ConnectionRefusedError:
                continue
        raise AssertionError(self.log)

    @property
    def log(self) -> str:
        """What the emulator and the function have printed."""
        return self._log.read_text(errors="replace")

    def invoke(self, event: Any) -> Any:
        """What the function answers; an error of the function is an object with ``errorMessage``."""
        request = urllib.request.Request(self._url, json.dumps(event).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                body = answer.read()
        except urllib.error.HTTPError as refused:
            body = refused.read()
        try:
            return json.loads(body)
        except ValueError:
            raise AssertionError(f"{body!r}; {self.log}") from None

    def close(self) -> None:
        """Ends the emulator, which ends the function."""
        self._process.terminate()
        self._process.wait(PATIENCE)

"""A server process per case."""
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from wire import TransportError, call


class Server:
    """A server process of our own, on a free port with an empty directory."""

    lock = threading.Lock()
    ports = set()  # handed out in this run; never twice, or one case could reach another's server
    running = set()

    @classmethod
    def new_port(cls):
        """A port below the ephemeral range, so that no outgoing connection can take it first."""
        with cls.lock:
            for _ in range(20000):
                port = random.randrange(12000, 32000)
                with socket.socket() as s:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    try:
                        s.bind(("127.0.0.1", port))
                    except OSError:
                        continue
                if port not in cls.ports:
                    cls.ports.add(port)
                    return port
        raise TransportError("no free port for a server")

    @classmethod
    def stop_all(cls):
        for server in list(cls.running):
            server.stop()

    def __init__(self, command, wait):
        port = self.new_port()
        self.dir = tempfile.mkdtemp(prefix="ojs-conformance-")
        self.url = f"http://127.0.0.1:{port}"
        data = os.path.join(self.dir, "data")
        os.mkdir(data)
        argv = [a.replace("{port}", str(port)).replace("{dir}", data) for a in shlex.split(command)]
        with open(os.path.join(self.dir, "log"), "wb") as log:
            try:
                self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log,
                                                stderr=subprocess.STDOUT, start_new_session=True)
            except OSError as e:
                shutil.rmtree(self.dir, ignore_errors=True)
                raise TransportError(f"cannot start the server: {e}") from None
        self.running.add(self)
        deadline = time.monotonic() + wait
        while not answers(self.url) or self.process.poll() is not None:
            if self.process.poll() is not None or time.monotonic() > deadline:
                tail = Path(self.dir, "log").read_bytes()[-300:].decode("utf-8", "replace")
                state = f"exited with {self.process.poll()}" if self.process.poll() is not None else "does not answer"
                self.stop()
                raise TransportError(f"the spawned server {state}: {' '.join(tail.split())}")
            time.sleep(0.02)

    def stop(self):
        for sig, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
            if self.process.poll() is not None:
                break
            try:
                os.killpg(self.process.pid, sig)
                self.process.wait(patience)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.running.discard(self)
        shutil.rmtree(self.dir, ignore_errors=True)


def answers(base):
    try:
        call(base, "GET", "/ojs/v1/health", timeout=5.0)
        return True
    except TransportError:
        return False

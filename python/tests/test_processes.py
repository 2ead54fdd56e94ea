"""Processes: forks, exits, signals, the command line. Every child is bounded by a timeout; none may hang or crash."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Iterator

import pytest
from support import eventually, in_state

import openjobspec as ojs

#: A child that needs longer hangs. Its own waits are of 60 s.
LIMIT = 120


def python(code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end."""
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, timeout=LIMIT, capture_output=True, text=True, cwd=cwd)


def passes(code: str, *arguments: str, cwd: Path | None = None) -> str:
    """Runs a program that has to end well; returns what it printed."""
    done = python(code, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- fork ---

FORK = """
import os, sys, traceback
import openjobspec as ojs

def child(body):
    "Forks; the child runs body and exits 0, or 1 with a traceback."
    pid = os.fork()
    if pid == 0:
        try:
            body()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


def test_importing_starts_nothing() -> None:
    passes(
        """
        import os, threading
        before = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
        import openjobspec as ojs
        client, worker, asynchronous = ojs.Client("http://127.0.0.1:1"), ojs.Worker("sqlite:/nowhere/x.db"), ojs.AsyncClient()
        assert threading.active_count() == 1
        assert (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))) == before
        """
    )


@pytest.mark.parametrize("used_before", [False, True])
def test_a_client_works_on_both_sides_of_a_fork(ojs_server: str, used_before: bool) -> None:
    passes(
        FORK
        + """
client = ojs.Client(sys.argv[1])
if sys.argv[2] == "True":
    client.enqueue("a")
for _ in range(3):
    child(lambda: client.enqueue("a").state == "available" or os._exit(2))
    assert client.enqueue("a").state == "available"
""",
        ojs_server,
        str(used_before),
    )


def test_an_asyncio_client_works_in_a_fork(ojs_server: str) -> None:
    passes(
        FORK
        + """
import asyncio
client = ojs.AsyncClient(sys.argv[1])
asyncio.run(client.enqueue("a"))
child(lambda: asyncio.run(client.enqueue("a")))
asyncio.run(client.enqueue("a"))
""",
        ojs_server,
    )


@pytest.mark.parametrize("engine", ["memory:x", "sqlite:{}/jobs.db"])
def test_an_open_engine_does_not_follow_a_fork(tmp_path: Path, engine: str) -> None:
    passes(
        FORK
        + """
client, untouched = ojs.Client(sys.argv[1]), ojs.Client(f"sqlite:{sys.argv[2]}/other.db")
job = client.enqueue("a")
def body():
    try:
        client.get_job(job.id)
    except ojs.ForkedError as error:
        assert "after the fork" in str(error), error
    else:
        raise AssertionError("no error")
    assert untouched.enqueue("a").state == "available"
child(body)
assert client.get_job(job.id).state == "available"
""",
        engine.format(tmp_path),
        str(tmp_path),
    )


def test_a_running_worker_is_inert_in_the_child(ojs_server: str) -> None:
    passes(
        FORK
        + """
import threading
client, worker = ojs.Client(sys.argv[1]), ojs.Worker(sys.argv[1], queues=["parent"])
ran = threading.Event()
worker.register("a", lambda ctx: ran.set())
async def coroutine(ctx): return 1
worker.register("b", coroutine)
worker.start()
def body():
    for use in (worker.quiet, worker.shutdown, worker.wait, worker.start):
        try:
            use()
        except ojs.ForkedError:
            pass
        else:
            raise AssertionError(use)
    worker.stop()
    own, done = ojs.Worker(sys.argv[1], queues=["child"]), threading.Event()
    own.register("a", lambda ctx: done.set())
    client.enqueue("a", queue="child")
    with own:
        assert done.wait(60)
child(body)
client.enqueue("a", queue="parent")
assert ran.wait(60)
worker.stop()
""",
        ojs_server,
    )


def test_a_child_that_exits_normally_does_not_stop_the_parents_worker(ojs_server: str) -> None:
    passes(
        FORK
        + """
import threading
client, worker = ojs.Client(sys.argv[1]), ojs.Worker(sys.argv[1])
ran = threading.Event()
worker.register("a", lambda ctx: ran.set())
worker.start()
pid = os.fork()
if pid == 0:
    sys.exit(0)  # atexit handlers and all
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
client.enqueue("a")
assert ran.wait(60)
worker.stop()
""",
        ojs_server,
    )


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(ojs_server: str, tmp_path: Path, method: str) -> None:
    (tmp_path / "tasks.py").write_text(
        "import sys, openjobspec as ojs\nclient = ojs.Client(sys.argv[1])\ndef produce(n):\n    return client.enqueue('a', [n]).args[0]\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys, multiprocessing, tasks\n"
        "if __name__ == '__main__':\n"
        "    tasks.produce(0)\n"
        "    with multiprocessing.get_context(sys.argv[2]).Pool(3) as pool:\n"
        "        assert pool.map(tasks.produce, range(30)) == list(range(30))\n"
        "        pool.close(); pool.join()\n"
    )
    command = [sys.executable, "main.py", ojs_server, method]
    done = subprocess.run(command, cwd=tmp_path, timeout=LIMIT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- exit ---

EXIT = """
import asyncio, os, sys, threading
import openjobspec as ojs
client = ojs.Client(sys.argv[1])
worker = ojs.Worker(client)
started, never = threading.Event(), threading.Event()

@worker.register("plain")
def plain(ctx):
    started.set()
    never.wait()

@worker.register("coroutine")
async def coroutine(ctx):
    started.set()
    await asyncio.sleep(3600)

@worker.register("busy")
def busy(ctx):
    started.set()
    while True:
        pass

@worker.register("exit")
def leave(ctx):
    started.set()
    sys.exit(7)

worker.register("quick", lambda ctx: started.set())
"""

ENDINGS = {
    "client only": ("client.enqueue('plain')", 0),
    "idle worker": ("worker.start()", 0),
    "worker never started": ("pass", 0),
    "mid handler": ("client.enqueue('plain'); worker.start(); started.wait()", 0),
    "mid coroutine": ("client.enqueue('coroutine'); worker.start(); started.wait()", 0),
    "mid loop that never yields": ("client.enqueue('busy'); worker.start(); started.wait()", 0),
    "mid many": ("client.enqueue_batch(['plain', 'coroutine'] * 20); worker.start(); started.wait()", 0),
    "mid completion": ("client.enqueue_batch(['quick'] * 5000); worker.start(); started.wait()", 0),
    "sys.exit in a handler": ("client.enqueue('exit'); worker.start(); started.wait()", 0),
    "sys.exit": ("client.enqueue('plain'); worker.start(); started.wait(); sys.exit(3)", 3),
    "exception": ("client.enqueue('plain'); worker.start(); started.wait(); 1 / 0", 1),
    "os._exit": ("client.enqueue('plain'); worker.start(); started.wait(); os._exit(4)", 4),
    "in a thread": ("client.enqueue('plain'); t = threading.Thread(target=worker.start); t.start(); started.wait(); t.join()", 0),
    "run in a daemon thread": ("client.enqueue('plain'); threading.Thread(target=worker.run, daemon=True).start(); started.wait()", 0),
    "stopped": ("client.enqueue('quick'); worker.start(); started.wait(); worker.stop()", 0),
    "closed under the worker": ("client.enqueue('plain'); worker.start(); started.wait(); client.close()", 0),
    "asyncio": ("client.enqueue('quick')\nasync def main():\n  t = asyncio.ensure_future(worker.run_async())\n  await asyncio.to_thread(started.wait)\nasyncio.run(main())", 0),
    "call in flight": ("threading.Thread(target=lambda: [client.enqueue('x') for _ in iter(int, 1)], daemon=True).start(); started.wait(0.05)", 0),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["memory:", "sqlite", "http"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_exit(ending: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = {"memory:": "memory:", "sqlite": f"sqlite:{tmp_path}/jobs.db"}.get(engine) or request.getfixturevalue("ojs_server")
    code, expected = ENDINGS[ending]
    done = python(EXIT + code, url)
    assert done.returncode == expected, f"{done.returncode}\n{done.stdout}{done.stderr}"
    assert "Fatal Python error" not in done.stderr


def test_jobs_of_an_exiting_process_go_back_at_once(ojs_server: str) -> None:
    with ojs.Client(ojs_server) as client:
        job = client.enqueue("plain")
        # At exit a worker has two seconds to give its jobs back: more than enough, but for a machine that does something else. The lease
        # would last for an hour.
        code = EXIT.replace("ojs.Worker(client)", "ojs.Worker(client, visibility_timeout_ms=3_600_000)")
        passes(code + "import openjobspec.worker as module; module._EXIT_SECONDS = 60.0; worker.start(); started.wait()", ojs_server)
        assert in_state(client, job.id, "available").errors == []


# --- signals ---

RUN = EXIT + "client.enqueue_batch(['{job}'])\nthreading.Thread(target=lambda: (started.wait(), print('started', flush=True))).start()\n{run}\n"
RUNS = {"run": "worker.run()", "run_async": "asyncio.run(worker.run_async())"}


@pytest.fixture
def background() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are killed after the test, if they still run."""
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        process.kill()
        process.communicate()


def spawn(background: list[subprocess.Popen[str]], *command: str, **options: Any) -> subprocess.Popen[str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    background.append(process)
    return process


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_stops_an_idle_worker(background: list[subprocess.Popen[str]], run: str, number: signal.Signals) -> None:
    process = spawn(background, sys.executable, "-c", RUN.format(job="quick", run=RUNS[run]), "memory:")
    assert first_line(process) == "started"
    process.send_signal(number)
    assert process.wait(LIMIT) == 0, process.communicate()


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("job", ["plain", "coroutine"])
def test_the_second_signal_does_not_wait_for_handlers(background: list[subprocess.Popen[str]], run: str, job: str) -> None:
    process = spawn(background, sys.executable, "-c", RUN.format(job=job, run=RUNS[run]), "memory:")
    assert first_line(process) == "started"
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)  # the grace period is 25 s: the handler may finish
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0, process.communicate()


def test_ctrl_c_interrupts_a_waiting_call(background: list[subprocess.Popen[str]]) -> None:
    # A shell that runs the tests in the background passes an ignored SIGINT on: a terminal does not.
    code = """
import signal, socket, openjobspec as ojs
signal.signal(signal.SIGINT, signal.default_int_handler)
silent = socket.create_server(("127.0.0.1", 0))
client = ojs.Client(f"http://127.0.0.1:{silent.getsockname()[1]}")
try:
    print("calling", flush=True)
    client.health()
except KeyboardInterrupt:
    print("interrupted")
"""
    process = spawn(background, sys.executable, "-c", code)
    assert first_line(process) == "calling"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=LIMIT)[0].strip() == "interrupted"


# --- command line ---


def server_command() -> list[str]:
    """The `ojs` binary when the environment names one, else the same server out of Python."""
    binary = os.environ.get("OJS_BIN")
    return [binary] if binary else [sys.executable, "-m", "openjobspec"]


@pytest.mark.parametrize("command", [[sys.executable, "-m", "openjobspec"], server_command()], ids=["python", "binary"])
def test_a_server_asks_for_keys(background: list[subprocess.Popen[str]], tmp_path: Path, command: list[str]) -> None:
    key = {"name": "shop", "roles": ["producer"], "sha256": hashlib.sha256(b"secret").hexdigest(), "created_at": "2026-01-01T00:00:00Z"}
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [key]}))
    start = [*command, "server", "--store", "memory:", "--listen"]
    exposed = subprocess.run([*start, "0.0.0.0:0"], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert exposed.returncode == 2 and "--keys" in exposed.stderr and "--insecure" in exposed.stderr
    url = first_line(spawn(background, *start, "127.0.0.1:0", "--keys", str(keys))).removeprefix("listening on ")
    with ojs.Client(url) as stranger, pytest.raises(ojs.OJSAPIError) as refused:
        stranger.enqueue("a")
    assert refused.value.code == "unauthenticated"
    with ojs.Client(url, auth_token="secret") as client:
        assert client.enqueue("a").state == "available"


@pytest.mark.parametrize("command", [[sys.executable, "-m", "openjobspec"], server_command()], ids=["python", "binary"])
def test_server_and_worker_processes(background: list[subprocess.Popen[str]], tmp_path: Path, command: list[str]) -> None:
    server = spawn(background, *command, "server", "--store", f"sqlite:{tmp_path}/jobs.db", "--listen", "127.0.0.1:0")
    line = first_line(server)
    assert line.startswith("listening on http://127.0.0.1:"), line
    url = line.removeprefix("listening on ")
    (tmp_path / "app.py").write_text(
        textwrap.dedent(
            """
            import openjobspec as ojs
            worker = ojs.Worker("memory:")

            @worker.register("plain")
            def plain(ctx):
                return ctx.args[0] + 1

            @worker.register("coroutine")
            async def coroutine(ctx):
                return ctx.args[0] + 2
            """
        )
    )
    arguments = f"-m openjobspec worker app:worker --url {url} --queues mail,default --concurrency 3 --log-format json"
    worker = spawn(background, sys.executable, *shlex.split(arguments), cwd=tmp_path)
    with ojs.Client(url) as client:
        plain, coroutine = client.enqueue("plain", [1], queue="mail"), client.enqueue("coroutine", [1])
        assert in_state(client, plain.id, "completed").result == 2
        assert in_state(client, coroutine.id, "completed").result == 3
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(LIMIT) == 0, worker.communicate()
    assert worker.stderr is not None
    records = [json.loads(line) for line in worker.stderr]
    assert any(record["target"] == "openjobspec.core" and "Stopped" in record["message"] for record in records)
    server.send_signal(signal.SIGTERM)
    assert server.wait(LIMIT) == 0, server.communicate()


@pytest.mark.parametrize("arguments, message", [
    ("worker nowhere:worker", "nowhere"),
    ("worker json:dumps", "not an openjobspec.Worker"),
    ("server --store oracle:x", "oracle:x"),
    ("server --listen nowhere", "nowhere"),
    ("server --log-level loud", "ojs: --log-level must be one of error, warn, info, debug, trace, got 'loud'"),
    ("server --liste x", "ojs: unknown option '--liste'; did you mean '--listen'?"),
    ("worker app --concurrency 0", "ojs: --concurrency must be a whole number of at least 1, got '0'"),
    ("worker", "ojs: worker takes one MODULE:ATTRIBUTE"),
    ("", "ojs: a command is needed: server or worker"),
])  # fmt: skip
def test_mistakes_on_the_command_line(arguments: str, message: str) -> None:
    done = subprocess.run([sys.executable, "-m", "openjobspec", *shlex.split(arguments)], timeout=LIMIT, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_variables_of_the_environment_are_options_of_the_command_line(background: list[subprocess.Popen[str]]) -> None:
    command = [sys.executable, "-m", "openjobspec"]
    maybe = {**os.environ, "OJS_INSECURE": "maybe"}
    wrong = subprocess.run([*command, "server"], env=maybe, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr) == (2, "ojs: OJS_INSECURE must be true or false, got 'maybe'\n")
    told = {"OJS_STORE": "memory:", "OJS_LISTEN": "127.0.0.1:0", "OJS_KEYS": "", "OJS_LOG_LEVEL": "ojs=debug,error"}
    server = spawn(background, *command, "server", env={**os.environ, **told})
    assert first_line(server).startswith("listening on http://127.0.0.1:")
    help_text = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    assert "python -m openjobspec worker MODULE:ATTRIBUTE" in help_text and "(OJS_LISTEN, 127.0.0.1:8080)" in help_text


def test_killed_workers_jobs_come_back(background: list[subprocess.Popen[str]], ojs_server: str) -> None:
    process = spawn(
        background,
        sys.executable,
        "-c",
        RUN.format(job="plain", run="worker.run()").replace("ojs.Worker(client)", "ojs.Worker(client, visibility_timeout_ms=1000, heartbeat_interval=0.2)"),
        ojs_server,
    )
    assert first_line(process) == "started"
    process.kill()
    process.wait(LIMIT)
    with ojs.Client(ojs_server) as client:
        worker = ojs.Worker(client)
        worker.register("plain", lambda ctx: ctx.attempt)
        with worker:
            eventually(lambda: client.queue_stats("default")["completed"] == 1)

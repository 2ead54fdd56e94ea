"""The table is made by many processes at the same time."""

from __future__ import annotations

import os
import subprocess
import sys

from sqlalchemy import create_engine, text

#: Says that it is there, waits for the word, and migrates.
MIGRATE = """
import sys
from ojs_adapter_sqlalchemy import OjsOutbox
ojs = OjsOutbox("memory:", sys.argv[1], relay=False)
print("ready", flush=True)
sys.stdin.readline()
ojs.migrate()
"""


def test_processes_that_migrate_at_the_same_time_all_succeed(database):
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", MIGRATE, database]
    # The package is not installed: the processes find it where this one does.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) for _ in range(5)
    ]
    for process in processes:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    engine = create_engine(database)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM ojs_outbox")).scalar() == 0
    engine.dispose()

"""Transactions without and with a job, in turns: what the programs in Python share (scripts/bench_adapters.py runs them)."""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Iterator

#: No server listens there: staging a job in an outbox sends no request.
SERVER = "http://127.0.0.1:9"


class Turns:
    """The command line ``DATABASE_URL WARM WITHOUT WITH``, and the milliseconds of each transaction.

    Iterating gives, transaction by transaction, whether it is to enqueue a job; the time counts from there until the next is asked for.
    """

    def __init__(self, adapter: str) -> None:
        self.adapter = adapter
        self.url = sys.argv[1]
        self._warm, self._without, self._with = map(int, sys.argv[2:5])
        self._spent: dict[bool, list[float]] = {False: [], True: []}

    def __iter__(self) -> Iterator[bool]:
        for _ in range(self._warm):
            yield False
            yield True
        for number in range(max(self._without, self._with)):
            for staged, wanted in ((False, self._without), (True, self._with)):
                if number < wanted:
                    started = time.perf_counter()
                    yield staged
                    self._spent[staged].append((time.perf_counter() - started) * 1e3)

    def report(self, rows: int) -> None:
        """Prints the line of JSON; ``rows`` is how many the outbox holds: no figure without its job."""
        if rows != self._warm + self._with:
            raise SystemExit(f"{self.adapter}: {rows} rows in the outbox, {self._warm + self._with} jobs enqueued")
        found = {name: statistics.median(self._spent[staged] or [0.0]) for name, staged in (("without_ms", False), ("with_ms", True))}
        print(json.dumps({"adapter": self.adapter, **found, "transactions": self._with}))

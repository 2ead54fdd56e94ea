"""What every rival's handler does: one byte per job in memory that all its processes share.

As cheap as a counter in the process, and it tells exactly which jobs ran how often.
"""

import mmap
import os
import time


class Tally:
    """Counts runs per job in a file that is mapped into every process."""

    def __init__(self, path: str, jobs: int) -> None:
        if not os.path.exists(path) or os.path.getsize(path) != jobs:
            with open(path, "wb") as file:
                file.truncate(jobs)
        with open(path, "r+b") as file:
            self.cells = mmap.mmap(file.fileno(), jobs)
        self.jobs = jobs

    def ran(self, number: int) -> None:
        self.cells[number] += 1

    def done(self) -> int:
        return self.jobs - self.cells[:].count(0)

    def measure(self, patience: float = 60.0) -> float:
        """Jobs per second from the first job to the last; fails unless each ran exactly once."""
        began = time.perf_counter()
        while (first := self.done()) == 0:
            self._wait(began, patience)
        start = time.perf_counter()
        while self.done() < self.jobs:
            self._wait(start, patience)
        seconds = time.perf_counter() - start
        time.sleep(0.2)  # a second delivery would come now
        again = self.jobs - self.cells[:].count(1)
        if again:
            raise SystemExit(f"delivery check failed: {again} jobs did not run exactly once")
        return (self.jobs - first) / seconds

    def _wait(self, since: float, patience: float) -> None:
        if time.perf_counter() - since > patience:
            raise SystemExit(f"only {self.done()} of {self.jobs} jobs ran within {patience:.0f} s")
        time.sleep(0.005)

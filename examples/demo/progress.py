"""A progress bar on a terminal, a line per quarter elsewhere."""

from __future__ import annotations

import sys
import threading


class Progress:
    """Counts what is done, from any thread, and lets one thread wait for all of it."""

    WIDTH = 40

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self.done = 0
        self._changed = threading.Condition()
        self._shown = -1

    def advance(self) -> None:
        """One more is done."""
        with self._changed:
            self.done += 1
            self._show()
            self._changed.notify_all()

    def wait(self, timeout: float = 60.0) -> None:
        """Returns when all are done.

        Raises:
            TimeoutError: not within ``timeout`` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.done >= self.total, timeout):
                raise TimeoutError(f"{self.label}: {self.done} of {self.total} after {timeout:g} s")

    def _show(self) -> None:
        terminal = sys.stdout.isatty()
        step = self.done * (100 if terminal else 4) // max(self.total, 1)
        if step == self._shown:
            return
        self._shown = step
        if not terminal:
            print(f"{self.label}: {self.done} of {self.total}", flush=True)
            return
        filled = self.WIDTH * self.done // max(self.total, 1)
        end = "\n" if self.done >= self.total else ""
        print(f"\r{self.label} [{'█' * filled}{'·' * (self.WIDTH - filled)}] {self.done}/{self.total}", end=end, flush=True)

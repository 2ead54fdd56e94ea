"""Where tests put themselves between clients and servers. See :mod:`openjobspec.testing`."""

from __future__ import annotations

from typing import Any, Callable

#: Takes (method, path, body) in place of every client's connection, the newest first.
sinks: list[Callable[[str, str, Any], Any]] = []

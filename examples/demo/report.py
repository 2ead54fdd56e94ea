"""The closing table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def milliseconds(seconds: Sequence[float]) -> str:
    """Median and 99th percentile."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"p50 {cuts[49] * 1000:.2f} ms, p99 {cuts[98] * 1000:.2f} ms"


def show(title: str, rows: Sequence[tuple[str, object]]) -> None:
    """Names on the left, values on the right."""
    width = max(len(name) for name, _ in rows)
    print(f"\n{title}")
    for name, value in rows:
        print(f"  {name:<{width}}  {value if not isinstance(value, int) else format(value, ',')}")

"""Versions of the arguments of a job type: what a worker says about them, and the functions that change old arguments.

Which jobs the worker takes and which changes are made is decided by the core; here the functions are called.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable

from . import _native
from ._json import dumps, loads
from ._plan import Plan
from .context import JobContext
from .errors import NonRetryableError, OJSValidationError

#: Changes the arguments of one version into those of another.
Change = Callable[[list[Any]], list[Any]]


class Versions:
    """What a worker says about the versions of one job type."""

    def __init__(self) -> None:
        #: The version that the handler is written for.
        self.version: str | None = None
        #: Ranges, in place of those that follow from the version.
        self.ranges: list[str] | None = None
        self._changes: list[tuple[str, str, Change]] = []

    def take(self, version: Any, ranges: Iterable[str] | str | None) -> None:
        """What a registration says."""
        if version is not None:
            self.version = str(version)
        if ranges is not None:
            self.ranges = [ranges] if isinstance(ranges, str) else [str(one) for one in ranges]

    def add(self, job_type: str, since: str, to: str, function: Any) -> None:
        """A further change. The core refuses it when the worker starts, should it contradict the others."""
        if not callable(function):
            wrong = type(function).__name__
            raise OJSValidationError(f"the transform of '{job_type}' must be callable, and {wrong} is not")
        self._changes.append((str(since), str(to), function))

    def said(self) -> dict[str, Any]:
        """As the core reads it; empty when nothing is said."""
        pairs = [[since, to] for since, to, _ in self._changes]
        said = {"version": self.version, "versions": self.ranges, "transforms": pairs}
        return {name: value for name, value in said.items() if value}

    def around(self, plan: Plan) -> Plan:
        """The plan of the type, with the arguments changed before it runs."""
        if not self._changes:
            return plan
        said = dumps(self.said()).decode()
        inner = plan.call
        if not plan.on_loop:
            return Plan(lambda ctx: inner(self._changed(ctx, said)), plan.on_loop, plan.needs_loop)

        async def call(ctx: JobContext) -> Any:
            return await inner(self._changed(ctx, said))

        return Plan(call, plan.on_loop, plan.needs_loop)

    def _changed(self, ctx: JobContext, said: str) -> JobContext:
        for number in loads(_native.version_changes(ctx.type, said, ctx._envelope).encode()):
            _, to, function = self._changes[number]
            try:
                args = function(ctx.args)
            except Exception as error:
                message = f"The arguments cannot become those of version {to}: {error}"
                raise NonRetryableError(message, code="version_transform") from error
            if not isinstance(args, (list, tuple)):
                message = f"The transform to version {to} must return a list of arguments, not {type(args).__name__}."
                raise NonRetryableError(message, code="version_transform")
            ctx.job.to_dict().update(args=list(args), version=to)
        return ctx

"""Workflows: pure functions that describe what belongs together. ``client.workflow(…)`` sends the description.

>>> chain(("data.fetch", ["https://…"]), {"type": "data.load", "args": []}).to_dict()["type"]
'chain'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Union

from .errors import OJSValidationError
from .job import JobRequest


@dataclass(frozen=True, slots=True)
class Workflow:
    """A description, ready to be sent. May be a step of another one."""

    kind: str
    steps: tuple[Step, ...]
    name: str | None = None
    callbacks: dict[str, JobRequest] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The description as the wire has it."""
        wire: dict[str, Any] = {"type": self.kind}
        if self.name is not None:
            wire["name"] = self.name
        wire["steps" if self.kind == "chain" else "jobs"] = [step.to_dict() for step in self.steps]
        if self.callbacks:
            wire["callbacks"] = {name: job.to_dict() for name, job in self.callbacks.items()}
        if self.options:
            wire["options"] = self.options
        return wire


Step = Union[JobRequest, Workflow]
#: What may stand for a step: a request, ``{"type": …, "args": …}``, ``(type, args)``, a type, or a workflow.
StepLike = Union[JobRequest, Workflow, Mapping[str, Any], "tuple[Any, ...]", str]


def chain(*steps: StepLike | Iterable[StepLike], name: str | None = None, **options: Any) -> Workflow:
    """One after the other; every step sees the results of those before it as ``ctx.parent_results``.

    The steps may be given one by one or as a list, with or without a name in front: ``chain("etl", [step, step])``.
    """
    name, found = _arguments(steps, name)
    return Workflow("chain", found, name, options=options)


def group(*jobs: StepLike | Iterable[StepLike], name: str | None = None, **options: Any) -> Workflow:
    """All at the same time, in no order. Arguments as for :func:`chain`."""
    name, found = _arguments(jobs, name)
    return Workflow("group", found, name, options=options)


def batch(
    *jobs: StepLike | Iterable[StepLike],
    callbacks: Mapping[str, StepLike] | None = None,
    on_complete: StepLike | None = None,
    on_success: StepLike | None = None,
    on_failure: StepLike | None = None,
    name: str | None = None,
    **options: Any,
) -> Workflow:
    """All at the same time, then callbacks: ``on_complete`` in any case, ``on_success`` when all succeeded, ``on_failure``
    when any failed. ``batch(jobs, {"on_complete": job})`` and ``batch("name", jobs, on_complete=job)`` both work.
    """
    given = list(jobs)
    if callbacks is None and len(given) > 1 and isinstance(given[-1], Mapping) and "type" not in given[-1]:
        callbacks = given.pop()  # type: ignore[assignment]
    wanted = dict(callbacks or {})
    for key, job in (("on_complete", on_complete), ("on_success", on_success), ("on_failure", on_failure)):
        if job is not None:
            wanted[key] = job
    unknown = set(wanted) - {"on_complete", "on_success", "on_failure"}
    if unknown:
        raise OJSValidationError(f"unknown callback {', '.join(sorted(unknown))}: there are on_complete, on_success, on_failure")
    name, found = _arguments(tuple(given), name)
    return Workflow("batch", found, name, {key: JobRequest.of(job) for key, job in wanted.items()}, options)  # type: ignore[arg-type]


def _arguments(given: tuple[Any, ...], name: str | None) -> tuple[str | None, tuple[Step, ...]]:
    """Takes a name in front and the brackets of a list off."""
    if name is None and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], list):
        name, given = given[0], (given[1],)
    if len(given) == 1 and not isinstance(given[0], (str, tuple, Mapping, JobRequest, Workflow)):
        given = tuple(given[0])
    if not given:
        raise OJSValidationError("a workflow needs at least one job", code="invalid_payload")
    return name, tuple(step if isinstance(step, Workflow) else JobRequest.of(step) for step in given)


def definition(wanted: Any) -> dict[str, Any]:
    """The wire form of a description, or of an object that has one."""
    if hasattr(wanted, "to_dict"):
        result: dict[str, Any] = wanted.to_dict()
        return result
    return dict(wanted)

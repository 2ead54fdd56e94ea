"""Workflows: pure functions that describe what belongs together. ``client.workflow(…)`` sends the description.

>>> chain(("data.fetch", ["https://…"]), {"type": "data.load", "args": []}).to_dict()["type"]
'chain'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Union

from .errors import OJSValidationError
from .job import JobRequest


@dataclass(frozen=True, slots=True)
class Workflow:
    """A description, ready to be sent. May be a step of another one."""

    kind: str
    steps: tuple[Step | Node, ...]
    name: str | None = None
    callbacks: dict[str, JobRequest] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The description as the wire has it."""
        wire: dict[str, Any] = {"type": self.kind}
        if self.name is not None:
            wire["name"] = self.name
        wire["steps" if self.kind in ("chain", "graph") else "jobs"] = [step.to_dict() for step in self.steps]
        if self.callbacks:
            wire["callbacks"] = {name: job.to_dict() for name, job in self.callbacks.items()}
        if self.options:
            wire["options"] = self.options
        return wire


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a graph, made by :func:`node`."""

    id: str
    step: Step
    after: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The step as the wire has it."""
        wire = self.step.to_dict() | {"id": self.id}
        if self.after:
            wire["depends_on"] = list(self.after)
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


def node(id: str, step: StepLike, *, after: str | Iterable[str] = ()) -> Node:
    """A step of a graph. ``id`` is its name there, ``after`` names the nodes that must have completed before it."""
    return Node(id, _step(step), (after,) if isinstance(after, str) else tuple(after))


def graph(*nodes: Node | Iterable[Node], name: str | None = None, **options: Any) -> Workflow:
    """Each node runs as soon as those before it have completed, and sees their results as ``ctx.parent_results``.

    >>> report = graph(node("orders", "data.fetch"), node("report", "report.build", after=["orders"]))
    >>> report.to_dict()["steps"][1]["depends_on"]
    ['orders']
    """
    found: list[Node] = []
    for given in nodes[0] if len(nodes) == 1 and isinstance(nodes[0], (list, tuple)) else nodes:
        if not isinstance(given, Node):
            wrong = f"a graph is made of nodes: node(id, step, after=[…]), not {type(given).__name__}"
            raise OJSValidationError(wrong, code="invalid_payload")
        found.append(given)
    if not found:
        raise OJSValidationError("a workflow needs at least one job", code="invalid_payload")
    return Workflow("graph", tuple(found), name, options=options)


def _step(given: Any) -> Step:
    if isinstance(given, Node):
        raise OJSValidationError("a node is a step of a graph: pass it to graph(…)", code="invalid_payload")
    return given if isinstance(given, Workflow) else JobRequest.of(given)


def _arguments(given: tuple[Any, ...], name: str | None) -> tuple[str | None, tuple[Step, ...]]:
    """Takes a name in front and the brackets of a list off."""
    if name is None and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], list):
        name, given = given[0], (given[1],)
    if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], (str, tuple, Mapping)):
        given = tuple(given[0])
    if not given:
        raise OJSValidationError("a workflow needs at least one job", code="invalid_payload")
    return name, tuple(map(_step, given))


def definition(wanted: Any) -> dict[str, Any]:
    """The wire form of a description, or of an object that has one."""
    if hasattr(wanted, "to_dict"):
        result: dict[str, Any] = wanted.to_dict()
        return result
    return dict(wanted)

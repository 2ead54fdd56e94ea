"""What a handler takes: the context of its job, and perhaps the job's arguments as parameters of its own."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

from .errors import OJSValidationError
from .middleware import is_async

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: Annotations that say that a first parameter is an argument of the job, and not the context.
_ARGUMENT_TYPES = (str, int, float, bool, bytes, list, dict, tuple, set)


class Signature:
    """How a handler is called, and what its job's arguments are called there.

    A handler takes the context alone, ``def send(ctx)``, or the job's arguments too, ``def send(ctx, to, subject="Hello")``. Parameters
    that have a default and no annotation get none: ``lambda ctx, n=n: …`` holds a value of its own. Raises OJSValidationError for a
    function that can be called neither way.
    """

    def __init__(self, job_type: str, function: Callable[..., Any]) -> None:
        self.job_type = job_type
        self._function = function
        self._name = getattr(function, "__name__", type(function).__name__)
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):  # some functions of C say nothing about themselves
            self._signature = None
        parameters = list(self._signature.parameters.values()) if self._signature else []
        self._own = [one for one in parameters if one.kind in _POSITIONAL]
        self._many = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters)
        if self._signature is not None:
            self._check(parameters)
        extra = self._own[1:]
        #: Whether the job's arguments are passed behind the context.
        self.spreads = bool(self._own) and (
            self._many or any(one.default is one.empty or one.annotation is not one.empty for one in extra)
        )
        self._least = sum(one.default is one.empty for one in extra)
        self._most = None if self._many else len(extra)

    def __str__(self) -> str:
        if self._signature is None:
            return f"{self._name}(…)"
        plain = [one.replace(annotation=one.empty) for one in self._signature.parameters.values()]
        return self._name + str(self._signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))

    def caller(self) -> Callable[[Any], Any]:
        """The handler as the worker calls it: with the context alone."""
        function = self._function
        if not self.spreads:
            return function
        if is_async(function):

            @functools.wraps(function)
            async def call_async(ctx: Any) -> Any:
                return await function(ctx, *self._counted(ctx.args))

            return call_async

        @functools.wraps(function)
        def call(ctx: Any) -> Any:
            return function(ctx, *self._counted(ctx.args))

        return call

    def arguments(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The job's arguments for a call: names become places. Raises OJSValidationError where the handler could not take them."""
        if not self.spreads or self._signature is None:
            if named or (args and len(self._own) > 1):
                raise OJSValidationError(
                    f"{self} does not take the job's arguments as parameters: give its parameters annotations, such as (ctx, year: int = 2026), "
                    "or read ctx.args and enqueue values by position"
                )
            return list(args)
        try:
            bound = self._signature.bind(None, *args, **named)
        except TypeError as error:
            raise OJSValidationError(f"{self} of '{self.job_type}': {error}") from None
        # A default in front of a value that was given has to travel with it.
        last = max((place for place, one in enumerate(self._own) if one.name in bound.arguments), default=0)
        for one in self._own[:last]:
            bound.arguments.setdefault(one.name, one.default)
        if bound.kwargs:
            raise OJSValidationError(f"'{next(iter(bound.kwargs))}' of {self} cannot be an argument of a job: arguments travel by position")
        return list(bound.args[1:])

    def _counted(self, args: list[Any]) -> list[Any]:
        if len(args) < self._least or (self._most is not None and len(args) > self._most):
            wanted = f"{self._least}" if self._most == self._least else f"{self._least} to {self._most or 'any number'}"
            raise OJSValidationError(f"the job has {len(args)} arguments, and {self} takes {wanted}", code="wrong_arguments")
        return args

    def _check(self, parameters: list[inspect.Parameter]) -> None:
        if not self._own and not self._many:
            self._refuse("it takes no argument by position")
        for one in parameters:
            if one.kind is inspect.Parameter.KEYWORD_ONLY and one.default is one.empty:
                self._refuse(f"'{one.name}' can only be given by name, and a job's arguments travel by position")
        if self._own and _is_argument(self._own[0].annotation):
            self._refuse(f"its first parameter '{self._own[0].name}' is annotated as an argument, and it gets the job's context")

    def _refuse(self, why: str) -> None:
        raise OJSValidationError(
            f"the handler {self} of '{self.job_type}' cannot be called: {why}. "
            f"Write def {self._name}(ctx) and read ctx.args, or def {self._name}(ctx, …) with the job's arguments as parameters"
        )


def _is_argument(annotation: Any) -> bool:
    if isinstance(annotation, str):  # from __future__ import annotations
        return annotation.partition("[")[0].strip() in {kind.__name__ for kind in _ARGUMENT_TYPES}
    return (getattr(annotation, "__origin__", None) or annotation) in _ARGUMENT_TYPES

"""Middleware: named layers around an enqueue or a handler, like the rings of an onion.

The first layer added is the outermost. Each layer calls ``next`` once to go on inwards, or does not, and then the
layers inside never run. Layers may be plain functions or coroutine functions, in any mixture.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Awaitable, Callable, Iterator, Sequence, TypeVar, overload

from . import _portal
from ._portal import Threads
from .errors import MiddlewareError

F = TypeVar("F", bound=Callable[..., Any])
_Coroutine = Callable[[Any], Awaitable[Any]]


# gen:python/enqueue_order.j2 (make gen; do not edit)
#: The layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
#: with other names may stand anywhere.
ENQUEUE_ORDER = ("trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt")
# gen:end


class Chain:
    """Layers in order, each with a name. As a decorator it adds a layer under the name of the function.

    >>> chain = Chain()
    >>> @chain
    ... def logging(ctx, next):
    ...     return next()
    >>> chain.insert_before("logging", "metrics", lambda ctx, next: next())
    >>> chain.names()
    ['metrics', 'logging']
    """

    def __init__(self, order: tuple[str, ...] = ()) -> None:
        self._layers: list[tuple[str, Callable[..., Any]]] = []
        self._order = order
        self._frozen = False

    @overload
    def __call__(self, layer: F, /) -> F: ...
    @overload
    def __call__(self, layer: str, /) -> Callable[[F], F]: ...
    def __call__(self, layer: Any, /) -> Any:
        if isinstance(layer, str):
            name = layer

            def named(function: F) -> F:
                self.add(name, function)
                return function

            return named
        self.add(self._free_name(layer), layer)
        return layer

    def add(self, name: str, layer: Callable[..., Any]) -> None:
        """Adds the innermost layer."""
        self._insert(len(self._layers), name, layer)

    def prepend(self, name: str, layer: Callable[..., Any]) -> None:
        """Adds the outermost layer."""
        self._insert(0, name, layer)

    def insert_before(self, existing: str, name: str, layer: Callable[..., Any]) -> None:
        """Adds a layer just outside another."""
        self._insert(self._index(existing), name, layer)

    def insert_after(self, existing: str, name: str, layer: Callable[..., Any]) -> None:
        """Adds a layer just inside another."""
        self._insert(self._index(existing) + 1, name, layer)

    def remove(self, name: str) -> None:
        """Takes a layer out."""
        self._check_open()
        del self._layers[self._index(name)]

    def names(self) -> list[str]:
        """The names, outermost first."""
        return [name for name, _ in self._layers]

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return (layer for _, layer in self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __contains__(self, name: object) -> bool:
        return any(name == known for known, _ in self._layers)

    def freeze(self) -> list[Callable[..., Any]]:
        """The layers, outermost first. The chain may not change from now on."""
        self._frozen = True
        return [layer for _, layer in self._layers]

    def _insert(self, index: int, name: str, layer: Callable[..., Any]) -> None:
        self._check_open()
        if not callable(layer):
            raise MiddlewareError(f"middleware '{name}' must be callable, got {type(layer).__name__}")
        if name in self:
            raise MiddlewareError(f"there is a middleware named '{name}' already; remove it first")
        self._check_order(index, name)
        self._layers.insert(index, (name, layer))

    def _check_order(self, index: int, name: str) -> None:
        if name not in self._order:
            return
        place = self._order.index(name)
        names = self.names()
        for others, wrong, word in ((names[:index], self._order[place + 1 :], "before"), (names[index:], self._order[:place], "after")):
            for other in others:
                if other in wrong:
                    raise MiddlewareError(f"'{name}' must stand {word} '{other}': the order is {', '.join(self._order)}")

    def _index(self, name: str) -> int:
        for index, (known, _) in enumerate(self._layers):
            if known == name:
                return index
        known_names = ", ".join(self.names()) or "none"
        raise MiddlewareError(f"there is no middleware named '{name}'; there is: {known_names}")

    def _check_open(self) -> None:
        if self._frozen:
            raise MiddlewareError("the chain is in use: change middleware before the first job")

    def _free_name(self, layer: Callable[..., Any]) -> str:
        base = getattr(layer, "__name__", type(layer).__name__)
        name, count = base, 1
        while name in self:
            count += 1
            name = f"{base}-{count}"
        return name


class Once:
    """Lets a layer call ``next`` once: a second run of what is inside would be a second job."""

    __slots__ = ("_inner", "_called")

    def __init__(self, inner: Callable[..., Any]) -> None:
        self._inner = inner
        self._called = False

    def __call__(self, *args: Any) -> Any:
        if self._called:
            raise MiddlewareError("a middleware called next() twice")
        self._called = True
        return self._inner(*args)


class Both:
    """A layer that is a plain function and a coroutine function: what is inside it decides which of the two runs."""

    __slots__ = ("__name__", "coroutine", "plain")

    def __init__(self, plain: Callable[..., Any], coroutine: Callable[..., Any]) -> None:
        self.__name__ = plain.__name__.lstrip("_")
        self.plain = plain
        self.coroutine = coroutine

    def __call__(self, *args: Any) -> Any:
        return self.plain(*args)


def of_colour(layer: Callable[..., Any], asyncio: bool) -> Callable[..., Any]:
    """The layer itself; of one that is both, the one that is wanted."""
    if not isinstance(layer, Both):
        return layer
    return layer.coroutine if asyncio else layer.plain


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it makes a coroutine: coroutine functions, and objects whose ``__call__`` is one."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def through(layers: Sequence[Callable[..., Any]], subject: Any, inner: Callable[[Any], Any]) -> Any:
    """Runs ``inner`` inside the layers. Coroutine layers run on the portal's loop, what is inside them in a thread."""
    for layer in reversed(layers):
        inner = _plain_layer(layer, inner)
    return inner(subject)


async def through_asyncio(layers: Sequence[Callable[..., Any]], subject: Any, inner: _Coroutine) -> Any:
    """The same on the running event loop."""
    for layer in reversed(layers):
        inner = _asyncio_layer(of_colour(layer, True), inner)
    return await inner(subject)


def _plain_layer(layer: Callable[..., Any], inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    if not is_async(layer):
        return lambda subject: layer(subject, Once(inner))

    async def next_(subject: Any) -> Any:
        return await _threads().run(inner, subject)

    return lambda subject: _portal.portal().run(layer(subject, Once(next_)))


def _asyncio_layer(layer: Callable[..., Any], inner: _Coroutine) -> _Coroutine:
    async def run(subject: Any) -> Any:
        # A plain layer gets an awaitable from next() and may hand it on.
        result = layer(subject, Once(inner))
        return await result if inspect.isawaitable(result) else result

    return run


_pool: Threads | None = None


def _threads() -> Threads:
    # Used on the portal's loop only, hence without a lock; a forked child has a new portal, but no threads.
    global _pool
    if _pool is None or not _pool.is_own:
        _pool = Threads(64, "openjobspec-middleware")
    return _pool

"""The clients that a worker's tasks enqueue with."""

from __future__ import annotations

import threading
from typing import Any, Mapping

from .aio import AsyncClient, AsyncTransport
from .client import Client, SyncTransport


class Producers:
    """A plain client and one for asyncio, each made when it is first asked for, on one connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plain: Client | None = None
        self._asyncio: AsyncClient | None = None

    def plain(self, url: Any, custom: Any, options: Mapping[str, Any]) -> Client:
        """The worker's own client, or one that shares its connection."""
        if isinstance(url, Client) and custom is None:
            return url
        with self._lock:
            if self._plain is None:
                shared = url if isinstance(url, AsyncClient) and custom is None else self._asyncio
                if shared is not None:
                    link = shared._transport
                    self._plain = Client._over(SyncTransport(link.connection, link.custom, link.place))
                else:
                    self._plain = Client(url, transport=custom, **options)
            return self._plain

    def asyncio(self, url: Any, custom: Any, options: Mapping[str, Any]) -> AsyncClient:
        """The same for coroutines."""
        if isinstance(url, AsyncClient) and custom is None:
            return url
        with self._lock:
            if self._asyncio is None:
                shared = url if isinstance(url, Client) and custom is None else self._plain
                if shared is not None:
                    link = shared._transport
                    self._asyncio = AsyncClient._over(AsyncTransport(link.connection, link.custom, link.place))
                else:
                    self._asyncio = AsyncClient(url, transport=custom, **options)
            return self._asyncio

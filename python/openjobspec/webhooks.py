"""Receiving webhooks: whether a request comes from the server that has the secret. The core decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import _native
from ._json import dumps


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str] | Iterable[tuple[str, str]],
    secrets: str | Iterable[str],
    tolerance: float = 300,
    now: float | None = None,
) -> None:
    """Checks that one of the secrets signed the request at most ``tolerance`` seconds ago; returns nothing when it did.

    ``body`` is the body byte for byte as it arrived, before any JSON is read; ``headers`` are all headers of the
    request, with names in any case. Both forms are known: ``X-OJS-Signature`` and ``webhook-signature`` (Standard
    Webhooks). While a secret is being replaced, give the old one and the new one. ``now`` is the time in seconds since
    the epoch, for tests. A request may arrive more than once: ``X-OJS-Delivery-ID`` is the same each time.

    Raises :class:`UntrustedWebhookError`, whose ``details["reason"]`` is ``missing_header``, ``invalid_header``,
    ``stale_timestamp``, ``signature_mismatch`` or ``no_secret``.

    >>> signed = "sha256=8546408988b294b4617e3d0fe20e0d3136e60d027dacc02a97a3c59632ee4fa0"
    >>> headers = {"X-OJS-Timestamp": "1708030665", "X-OJS-Signature": signed}
    >>> verify_webhook(b'{"type":"job.completed"}', headers, "whsec_test_secret", now=1708030700)
    """
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    collected: dict[str, list[str]] = {}
    for name, value in pairs:
        collected.setdefault(str(name), []).append(str(value))
    wanted = [secrets] if isinstance(secrets, str) else list(secrets)
    request = {"headers": collected, "secrets": wanted, "tolerance": tolerance, "now": now}
    _native.verify_webhook(body, dumps(request).decode())

"""Tests of code that enqueues or handles jobs, in three ways.

**Fake**: jobs go into a private engine in memory; nothing runs until you say so::

    with ojs.testing.fake_mode() as fake:
        sign_up("a@example.com")
        fake.assert_enqueued("email.send", args=["a@example.com"])
        fake.drain(worker)          # runs the handlers here and now

**Inline**: every job runs as soon as it is enqueued, in the thread that enqueues it::

    with ojs.testing.inline_mode(worker):
        sign_up("a@example.com")    # the mail has been sent

**Real**: the pytest fixtures ``ojs_server``, ``ojs_client``, ``ojs_async_client`` and ``ojs_worker`` give you a real server in this
process, with a database of its own for every test.
"""

from __future__ import annotations

from .fake import Fake, assert_enqueued, assert_not_enqueued, clear, drain, enqueued, fake_mode, inline_mode

__all__ = ["Fake", "assert_enqueued", "assert_not_enqueued", "clear", "drain", "enqueued", "fake_mode", "inline_mode"]

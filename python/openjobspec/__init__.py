# Made from xtask/templates/python/__init__.py.j2 by make gen; do not edit.
"""Open Job Spec: background jobs for Python, plain and asyncio, with an engine that runs in your process.

>>> import openjobspec as ojs
>>> client = ojs.Client("memory:")
>>> client.enqueue("email.send", ["a@example.com"]).state
'available'
"""

from __future__ import annotations

from . import testing as testing
from ._native import __version__
from .aio import AsyncClient, AsyncTransport
from .client import Client, SyncTransport
from .context import Beat, CancelReason, JobContext
from .errors import (
    AuthenticationError,
    ClosedError,
    ConflictError,
    Discard,
    DuplicateJobError,
    ForkedError,
    InternalError,
    InvalidRequestError,
    InvalidStateTransitionError,
    JobCancelledError,
    JobNotFoundError,
    MiddlewareError,
    NonRetryableError,
    NotEnqueuedError,
    OJSAPIError,
    OJSConnectionError,
    OJSError,
    OJSTimeoutError,
    OJSValidationError,
    OutboxError,
    PayloadTooLargeError,
    QueuePausedError,
    RateLimitedError,
    Snooze,
    UnsupportedExtensionError,
    UntrustedWebhookError,
)
from .job import JobPage, JobRequest
from .middleware import Chain
from .options import JobOptions, RetryPolicy, Train, UniquePolicy
from .records import BulkChange, BulkItem, BulkResult, Event, Job, JobResult, JobTrain, WorkflowStatus
from .task import Task
from .transport import Transport
from .webhooks import verify_webhook
from .worker import Worker
from .workflow import Node, Workflow, batch, chain, graph, group, node

__all__ = [
    "AsyncClient",
    "AsyncTransport",
    "AuthenticationError",
    "Beat",
    "BulkChange",
    "BulkItem",
    "BulkResult",
    "CancelReason",
    "Chain",
    "Client",
    "ClosedError",
    "ConflictError",
    "Discard",
    "DuplicateJobError",
    "Event",
    "ForkedError",
    "InternalError",
    "InvalidRequestError",
    "InvalidStateTransitionError",
    "Job",
    "JobCancelledError",
    "JobContext",
    "JobNotFoundError",
    "JobOptions",
    "JobPage",
    "JobRequest",
    "JobResult",
    "JobTrain",
    "MiddlewareError",
    "Node",
    "NonRetryableError",
    "NotEnqueuedError",
    "OJSAPIError",
    "OJSConnectionError",
    "OJSError",
    "OJSTimeoutError",
    "OJSValidationError",
    "OutboxError",
    "PayloadTooLargeError",
    "QueuePausedError",
    "RateLimitedError",
    "RetryPolicy",
    "Snooze",
    "SyncTransport",
    "Task",
    "Train",
    "Transport",
    "UniquePolicy",
    "UnsupportedExtensionError",
    "UntrustedWebhookError",
    "Worker",
    "Workflow",
    "WorkflowStatus",
    "__version__",
    "batch",
    "chain",
    "graph",
    "group",
    "node",
    "verify_webhook",
]

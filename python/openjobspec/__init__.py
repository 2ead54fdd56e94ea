"""Open Job Spec: background jobs for Python, plain and asyncio, with an engine that runs in your process.

>>> import openjobspec as ojs
>>> client = ojs.Client("memory:")
>>> client.enqueue("email.send", ["a@example.com"]).state
'available'
"""

from __future__ import annotations

from . import testing as testing
from ._native import __version__
from .aio import AsyncClient
from .bulk import BulkChange, BulkItem, BulkResult
from .client import Client
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
)
from .events import Event
from .job import Job, JobOptions, JobPage, JobRequest
from .middleware import Chain
from .policies import RetryPolicy, UniquePolicy
from .results import JobResult
from .task import Task
from .transport import AsyncTransport, SyncTransport, Transport
from .worker import Worker
from .workflow import Workflow, WorkflowStatus, batch, chain, group

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
    "MiddlewareError",
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
    "Transport",
    "UniquePolicy",
    "Worker",
    "Workflow",
    "WorkflowStatus",
    "__version__",
    "batch",
    "chain",
    "group",
]

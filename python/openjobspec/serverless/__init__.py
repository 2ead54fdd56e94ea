"""Handlers of a worker in functions: AWS Lambda, Google Cloud Functions, Azure Functions, and behind any web framework.

A handler is written once. Whether a worker has fetched its job, a server has pushed it, or a queue of a cloud has
brought it, it gets the same context, runs inside the same middleware and ends in the same outcomes.

>>> import json
>>> from openjobspec import serverless
>>> handler = serverless.LambdaHandler()
>>> @handler.register("greeting.send")
... def greet(ctx):
...     return f"Hello, {ctx.args[0]}"
>>> handler({"id": "019539a4-0000-7000-8000-000000000001", "type": "greeting.send", "args": ["Ada"]})
{'status': 'completed', 'job_id': '019539a4-0000-7000-8000-000000000001', 'result': 'Hello, Ada'}
"""

from __future__ import annotations

from .aws import LambdaHandler
from .azure import AzureHandler
from .errors import DeliveryFailedError
from .google import GoogleHandler
from .handler import FunctionHandler
from .http import Answer
from .push import PushHandler

__all__ = [
    "Answer",
    "AzureHandler",
    "DeliveryFailedError",
    "FunctionHandler",
    "GoogleHandler",
    "LambdaHandler",
    "PushHandler",
]

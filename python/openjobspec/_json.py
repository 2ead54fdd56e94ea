"""JSON, with orjson where it is installed and the standard library where it is not, or where it alone is exact."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import uuid
from typing import Any

from ._values import refusal
from .errors import OJSError, OJSValidationError

try:
    import orjson
except ImportError:  # pragma: no cover - depends on the installation
    orjson = None  # type: ignore[assignment, unused-ignore]

#: orjson turns integers beyond 64 bits into floats; text with this many digits in a row goes to the exact parser.
_LONG_NUMBER = b"0" * 19
#: All digits become 0. Ten times faster than a regular expression, which took longer than the parser.
_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))


def _default(value: Any) -> Any:
    """What orjson knows beyond JSON, for the standard library too."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} is not JSON serializable")


def dumps_std(value: Any) -> bytes:
    """JSON by the standard library alone."""
    text = json.dumps(value, default=_default, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")


def dumps(value: Any) -> bytes:
    """JSON as UTF-8 bytes: numbers, text and the order of keys as they are.

    Raises OJSValidationError for values JSON has no form for.
    """
    if orjson is not None:
        try:
            data: bytes = orjson.dumps(value)
            # It writes NaN and the infinities as null: the standard library tells them apart.
            if value is None or b"null" not in data:
                return data
        except TypeError:
            # Integers beyond 64 bits, keys that are no strings: slower, but exact.
            pass
    try:
        return dumps_std(value)
    except (TypeError, ValueError, RecursionError) as error:
        why = f"cannot be written as JSON: {error}"
        if isinstance(value, dict):
            why = refusal("request", value) or why
        raise OJSValidationError(why, code="serialization_error") from error


def loads(data: bytes | str) -> Any:
    """The value of JSON text; integers stay integers, up to the 4,300 digits that Python reads.

    Raises OJSError with the code ``unexpected_answer`` for text that is not JSON, and for numbers that Python cannot hold.
    """
    try:
        if orjson is not None:
            raw = data if isinstance(data, bytes) else data.encode("utf-8")
            if _LONG_NUMBER not in raw.translate(_DIGITS):
                return orjson.loads(raw)
        return json.loads(data, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        # Never the text itself: it may hold what a job must not show.
        why = "it is nested too deeply" if isinstance(error, RecursionError) else _first_sentence(error)
        raise OJSError(f"the answer is not JSON that this client can read: {why}", code="unexpected_answer") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is larger than any float")
    return number


def _first_sentence(error: ValueError) -> str:
    return str(error).partition(";")[0] or type(error).__name__

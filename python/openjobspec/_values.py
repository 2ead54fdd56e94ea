"""Which values arguments, metadata and results may hold: those that a handler gets back equal to what was passed.

Everything else is refused with its place and with what to pass instead, before anything is sent. Tuples are the one exception:
they arrive as lists. The table is in the guide, "Values".
"""

from __future__ import annotations

import datetime
import enum
import math
import uuid
from typing import Any, Callable, Iterator

from .errors import OJSValidationError

_PLAIN = frozenset({str, int, bool, type(None)})
#: Python writes longer integers as text only when it is told to (``sys.set_int_max_str_digits``): 4,300 digits.
_MOST_BITS = 14_281
#: Levels of lists and dicts. Python's own limit is near 1,000, and servers have one of their own.
_MOST_LEVELS = 500

#: What to pass instead, by the name of a class or of one of its bases.
_REMEDIES = {
    "datetime.datetime": ".isoformat()",
    "datetime.date": ".isoformat()",
    "datetime.time": ".isoformat()",
    "datetime.timedelta": ".total_seconds()",
    "decimal.Decimal": "str(…)",
    "fractions.Fraction": "str(…)",
    "builtins.complex": "[….real, ….imag]",
    "builtins.bytes": "base64.b64encode(…).decode()",
    "builtins.bytearray": "base64.b64encode(…).decode()",
    "builtins.memoryview": "base64.b64encode(…).decode()",
    "builtins.set": "sorted(…)",
    "builtins.frozenset": "sorted(…)",
    "uuid.UUID": "str(…)",
    "pathlib.PurePath": "str(…)",
    "builtins.BaseException": "str(…)",
    "enum.Enum": ".value",
    "pydantic.main.BaseModel": ".model_dump(mode='json')",
    "django.db.models.base.Model": "its primary key, ….pk, and load it in the handler",
}


def check(name: str, value: Any, *, returned: bool = False) -> None:
    """Raises OJSValidationError unless everything in ``value`` arrives as it is. ``name`` begins the path: ``args``.

    What a handler has ``returned`` may hold dates, UUIDs, enums and dataclasses, which are written as text, values and dicts: its work is done.

    >>> check("args", ["a@example.com", {"sizes": [1, 2.5, None]}])
    >>> import datetime
    >>> check("args", [{"when": datetime.date(2026, 1, 1)}])
    Traceback (most recent call last):
    openjobspec.errors.OJSValidationError: args[0].when: a job cannot hold a date: pass ….isoformat()
    """
    try:
        if _is_exact(value):
            return
    except RecursionError:
        pass
    found = next(_faults(name, value, 0, returned), None)
    if found is not None:
        raise OJSValidationError(found, code="serialization_error")


def refusal(name: str, value: Any) -> str | None:
    """What is wrong in ``value``, with the place of the first such thing; None when nothing is."""
    return next(_faults(name, value, 0, False), None)


def _is_exact(value: Any) -> bool:
    """The quick answer for values of exactly the types that JSON has. False means: look closely."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is list or kind is tuple:
        for item in value:
            if type(item) not in _PLAIN and not _is_exact(item):
                return False
        return True
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or (type(item) not in _PLAIN and not _is_exact(item)):
                return False
        return True
    return False


def _faults(path: str, value: Any, level: int, returned: bool) -> Iterator[str]:
    if level > _MOST_LEVELS:
        yield f"{path[:40]}…: nested deeper than {_MOST_LEVELS} levels, or containing itself: pass flatter data"
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, str):
        yield from _text_faults(path, value)
    elif isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            yield f"{path}: an integer of more than 4,300 digits: pass str(…)"
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield f"{path}: JSON has no {value}: pass None, or text"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _member_faults(path, key, item, level, returned)
    elif isinstance(value, list) or type(value) is tuple:
        for index, item in enumerate(value):
            yield from _faults(f"{path}[{index}]", item, level + 1, returned)
    elif returned and _has_text(value):
        return
    else:
        yield f"{path}: a job cannot hold {_article(type(value).__name__)}: pass {_remedy(value)}"


def _has_text(value: Any) -> bool:
    return isinstance(value, (datetime.date, datetime.time, uuid.UUID, enum.Enum)) or hasattr(type(value), "__dataclass_fields__")


def _member_faults(path: str, key: Any, item: Any, level: int, returned: bool) -> Iterator[str]:
    if not isinstance(key, str):
        yield f"{path}: the key {_shown(key)} is {_article(type(key).__name__)}, and keys in JSON are text: pass str(key)"
        return
    yield from _text_faults(f"{path}: the key {_shown(key)}", key)
    yield from _faults(f"{path}.{key}", item, level + 1, returned)


def _text_faults(path: str, text: str) -> Iterator[str]:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        yield f"{path}: not text but half of a character at place {error.start} (a lone surrogate): pass str that can be encoded as UTF-8"


def _remedy(value: Any) -> str:
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return "dataclasses.asdict(…)"
    if isinstance(value, tuple):  # one with names
        return "…._asdict(), or list(…)"
    for base in kind.__mro__:
        known = _REMEDIES.get(f"{base.__module__}.{base.__qualname__}")
        if known is not None:
            return f"…{known}" if known.startswith(".") else known
    return _remedy_by_shape(value, kind)


def _remedy_by_shape(value: Any, kind: type) -> str:
    if kind.__module__.partition(".")[0] in ("numpy", "pandas", "torch"):
        return "….tolist()"
    if isinstance(value, (type, Callable)):  # type: ignore[arg-type]
        return "its name"
    if hasattr(kind, "keys") and hasattr(kind, "__getitem__"):
        return "dict(…)"
    if hasattr(kind, "__iter__"):
        return "list(…)"
    return "what the handler needs of it, as text, numbers, lists and dicts"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' and noun != 'UUID' else 'a'} {noun}"


def _shown(key: Any) -> str:
    text = repr(key) if type(key) in (str, int, float, bool, type(None), tuple) else type(key).__name__
    return ascii(text)[1:-1] if not text.isascii() else text[:60]

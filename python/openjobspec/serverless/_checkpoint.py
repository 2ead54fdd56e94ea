"""What a run keeps for later attempts: the document of ``core/sdk/src/worker/durable.rs``.

Without steps it is what the handler has saved. With steps it is ``{"$ojs.state": …, "$ojs.steps": {name: result}}``.
"""

from __future__ import annotations

import threading
from typing import Any, Callable

from .._json import dumps, loads
from ..errors import OJSValidationError

_STATE = "$ojs.state"
_STEPS = "$ojs.steps"
_MAX_NAME = 255


class Checkpoint:
    """The document of one run. Every save goes to the server, and is kept when the server has confirmed it."""

    def __init__(self, delivered: Any) -> None:
        document = delivered.get("state") if isinstance(delivered, dict) else None
        #: Saves of one run come one after the other.
        self._turn = threading.Lock()
        steps = document.get(_STEPS) if isinstance(document, dict) else None
        self._steps: dict[str, Any] = dict(steps) if isinstance(steps, dict) else {}
        self._state: Any = document.get(_STATE) if isinstance(document, dict) and isinstance(steps, dict) else document

    def saved(self, step: str | None) -> bytes | None:
        """What was saved, as JSON text."""
        if step is None:
            return None if self._state is None else dumps(self._state)
        return dumps(self._steps[step]) if step in self._steps else None

    def save(self, step: str | None, text: bytes, put: Callable[[Any], int]) -> int:
        """Sends the document with this change, and returns the sequence that the server has given it."""
        value = loads(text)
        if step is None and value is None:
            raise OJSValidationError("a checkpoint must not be null: delete it instead")
        if step is not None and not 0 < len(step.encode()) <= _MAX_NAME:
            raise OJSValidationError(f"the name of a step has 1 to {_MAX_NAME} bytes")
        with self._turn:
            state = value if step is None else self._state
            steps = self._steps if step is None else {**self._steps, step: value}
            sequence = put(_document(state, steps))
            self._state, self._steps = state, steps
        return sequence


def _document(state: Any, steps: dict[str, Any]) -> Any:
    # A document of the handler that looks like one with steps is put into one, or it would be read as one.
    reserved = isinstance(state, dict) and bool({_STATE, _STEPS} & state.keys())
    if state is not None and not steps and not reserved:
        return state
    return {**({} if state is None else {_STATE: state}), _STEPS: steps}

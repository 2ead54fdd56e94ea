"""Templates: what a case captured, put into later requests."""
import json
import re

from paths import lookup
from values import Literal, MISSING, Mismatch, Unsupported

_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}|\$\{(\w+)\}|\A\$ref\.(\w+)\Z")
STEP_REF = re.compile(r"steps\.([^.]+)\.response\.body(?:\.(.+))?\Z")


class Scope:
    """What templates may refer to: answers of earlier steps and captured variables."""

    def __init__(self):
        self.bodies = {}
        self.vars = {}

    def value(self, ref):
        m = STEP_REF.match(ref)
        if m:
            if m[1] not in self.bodies:
                raise Mismatch(f"reference to step {m[1]!r}, which has no answer yet")
            body = self.bodies[m[1]]
            found = body if m[2] is None else lookup(m[2], body)
            if found is MISSING or found is None:
                raise Mismatch(f"reference {{{{{ref}}}}} finds nothing in that answer")
            return found
        if re.fullmatch(r"\w+", ref):
            if ref not in self.vars:
                raise Mismatch(f"variable {ref!r} has no value")
            return self.vars[ref]
        raise Unsupported(f"template {{{{{ref}}}}}")

    def fill(self, obj, literal=False):
        """Replace templates in a JSON value. literal: mark replaced strings Literal."""
        if isinstance(obj, dict):
            return {self.text(k): self.fill(v, literal) for k, v in obj.items()}
        if isinstance(obj, list):
            return [self.fill(v, literal) for v in obj]
        if not isinstance(obj, str) or isinstance(obj, Literal):
            return obj
        whole = _TEMPLATE.fullmatch(obj)
        if whole:
            found = self.value((whole[1] or whole[2] or whole[3]).strip())
            if isinstance(found, (dict, list)):
                return {"$eq": found} if literal else found
            if literal:
                return Literal(found) if isinstance(found, str) else {"$eq": found}
            return self.scalar(found)
        text = self.text(obj)
        return Literal(text) if literal and text != obj else text

    def text(self, s):
        return _TEMPLATE.sub(lambda m: self.scalar(self.value((m[1] or m[2] or m[3]).strip())), s)

    @staticmethod
    def scalar(v):
        if isinstance(v, str):
            return v
        if isinstance(v, float) and v.is_integer():
            return str(int(v))
        return json.dumps(v, ensure_ascii=False)

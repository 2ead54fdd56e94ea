"""Open Job Spec for Django. Applications write ``from openjobspec.django import ojs``."""

from __future__ import annotations

from .facade import Ojs, ojs

__all__ = ["Ojs", "ojs"]

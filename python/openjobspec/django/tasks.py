"""``TASKS = {"default": {"BACKEND": "openjobspec.django.tasks.OJSBackend"}}``: Django's own tasks. Needs ``ojs-adapter-django``."""

from __future__ import annotations

from ojs_adapter_django.tasks import OJSBackend  # type: ignore[import-not-found, import-untyped, unused-ignore]

__all__ = ["OJSBackend"]

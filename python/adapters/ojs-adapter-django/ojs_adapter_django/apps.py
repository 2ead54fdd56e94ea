"""The application: put ``ojs_adapter_django`` into INSTALLED_APPS."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.core.signals import request_started
from django.test.signals import setting_changed

from .checks import check_config
from .facade import ojs


class OjsConfig(AppConfig):
    """Registers the checks; the relay starts with the first request, and is flushed when the process ends."""

    name = "ojs_adapter_django"
    label = "ojs"
    verbose_name = "Open Job Spec"

    def ready(self) -> None:
        """Called by Django once."""
        checks.register(check_config)
        request_started.connect(ojs.on_request, dispatch_uid="ojs")
        setting_changed.connect(_changed, dispatch_uid="ojs")


def _changed(*, setting: str, **_: object) -> None:
    if setting == "OJS_CONFIG":
        ojs.close()

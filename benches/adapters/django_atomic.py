"""Django: `transaction.atomic()` with one row of a model, without and with `ojs.enqueue_after_commit`."""

from urllib.parse import urlsplit

import django
from django.conf import settings
from turns import SERVER, Turns

turns = Turns("Django")
place = urlsplit(turns.url)
settings.configure(
    INSTALLED_APPS=["ojs_adapter_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "HOST": place.hostname, "PORT": place.port, "USER": place.username,
                           "PASSWORD": place.password or "", "NAME": place.path[1:]}},
    OJS_CONFIG={"url": SERVER, "outbox": {"enabled": True, "relay": False, "same_database": False}},
    USE_TZ=True,
)  # fmt: skip
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402

from openjobspec.django import ojs  # noqa: E402


class User(models.Model):
    id = models.BigAutoField(primary_key=True)
    email = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "users"


call_command("migrate", verbosity=0)
with connection.schema_editor() as editor:
    editor.create_model(User)

for staged in turns:
    with transaction.atomic():
        user = User.objects.create(email="ada@example.com")
        if staged:
            ojs.enqueue_after_commit("email.welcome", [user.id])

with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM ojs_outbox")
    turns.report(cursor.fetchone()[0])
ojs.close()

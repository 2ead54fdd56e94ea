"""Tasks of the project, as Django's documentation has them."""

try:
    from django.tasks import task
except ModuleNotFoundError:
    from django_tasks import task

from shop.models import User


@task
def welcome(user_id, greeting="hello"):
    return f"{greeting} {User.objects.get(pk=user_id).email}"


@task(queue_name="mail", priority=7)
async def add(a, b):
    return a + b


@task(takes_context=True)
def about(context, what):
    return [context.task_result.id, context.attempt, what]


@task
def broken(text):
    raise LookupError(text)


@task(backend="patient")
def patient():
    raise LookupError("again")

"""A worker for `manage.py ojs_worker`."""

import openjobspec

worker = openjobspec.Worker()
seen: list[object] = []


@worker.register("email.welcome")
def welcome(ctx):
    from openjobspec.django import ojs

    seen.append(ctx.args)
    ojs.enqueue("email.follow_up", ctx.args)

"""Job trains in Python: the worker of ADR-5, "Database-Backed Job Serialization", line by line.

What it prints is the same in every language.
"""

from __future__ import annotations

import os

import openjobspec as ojs

URL = os.environ.get("OJS_URL", "memory:trains")


def deploy(args: dict[str, object], train: ojs.JobTrain | None) -> None:
    place = f"number {train.position} of {train.id}" if train else "in no train"
    print(f"{args['action']}: {place}", flush=True)


# defmodule DeploymentWorker do
#   use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
worker = ojs.Worker(URL, queues=["deployments"])


@worker.register("deployment", queue="deployments", train=ojs.Train(on_cancelled="hold", on_discarded="advance"))
def deployment(ctx: ojs.JobContext, args: dict[str, object]) -> None:
    # def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
    deploy(args, ctx.train)


# A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
regular = deployment.enqueue({"destination_id": 123, "action": "deploy"})
# A train job: … |> D9s.JobTrains.insert("dest_123")
in_train = deployment.options(train="dest_123")
first = in_train.enqueue({"destination_id": 123, "action": "deploy"})
# Multiple jobs for the same resource queue: it waits for the deploy.
second = in_train.enqueue({"destination_id": 123, "action": "rollback"})

with worker, ojs.Client(URL) as client:
    for job in (regular, first, second):
        client.wait_for_result(job.id, timeout=30)

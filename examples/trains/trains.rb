# frozen_string_literal: true

# Job trains in Ruby: the worker of ADR-5, "Database-Backed Job Serialization", line by line. What it prints is the same
# in every language.
require "ojs"

client = OJS::Client.new(ENV.fetch("OJS_URL", "memory:trains"))

def deploy(args, train)
  puts "#{args["action"]}: #{train ? "number #{train.position} of #{train.id}" : "in no train"}"
end

# defmodule DeploymentWorker do
#   use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
worker = OJS::Worker.new(client, queues: "deployments")
worker.register("deployment", queue: "deployments", train: { on_cancelled: :hold, on_discarded: :advance }) do |ctx|
  # def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
  deploy(ctx.args, ctx.train)
  nil
end

# A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
regular = client.enqueue("deployment", { destination_id: 123, action: "deploy" })
# A train job: … |> D9s.JobTrains.insert("dest_123")
first = client.enqueue("deployment", { destination_id: 123, action: "deploy" }, train: "dest_123")
# Multiple jobs for the same resource queue: it waits for the deploy.
second = client.enqueue("deployment", { destination_id: 123, action: "rollback" }, train: "dest_123")

worker.start
[regular, first, second].each { |job| client.wait_for_result(job.id, timeout: 30) }
worker.stop
client.close

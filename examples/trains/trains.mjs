// Job trains in Node.js: the worker of ADR-5, "Database-Backed Job Serialization", line by line.
// What it prints is the same in every language.
import { OJSClient, OJSWorker } from '@openjobspec/sdk';

const client = new OJSClient(process.env.OJS_URL ?? 'memory:trains');

function deploy({ action }, train) {
  console.log(`${action}: ${train ? `number ${train.position} of ${train.id}` : 'in no train'}`);
}

// defmodule DeploymentWorker do
//   use D9s.JobTrains.Worker, queue: :deployments, on_cancelled: :hold, on_discarded: :advance
const worker = new OJSWorker({ client, queues: ['deployments'] });
const deployment = worker.register('deployment', async (ctx) => {
  // def perform_in_train(%Oban.Job{args: args}), do: deploy(args)
  deploy(ctx.args[0], ctx.train);
}, { queue: 'deployments', train: { onCancelled: 'hold', onDiscarded: 'advance' } });

// A regular job: %{destination_id: 123, action: "deploy"} |> DeploymentWorker.new() |> Oban.insert()
const regular = await deployment.enqueue({ destination_id: 123, action: 'deploy' });
// A train job: … |> D9s.JobTrains.insert("dest_123")
const inTrain = deployment.options({ train: 'dest_123' });
const first = await inTrain.enqueue({ destination_id: 123, action: 'deploy' });
// Multiple jobs for the same resource queue: it waits for the deploy.
const second = await inTrain.enqueue({ destination_id: 123, action: 'rollback' });

await worker.start();
for (const { id } of [regular, first, second]) await client.waitForResult(id, { timeout: '30s' });
await worker.stop();
await client.close();

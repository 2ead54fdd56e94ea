// Helpers of the serverless tests: jobs, signed requests, a Runtime API of AWS Lambda.
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { OJSClient, OJSServer } from '@openjobspec/sdk';

export const SECRET = 'whsec_test_secret';
export const NOW = 1_708_030_665;
export const clock = () => NOW * 1000;
/** What the tests of other runtimes need: packages beside those of the SDK's own tests. */
export const edge = createRequire(new URL('./edge/package.json', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const job = (type = 'email.send', args = [], members = {}) => ({
  specversion: '1.0',
  id: '019539a4-0000-7000-8000-000000000001',
  type,
  queue: 'default',
  args,
  attempt: 1,
  ...members,
});

/** The body of a push delivery, in the form of the document. */
export const pushed = (of, delivery = 'del_1') =>
  JSON.stringify({ job: of, worker_id: 'push_worker_01234567', delivery_id: delivery });

/** The headers of a push delivery, in the form of the document. */
export function signed(body, secret = SECRET, now = NOW) {
  const mac = createHmac('sha256', secret).update(`${now}.`).update(body).digest('hex');
  return { 'Content-Type': 'application/json', 'X-OJS-Signature': `sha256=${mac}`, 'X-OJS-Timestamp': String(now) };
}

/** An event of SQS with a message `m1`, `m2` … per body. */
export function sqsEvent(bodies, { fifo = false, groups = [], received = 1 } = {}) {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `m${index + 1}`,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      attributes: { ApproximateReceiveCount: String(received), ...(fifo ? { MessageGroupId: groups[index] } : {}) },
      eventSourceARN: `arn:aws:sqs:eu-west-1:1:ojs${fifo ? '.fifo' : ''}`,
    })),
  };
}

export const failures = ({ batchItemFailures }) => batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
export const remaining = (millis) => ({ getRemainingTimeInMillis: () => millis });
export const silent = { warn() {}, error() {} };

/**
 * A server with a client, both gone after the test. `jobs(args…)` enqueues and claims jobs as the sender of push
 * deliveries does.
 */
export async function engine(t) {
  const server = await OJSServer.start();
  const client = new OJSClient(server.url);
  t.after(async () => {
    await client.close();
    await server.stop();
  });
  const call = (path, body) =>
    fetch(`${server.url}/ojs/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const claim = async (count = 1) =>
    (await (await call('/workers/fetch', { queues: ['default'], count, worker_id: 'push_worker_1' })).json()).jobs;
  return {
    url: server.url,
    client,
    claim,
    async jobs(...all) {
      for (const arg of all) await client.enqueue('email.send', [arg]);
      return claim(all.length);
    },
    states: (jobs) => Promise.all(jobs.map(async ({ id }) => (await client.getJob(id)).state)),
  };
}

/** The loop of "Building a custom runtime for AWS Lambda", for a function of an ES module. */
const RUNTIME = `
import { handler } from './app.mjs';
const api = \`http://\${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation\`;
for (;;) {
  const next = await fetch(\`\${api}/next\`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const end = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => Math.max(end - Date.now(), 0) };
  let [what, answer] = ['response'];
  try {
    answer = await handler(await next.json(), context);
  } catch (error) {
    [what, answer] = ['error', { errorType: error.name, errorMessage: error.message }];
  }
  await fetch(\`\${api}/\${id}/\${what}\`, { method: 'POST', body: JSON.stringify(answer) });
}`;

/** What Lambda says to a function about itself. */
const ABOUT = {
  _HANDLER: 'app.handler',
  AWS_LAMBDA_FUNCTION_NAME: 'ojs-worker',
  AWS_LAMBDA_FUNCTION_VERSION: '1',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
  AWS_LAMBDA_LOG_GROUP_NAME: 'ojs',
  AWS_LAMBDA_LOG_STREAM_NAME: 'ojs',
};

/**
 * A function of AWS Lambda in a process of its own, behind a Runtime API of the test's. Resolves to
 * `invoke(event, limit)`, with the function's limit in milliseconds. The loop is that above, or AWS's own client.
 */
export async function lambda(t, source, { env = {}, isAwsClient = false } = {}) {
  const place = mkdtempSync(path.join(tmpdir(), 'ojs-lambda-'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(place, 'node_modules'));
  writeFileSync(path.join(place, 'app.mjs'), source);
  writeFileSync(path.join(place, 'runtime.mjs'), RUNTIME);
  const waiting = [];
  const events = [];
  const pending = new Map();
  const pass = () => {
    while (waiting.length > 0 && events.length > 0) {
      const { id, event, limit } = events.shift();
      waiting
        .shift()
        .writeHead(200, {
          'content-type': 'application/json',
          'lambda-runtime-aws-request-id': id,
          'lambda-runtime-deadline-ms': String(Date.now() + limit),
          'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-west-1:1:function:ojs-worker',
        })
        .end(JSON.stringify(event));
    }
  };
  const api = createServer(async (request, response) => {
    if (request.url.endsWith('/next')) {
      waiting.push(response);
      pass();
      return;
    }
    const [id, what] = request.url.split('/').slice(-2);
    pending.get(id)?.({ what, answer: JSON.parse(await text(request)) });
    response.writeHead(202).end();
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const child = spawn(process.execPath, [isAwsClient ? edge.resolve('aws-lambda-ric') : 'runtime.mjs'], {
    cwd: place,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...ABOUT,
      ...env,
      LAMBDA_TASK_ROOT: place,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${api.address().port}`,
    },
  });
  t.after(async () => {
    child.kill('SIGKILL');
    api.closeAllConnections();
    api.close();
    rmSync(place, { recursive: true });
  });
  let count = 0;
  return (event, limit = 60_000) =>
    new Promise((resolve, reject) => {
      const id = `request-${(count += 1)}`;
      pending.set(id, ({ what, answer }) =>
        what === 'response'
          ? resolve(answer)
          : reject(Object.assign(new Error(answer.errorMessage), { type: answer.errorType })),
      );
      events.push({ id, event, limit });
      pass();
    });
}

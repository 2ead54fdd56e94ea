// The vectors that all languages share: what goes over the wire, and which error an answer becomes. A server of this test listens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import * as sdk from '@openjobspec/sdk';
import { migration } from '@openjobspec/sdk/outbox';
import { OPERATION_CALLS } from './operation_calls.mjs';
import { CLASSES } from './support.mjs';
import { known, vectors } from './vectors_read.mjs';

// The package's own reader: JSON.parse would round long integers.
const json = createRequire(import.meta.url)('../lib/json.cjs');
const { environment } = createRequire(import.meta.url)('../lib/transport.cjs');
const { SameDatabase } = createRequire(import.meta.url)('../lib/same_database.cjs');
const binding = createRequire(import.meta.url)('../lib/native.cjs');
const requests = vectors('requests', 'args body name options text type why');
const refusals = vectors('refusals', 'name options says');
const workflows = vectors('workflows', 'body name workflow');
const crons = vectors('crons', 'body cron name', { cron: 'expression job name timezone' });
const webhooks = vectors('webhooks', 'body headers name now reason secrets tolerance');
const compared = { error: 'class code details hint message retryable status' };
const answers = vectors('answers', 'answer error name status', compared);
const environments = vectors('environments', 'error name settings variables');
const oneOf = 'error value';
const detected = { calls: 'asked lasting reason shared', database: oneOf, server: oneOf };
const detections = vectors('detections', 'calls database name server wanted', detected);
const statements = vectors('statements', 'database in_engine migration name notify staged table');
const faked = { jobs: 'args meta options type', questions: 'error found wanted' };
const fakes = vectors('fakes', 'jobs name questions recorded', faked);
const operations = vectors('operations', 'answer arguments body method name path query', {}, 'operations.json');

test('a member that no test compares fails', () => {
  assert.throws(() => known({ name: 'x', more: 1 }, 'body name', 'x'), /members that these tests do not know/);
});

let server;
let client;
let received;
let asked;
let answer;

before(async () => {
  server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    received = Buffer.concat(chunks).toString();
    asked = { method: request.method, url: request.url };
    response.writeHead(answer.status, { 'content-type': 'application/openjobspec+json' }).end(JSON.stringify(answer.body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = new sdk.OJSClient({ url: `http://127.0.0.1:${server.address().port}`, retryConfig: { maxAttempts: 1 } });
});

after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

for (const { name, type, args, options, body, text } of requests) {
  test(`request: ${name}`, async () => {
    answer = { status: 201, body: { job: { id: 'x' } } };
    await client.enqueue(type, args, options);
    const { id: _made, ...sent } = json.parse(received);
    assert.deepEqual(sent, body);
    if (text !== null) assert.equal(received, text);
  });
}

/** Names as JavaScript writes them. */
const camel = (text) => text.replace(/_[a-z]/g, (part) => part[1].toUpperCase());

for (const { name, options, says } of refusals) {
  test(`refusal: ${name}`, async () => {
    const given = JSON.parse(camel(JSON.stringify(options)));
    await assert.rejects(client.enqueue('email.send', [], given), (error) => error instanceof sdk.OJSValidationError && error.message.startsWith(camel(says)));
  });
}

/** The method, the decoded segments of the path below /ojs/v1, and the query of a request. */
function inParts({ method, url }) {
  const [path, search] = url.split('?', 2);
  const segments = path.replace('/ojs/v1', '').split('/').slice(1).map(decodeURIComponent);
  return { method, path: segments, query: Object.fromEntries(new URLSearchParams(search)) };
}

for (const [place, vector] of operations.entries()) {
  const { name, arguments: given, method, path, query, body, answer: reply } = vector;
  test(`operation: ${name} ${JSON.stringify(given)}`, async () => {
    answer = { status: 200, body: reply };
    await OPERATION_CALLS[place](client);
    assert.deepEqual(inParts(asked), { method, path, query });
    assert.deepEqual(received === '' ? null : JSON.parse(received), body);
  });
}

/** A workflow, or a step of one, as a program would write it. */
function built(tree) {
  known(tree, 'args batch callbacks chain graph group name options type', 'workflows');
  if (tree.graph) {
    const node = (one) => known(one, 'after id step', 'workflows');
    const graph = sdk.graph(tree.graph.map(node).map(({ id, step, after }) => sdk.node(id, built(step), { after })));
    return tree.name === undefined ? graph : graph.named(tree.name);
  }
  const steps = (tree.chain ?? tree.group ?? tree.batch)?.map(built);
  if (steps === undefined) return tree;
  const made = tree.chain ? sdk.chain(...steps) : tree.group ? sdk.group(...steps) : sdk.batch(steps, tree.callbacks);
  return tree.name === undefined ? made : made.named(tree.name);
}

for (const { name, workflow, body } of workflows) {
  test(`workflow: ${name}`, async () => {
    answer = { status: 201, body: { workflow: { id: 'x' } } };
    await client.workflow(built(workflow));
    assert.deepEqual(JSON.parse(received), body);
  });
}

for (const { name, cron, body } of crons) {
  test(`cron: ${name}`, async () => {
    answer = { status: 201, body: { cron: { name: 'x' } } };
    await client.cron.register(cron);
    assert.deepEqual(JSON.parse(received), body);
  });
}

for (const { name, body, headers, secrets, tolerance, now, reason } of webhooks) {
  test(`webhook: ${name}`, () => {
    const verify = () => sdk.verifyWebhook(Buffer.from(body), headers, secrets, { tolerance, now });
    if (reason === null) return verify();
    assert.throws(verify, (error) => error instanceof sdk.OJSUntrustedWebhookError && error.details.reason === reason);
  });
}

for (const { name, status, answer: body, error: expected } of answers) {
  test(`answer: ${name}`, async () => {
    answer = { status, body };
    await assert.rejects(client.getJob('x'), (error) => {
      const { code, message, retryable, status, hint = null, details = null } = error;
      assert.equal(error.name, CLASSES[expected.class]);
      assert.deepEqual({ class: expected.class, code, message, retryable, status, hint, details }, expected);
      return true;
    });
  });
}

for (const { name, variables, settings, error: expected } of environments) {
  test(`environment: ${name}`, async () => {
    const before = { ...process.env };
    for (const variable of Object.keys(process.env)) if (variable.startsWith('OJS_')) delete process.env[variable];
    Object.assign(process.env, variables);
    try {
      if (expected !== null) {
        for (const make of [() => new sdk.OJSClient('memory:'), () => new sdk.OJSWorker('memory:')]) {
          assert.throws(make, (error) => error instanceof sdk.OJSValidationError && error.message === expected);
        }
        return;
      }
      assert.deepEqual(environment(), settings);
      assert.deepEqual(new sdk.OJSWorker('memory:').queues, settings.queues);
    } finally {
      for (const variable of Object.keys(variables)) delete process.env[variable];
      Object.assign(process.env, before);
    }
  });
}

for (const { name, wanted, database, server: theirs, calls } of detections) {
  test(`same database: ${name}`, async () => {
    const failed = { error: { code: 'backend_error', message: 'refused' } };
    answer = 'error' in theirs ? { status: 500, body: failed } : { status: 200, body: theirs.value };
    const seen = [];
    const query = async (sql) => {
      assert.match(sql, /pg_control_system/);
      seen.push('database');
      if ('error' in database) throw new Error(database.error);
      return database.value;
    };
    const same = new SameDatabase(client, wanted ?? undefined);
    for (const call of calls) {
      seen.length = 0;
      asked = undefined;
      assert.equal(await same.ask(query), call.shared);
      assert.deepEqual(asked?.url.endsWith('/health') ? [...seen, 'server'] : seen, call.asked);
    }
  });
}

for (const { name, database, table, in_engine: inEngine, migration: made, staged, notify } of statements) {
  test(`statements: ${name}`, () => {
    assert.deepEqual(migration(database, table), made);
    assert.equal(binding.outboxStagedQuery(database, table, inEngine), staged);
    assert.equal(binding.sameDatabaseNotify(), notify);
  });
}

for (const { name, jobs, recorded, questions } of fakes) {
  test(`fake: ${name}`, async () => {
    const fake = sdk.testing.fake();
    try {
      for (const { type, args, options, meta } of jobs) await client.enqueue(type, args, { ...options, meta });
      assert.deepEqual(fake.requests, recorded);
      for (const { wanted: { type, ...wanted }, found, error: expected } of questions) {
        if (expected === null) assert.equal(fake.enqueued(type, wanted).length, found, JSON.stringify(wanted));
        else {
          const refused = { name: 'OJSValidationError', message: expected };
          assert.throws(() => fake.enqueued(type, wanted), refused);
        }
      }
    } finally {
      await fake.restore();
    }
  });
}

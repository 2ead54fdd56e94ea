// Answers of servers that are broken, or hostile, become the package's own errors.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { OJSClient, OJSError } from '@openjobspec/sdk';

let server;
let client;
let answer;

before(async () => {
  server = createServer((_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = new OJSClient({ url: `http://127.0.0.1:${server.address().port}`, maxSends: 1 });
});

after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

/** What this package says of an answer, and what the core says of one that has neither the members of a bulk call nor an error. */
const CODES = ['unexpected_answer', 'connection_error'];
const SECRET = 'planted-secret';
const JOB = [() => client.getJob('x'), () => client.enqueue('a'), () => client.cancelJob('x'), () => client.deadLetters.get('x')];
const JOBS = [() => client.enqueueBatch(['a']), () => client.deadLetters.list()];
const LISTS = [() => client.queues.list(), () => client.listJobs(), () => client.bulkCancel({ ids: ['x'] }), () => client.results(['x'])];

test('malformed JSON, and integers of more digits than anything reads', async () => {
  for (const text of [
    '{', `{"job": {"id": "${SECRET}"`, '<html>', 'nul', '{"job": {"id": "x", "args": [1 2]}}', '{"job":\u0000}', '"\\ud8"', '[1,]', `{'job': '${SECRET}'}`,
    `{"job": {"id": "x", "type": "a", "args": [${'9'.repeat(100_000)}]}}`, `[-${'1'.repeat(4301)}]`,
  ]) {
    answer = text;
    for (const call of [...JOB, ...JOBS, ...LISTS, () => client.health()]) {
      await assert.rejects(call, (error) => {
        assert.ok(error instanceof OJSError, `${text.slice(0, 40)}: ${error.stack}`);
        assert.ok(CODES.includes(error.code), `${text.slice(0, 40)}: ${error.code}`);
        if (error.code === 'unexpected_answer') assert.ok(!`${error.stack} ${error.cause}`.includes(SECRET), 'the text is not in it');
        return true;
      });
    }
  }
});

test('JSON that is not what was asked for: a job that cannot be read is not a job', async () => {
  for (const text of ['null', '5', '"text"', '[]', '{}', '{"job": null}', '{"job": 5}', '{"job": []}', '{"job": {}}', '{"job": {"id": 7}}',
    '{"jobs": 5, "queues": {}, "items": "x", "results": 1}', '{"jobs": [5], "queues": 5, "items": [5], "pagination": {}, "results": [5]}']) {
    answer = text;
    for (const call of [...JOB, ...JOBS, ...LISTS]) {
      await assert.rejects(call, (error) => error instanceof OJSError && CODES.includes(error.code), `${call} ${text}`);
    }
  }
  answer = '{"jobs": null}';
  assert.deepEqual(await client.deadLetters.list(), [], 'what a server in Go writes for an empty list');
});

test('the longest integer that is read', async () => {
  answer = `{"job": {"id": "x", "type": "a", "args": [${'9'.repeat(4300)}]}}`;
  assert.equal(`${(await client.getJob('x')).args[0]}`.length, 4300);
});

// The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LambdaHandler } from '@openjobspec/sdk/serverless';
import { failures, job, silent, sqsEvent } from './serverless_support.mjs';

const read = (name) => JSON.parse(readFileSync(new URL(`../../tests/vectors/${name}.json`, import.meta.url)));
const vectors = read('serverless_reference');

for (const vector of vectors.cases) {
  test(`a job above the limit of a queue: ${vector.name}`, async () => {
    const asked = [];
    let seen;
    const fetch = async (url, { method }) => {
      const path = new URL(url).pathname.replace('/ojs/v1', '');
      asked.push(`${method} ${path}`);
      const found = path.endsWith('/checkpoint') ? vector.checkpoint : { job: vector.job };
      return new Response(JSON.stringify(method === 'GET' ? found : {}));
    };
    const handler = new LambdaHandler({ ojsUrl: 'https://ojs.example.com', fetch, logger: silent });
    handler.register('email.send', async (ctx) => {
      seen = { args: ctx.args, attempt: ctx.attempt, meta: ctx.meta, saved: await ctx.loadCheckpoint() };
    });
    assert.deepEqual(failures(await handler.handleSQS(sqsEvent([vector.message]))), []);
    const { args, attempt, meta, checkpoint } = vector.runs;
    assert.deepEqual({ args: seen.args, attempt: seen.attempt, meta: { ...seen.meta } }, { args, attempt, meta });
    assert.deepEqual(seen.saved ?? undefined, checkpoint?.state);
    const isAsked = asked.includes(`GET /jobs/${vector.message.id}/checkpoint`);
    assert.equal(isAsked, 'checkpoint_ref' in vector.message);
  });
}

for (const answer of vectors.answers) {
  test(`a job above the limit of a queue, and ${answer.name}`, async () => {
    const { message, job, checkpoint } = vectors.cases.find((vector) => vector.message.checkpoint_ref);
    const reported = [];
    const fetch = async (url, { method }) => {
      if (method !== 'GET') {
        reported.push(new URL(url).pathname);
        return new Response('{}');
      }
      const isSaved = String(url).endsWith('/checkpoint');
      const said = isSaved ? answer.checkpoint : answer.job;
      if (said !== null) return new Response(said.body, { status: said.status });
      return new Response(JSON.stringify(isSaved ? checkpoint : { job }));
    };
    const saved = [];
    const handler = new LambdaHandler({ ojsUrl: 'https://ojs.example.com', fetch, logger: silent });
    handler.register('email.send', async (ctx) => {
      saved.push(await ctx.loadCheckpoint());
    });
    const again = failures(await handler.handleSQS(sqsEvent([message])));
    const ends = again.length === 1 ? 'again' : saved.length === 1 ? 'runs' : 'gone';
    assert.equal(ends, answer.ends);
    assert.deepEqual(reported, ends === 'runs' ? ['/ojs/v1/workers/ack'] : []);
    if (ends === 'runs') assert.deepEqual(saved[0] ?? null, answer.checkpoint === null ? checkpoint.state : null);
  });
}

test('a timeout has the error of the vectors', async () => {
  const wanted = read('serverless_timeout').error;
  const handler = new LambdaHandler().register('email.send', () => new Promise(() => {}));
  const { error } = await handler.handleDirect(job('email.send', [], { timeout_ms: 10 }));
  assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, error[name]])), wanted);
});

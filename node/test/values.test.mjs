// What becomes of values: those that would arrive as something else are refused, with their place and what to pass instead.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OJSClient, chain } from '@openjobspec/sdk';
import { inState, onEveryConnection } from './support.mjs';

class Secret { #hidden = 1; get shown() { return this.#hidden; } }
class Money { toJSON() { return { amount: '1.50' }; } }
class Dto { constructor() { this.id = 7; } }
const circle = {};
circle.self = circle;
const deep = Array.from({ length: 600 }).reduce((inner) => [inner], 1);

const REFUSED = [
  ['a Date', new Date(), /^args\[0\]\.when: a Date .*: pass \.toISOString\(\)$/],
  ['an invalid Date', new Date('soon'), /when: an invalid Date/],
  ['an Error', new TypeError('no'), /when: a TypeError has no JSON form: pass \.message/],
  ['an error of another realm', Object.assign(new Error('x'), { name: 'AbortError' }), /when: an AbortError/],
  ['a RegExp', /a/, /a RegExp has no JSON form: pass \.source/],
  ['a Map', new Map([[1, 2]]), /a Map has no JSON form: pass Object\.fromEntries\(map\)/],
  ['a Set', new Set([1]), /a Set has no JSON form: pass \[\.\.\.set\]/],
  ['a typed array', new Float64Array(2), /a Float64Array has no JSON form: pass \[\.\.\.array\]/],
  ['a Buffer', Buffer.from('x'), /a Buffer has no JSON form: pass \.toString\('base64'\)/],
  ['an ArrayBuffer', new ArrayBuffer(2), /an ArrayBuffer .*base64/],
  ['a DataView', new DataView(new ArrayBuffer(2)), /a DataView .*base64/],
  ['a Promise', Promise.resolve(1), /a Promise has no JSON form: await it/],
  ['a generator', (function* one() { yield 1; })(), /an iterator has no JSON form: pass \[\.\.\.iterator\]/],
  ['a WeakMap', new WeakMap(), /a WeakMap has no JSON form/],
  ['a function', () => 1, /a function has no JSON form/],
  ['a symbol', Symbol.iterator, /a symbol has no JSON form/],
  ['NaN', NaN, /NaN has no JSON form: pass null/],
  ['Infinity', -Infinity, /-Infinity has no JSON form/],
  ['undefined in an array', [1, undefined], /^args\[0\]\.when\[1\]: undefined has no JSON form: pass null/],
  ['a hole in an array', [1, , 3], /when\[1\]: undefined/], // eslint-disable-line no-sparse-arrays
  ['half a surrogate pair', 'a\ud800', /half of a surrogate pair/],
  ['a name with half a surrogate pair', { '\ud800': 1 }, /half of a surrogate pair/],
  ['an integer of 5,000 digits', 10n ** 5000n, /an integer of more than 4300 digits: pass its text/],
  ['an object that shows nothing', new Secret(), /a Secret shows nothing of itself to JSON/],
  ['an object that contains itself', circle, /nested more than 500 levels deep, or it contains itself/],
  ['600 levels', deep, /nested more than 500 levels/],
  ['toJSON() of a thing that has no form', { toJSON: () => new Map() }, /a Map has no JSON form/],
  ['toJSON() that throws', { toJSON() { throw new Error('not me'); } }, /^args\[0\] cannot be written as JSON: not me$/],
  ['a getter that throws', { get x() { throw new Error('not me'); } }, /not me/],
];

describe('arguments and metadata that would arrive as something else', () => {
  const client = new OJSClient('memory:values');
  for (const [name, value, message] of REFUSED) {
    test(name, async () => {
      const refused = { name: 'OJSValidationError', code: 'serialization_error', retryable: false };
      await assert.rejects(client.enqueue('a', [{ when: value }]), { ...refused, message });
      await assert.rejects(client.enqueue('a', [], { meta: { when: value } }), { ...refused, message: new RegExp(message.source.replace('^args\\[0\\]', '^meta').replace('^args', '^meta')) });
      for (const door of [
        () => client.enqueueBatch([{ type: 'a', args: [1] }, { type: 'a', args: [{ when: value }] }]),
        () => client.bulkEnqueue([{ type: 'a', args: [{ when: value }] }]),
        () => client.workflow(chain('a', { type: 'a', args: [{ when: value }] })),
        () => client.cron.register({ name: 'x', expression: '0 0 * * *', job: { type: 'a', args: [{ when: value }] } }),
      ]) await assert.rejects(async () => door(), refused);
      assert.equal((await client.listJobs()).total, 0, 'nothing was sent');
    });
  }

  test('the place is named, however odd the names on the way are', async () => {
    await assert.rejects(client.enqueue('a', [1, { list: [{ 'first name': NaN }] }]), { message: /^args\[1\]\.list\[0\]\["first name"\]: NaN/ });
    await assert.rejects(client.enqueue('a', new Date()), { message: /^args\[0\]: a Date/ });
  });
});

onEveryConnection('values that arrive', (make) => {
  test('as they were passed', async (t) => {
    const { client, enqueue } = await make(t);
    const args = ['', 'ž 馬 🐎', 0, -1.5, 1e300, true, null, [], {}, [null, [{}]], 12345678901234567890n, { __proto: 1, constructor: 2, 'a b': [1] }, Object.create(null)];
    const job = await enqueue('a', args);
    assert.deepEqual((await client.getJob(job.id)).args, [...args.slice(0, -1), {}]);
  });

  test('with what the table of the guide says of them', async (t) => {
    const { client, enqueue } = await make(t);
    const job = await enqueue('a', [undefined, { nick: undefined, name: 'ada' }, new Money(), new Dto(), new Number(5), 1n, new URL('https://example.com/a')]);
    assert.deepEqual((await client.getJob(job.id)).args, [null, { name: 'ada' }, { amount: '1.50' }, { id: 7 }, 5, 1, 'https://example.com/a']);
  });

  test('results: what JSON has a text for, or leaves out, does not fail a job that is done', async (t) => {
    const { client, enqueue, makeWorker } = await make(t);
    const when = new Date(0);
    await makeWorker({
      'dates': () => ({ when, none: undefined, list: [undefined, 1], call() {} }),
      'lost': () => ({ errors: [new Error('one')] }),
      'map': () => new Map(),
    }).start();
    const kept = await inState(client, (await enqueue('dates')).id, 'completed');
    assert.deepEqual(kept.result, { when: '1970-01-01T00:00:00.000Z', list: [null, 1] });
    for (const [type, message] of [['lost', /^the handler's result cannot be kept: result\.errors\[0\]: an Error/], ['map', /result: a Map/]]) {
      const { error } = await inState(client, (await enqueue(type)).id, 'discarded');
      assert.equal(error.code, 'serialization_error');
      assert.match(error.message, message);
    }
  });
});

// Values by small numbers, as a worker keeps the jobs that run.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const { Slots } = createRequire(import.meta.url)('../lib/slots.cjs');

test('slots: a value is found until it is taken, and the slot takes another one', () => {
  const slots = new Slots();
  slots.set(3, 'a');
  slots.set(0, 'b');
  assert.deepEqual([slots.size, slots.get(3), slots.get(0), slots.get(1)], [2, 'a', 'b', undefined]);
  assert.equal(slots.take(3), 'a');
  assert.deepEqual([slots.size, slots.get(3), slots.take(3), slots.size], [1, undefined, undefined, 1]);
  slots.set(3, 'c');
  assert.deepEqual([slots.size, slots.take(3), slots.take(0), slots.size], [2, 'c', 'b', 0]);
});

test('slots: a value replaces the one before it and counts once', () => {
  const slots = new Slots();
  slots.set(2, 'a');
  slots.set(2, 'b');
  assert.deepEqual([slots.size, slots.take(2), slots.size], [1, 'b', 0]);
});

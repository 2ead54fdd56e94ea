'use strict';
// Events as they happen.
const { setTimeout: sleep } = require('node:timers/promises');
const binding = require('./native.cjs');
const { known, member } = require('./calls.cjs');
const { OJSConnectionError, OJSError, native } = require('./errors.cjs');

/** The next request, and the pause before it; null when the error that the core was given ends the reader. */
const next = (said) => JSON.parse(native(() => binding.followEvents(JSON.stringify(said))));

/** `ask(path, wait, signal)` is one request. When the connection is lost it goes on where it was: none is missed, none comes twice. */
async function* follow(ask, options = {}) {
  const { types, queues, jobTypes, after, signal } = known('filter', options, ['types', 'queues', 'jobTypes', 'after', 'signal']);
  const names = (list) => (list === undefined ? undefined : [].concat(list));
  let step = next({ begin: { types: names(types), queues: names(queues), job_types: names(jobTypes), after } });
  for (;;) {
    const { path, wait_ms: wait, pause_ms: pause, state } = step;
    if (pause > 0) await sleep(pause, undefined, { signal });
    let events, cursor;
    try {
      const answer = await ask(path, wait, signal);
      [events, cursor] = [member(answer, 'events'), String(member(answer, 'cursor'))];
    } catch (error) {
      if (!(error instanceof OJSError) || signal?.aborted) throw error;
      const { status, code, retryable } = error;
      const connection = error instanceof OJSConnectionError;
      step = next({ failed: { state, error: { connection, status, code, retryable } } });
      if (step === null) throw error;
      continue;
    }
    yield* events;
    step = next({ answered: { state, events: events.length, cursor } });
  }
}

module.exports = { follow };

'use strict';
// Events as they happen.
const { setTimeout: sleep } = require('node:timers/promises');
const { known, member, query } = require('./calls.cjs');
const { OJSClosedError, OJSConnectionError, OJSError } = require('./errors.cjs');

/** How long the server may hold back an answer, in milliseconds: below the time-outs of common proxies. */
const WAIT = 20_000;
/** Between two looks at a server that does not hold back. */
const PAUSE = 500;
const PAGE = 500;
const [FIRST_BACKOFF, LONGEST_BACKOFF] = [100, 10_000];

const names = (list) => (list === undefined || list.length === 0 ? undefined : [].concat(list).join(','));

/** Whether asking again may help. */
function passing(error) {
  if (error instanceof OJSClosedError || !(error instanceof OJSError)) return false;
  return error instanceof OJSConnectionError || [408, 429].includes(error.status) || error.status >= 500;
}

/** `ask(path, wait, signal)` is one request. When the connection is lost it goes on where it was: none is missed, none comes twice. */
async function* follow(ask, options = {}) {
  const { types, queues, jobTypes, after, signal } = known('filter', options, ['types', 'queues', 'jobTypes', 'after', 'signal']);
  const filters = { types: names(types), queues: names(queues), job_types: names(jobTypes) };
  // The first answer says where the log ends, at once.
  let [cursor, heard, backoff] = [after ?? 'latest', false, FIRST_BACKOFF];
  for (;;) {
    const [began, wait] = [performance.now(), heard ? WAIT : 0];
    const path = query('/events', { after: cursor === '' ? undefined : cursor, limit: PAGE, wait_ms: wait, ...filters });
    let events;
    try {
      const answer = await ask(path, wait, signal);
      [events, cursor] = [member(answer, 'events'), String(member(answer, 'cursor'))];
    } catch (error) {
      if (!heard || !passing(error) || signal?.aborted) throw error;
      await sleep(backoff * (0.5 + Math.random() / 2), undefined, { signal });
      backoff = Math.min(backoff * 2, LONGEST_BACKOFF);
      continue;
    }
    yield* events;
    const idle = heard && events.length === 0 && performance.now() - began < WAIT / 2;
    [heard, backoff] = [true, FIRST_BACKOFF];
    if (idle) await sleep(PAUSE, undefined, { signal });
  }
}

module.exports = { follow };

// One stream of events for the whole page. It only says that something has changed: lists are read again, at most
// once a second, however busy the server is.
import { effect, signal } from './html.js';
import { offers, open, signedOut } from './api.js';

/** Grows when something has happened. */
export const version = signal(0);
/** `connecting`, `live`, `lost` or `paused`. */
export const state = signal('connecting');
/** Whether the person wants updates. */
export const wanted = signal(true);

const PAUSE_MS = 1000;
const LONGEST_MS = 10_000;
/** Between two readings of the lists, where the server has no stream of events. */
const POLL_MS = 5000;
let connection = null;
let due = null;

/** Has the lists read again soon; many calls make one reading. */
export function changed() {
  due ??= setTimeout(() => { due = null; version.value += 1; }, PAUSE_MS);
}

/** Has them read again at once, after a change of one's own. */
export function refresh() { version.value += 1; }

/** Has the lists read again from time to time. A list waits for its last answer, however slow the server is. */
async function poll(control) {
  state.value = 'live';
  while (!control.signal.aborted) {
    await new Promise((done) => { setTimeout(done, POLL_MS); });
    if (!control.signal.aborted) refresh();
  }
}

async function follow(control) {
  if (!offers().stream) { await poll(control); return; }
  let pause = PAUSE_MS;
  while (!control.signal.aborted) {
    try {
      const answer = await open('/events/stream', control.signal);
      // Who may not follow reads each screen once, and again when asked.
      if ([401, 403].includes(answer.status)) { state.value = 'paused'; return; }
      if (!answer.ok) throw new Error(`the stream was answered with ${answer.status}`);
      // What happened while there was no connection.
      if (state.value === 'lost') refresh();
      state.value = 'live';
      pause = PAUSE_MS;
      await read(answer.body.getReader());
    } catch {
      if (control.signal.aborted) return;
    }
    state.value = 'lost';
    await new Promise((done) => { setTimeout(done, pause); });
    pause = Math.min(pause * 2, LONGEST_MS);
  }
}

async function read(reader) {
  const words = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    // Comments keep the connection open; any other line is an event.
    const text = words.decode(value, { stream: true });
    if (/^(?:data|id|event):/m.test(text)) changed();
  }
}

/** Follows as long as the page is seen and updates are wanted. */
export function start() {
  const hidden = signal(document.hidden);
  document.addEventListener('visibilitychange', () => { hidden.value = document.hidden; });
  effect(() => {
    const on = wanted.value && !hidden.value && !signedOut.value;
    if (on && !connection) {
      connection = new AbortController();
      // Later: an effect that reads `version` would run again with it.
      setTimeout(refresh, 0);
      follow(connection);
    } else if (!on && connection) {
      connection.abort();
      connection = null;
      state.value = 'paused';
    }
  });
}

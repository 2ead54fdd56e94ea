// Follows a server: one stream of events, or readings from time to time. Runs in a page or in the worker that the tabs
// of a browser share, so it imports nothing.
const PAUSE_MS = 1000;
const LONGEST_MS = 10_000;
/** Between two readings of the lists, where the server has no stream of events. */
const POLL_MS = 5000;

const later = (ms, signal) => new Promise((done) => {
  const timer = setTimeout(done, ms);
  signal.addEventListener('abort', () => { clearTimeout(timer); done(); }, { once: true });
});

/** Tells `changed()` of each text with an event in it, until the stream ends. */
async function read(reader, changed) {
  const words = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    // Comments keep the connection open; any other line is an event.
    if (/^(?:data|event):/m.test(words.decode(value, { stream: true }))) changed();
  }
}

/**
 * Follows until the signal is aborted. `url` is that of the stream; without one, `changed` is called from time to time.
 * `say` gets `live`, `lost` or `paused`: a server that refuses the stream is followed no further.
 */
export async function follow({ url, signal, say, changed }) {
  if (!url) say('live');
  while (!url && !signal.aborted) {
    await later(POLL_MS, signal);
    if (!signal.aborted) changed();
  }
  let [pause, wasLost] = [PAUSE_MS, false];
  while (!signal.aborted) {
    try {
      const answer = await fetch(url, { signal, credentials: 'same-origin', cache: 'no-store' });
      // A client that may not follow reads each screen once, and again when asked.
      if ([401, 403].includes(answer.status)) { say('paused'); return; }
      if (!answer.ok) throw new Error(`the stream was answered with ${answer.status}`);
      // What happened while there was no connection.
      if (wasLost) changed();
      wasLost = false;
      say('live');
      pause = PAUSE_MS;
      await read(answer.body.getReader(), changed);
    } catch {
      if (signal.aborted) return;
    }
    wasLost = true;
    say('lost');
    await later(pause, signal);
    pause = Math.min(pause * 2, LONGEST_MS);
  }
}

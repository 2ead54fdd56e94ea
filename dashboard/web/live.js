// Updates of the page. They only say that something has changed: lists are read again, at most once a second, however
// busy the server is. All tabs of a browser share one stream.
import { effect, signal } from './html.js';
import { apiUrl, offers, signedOut } from './api.js';
import { follow } from './stream.js';

/** Grows when something has happened. */
export const version = signal(0);
/** `connecting`, `live`, `lost` or `paused`. */
export const state = signal('connecting');
/** Whether the person wants updates. */
export const wanted = signal(true);

const PAUSE_MS = 1000;
let due = null;

/** Has the lists read again soon; many calls make one reading. */
function changed() {
  due ??= setTimeout(() => { due = null; version.value += 1; }, PAUSE_MS);
}

/** Has them read again at once, after a change of one's own. */
export function refresh() { version.value += 1; }

/** What is followed: our own server says in one line a second that something has happened. */
function streamUrl() {
  const { own, stream } = offers();
  return stream ? apiUrl(own ? '/events/stream?summary=true' : '/events/stream') : null;
}

/** A stream of this tab alone, for browsers without shared workers. */
function alone() {
  let control = null;
  return (on) => {
    control?.abort();
    control = on ? new AbortController() : null;
    if (!on) return;
    const { signal: ended } = control;
    const say = (now) => { if (!ended.aborted) state.value = now; };
    follow({ url: streamUrl(), signal: ended, say, changed });
  };
}

/** The stream of all tabs; that of this tab, where the worker cannot be started. */
function shared() {
  const worker = new SharedWorker(new URL('./stream-worker.js', import.meta.url), { type: 'module' });
  const { port } = worker;
  let [isOn, own] = [false, null];
  worker.onerror = () => { own ??= alone(); own(isOn); };
  port.onmessage = ({ data }) => {
    if (!isOn) return;
    if (data.changed) changed(); else state.value = data.state;
  };
  // A tab that is closed, or kept for Back, sends no other message.
  addEventListener('pagehide', () => port.postMessage({ on: false }));
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && isOn) port.postMessage({ on: true, url: streamUrl() });
  });
  return (on) => {
    isOn = on;
    if (own) own(on); else port.postMessage({ on, url: on ? streamUrl() : null });
  };
}

/** Follows as long as the page is seen and updates are wanted. */
export function start() {
  const hidden = signal(document.hidden);
  document.addEventListener('visibilitychange', () => { hidden.value = document.hidden; });
  const turn = 'SharedWorker' in globalThis ? shared() : alone();
  let isOn = false;
  effect(() => {
    const on = wanted.value && !hidden.value && !signedOut.value;
    if (on === isOn) return;
    isOn = on;
    turn(on);
    // Later: an effect that reads `version` would run again with it.
    if (on) setTimeout(refresh, 0); else state.value = 'paused';
  });
}

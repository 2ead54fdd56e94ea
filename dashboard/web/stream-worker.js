// The worker that all tabs of a browser share: however many there are, the server has one stream to serve.
import { follow } from './stream.js';

/** Tabs that want updates, and the URL that each follows. */
const tabs = new Map();
let following = null;
let state = 'connecting';

const tell = (message) => { for (const tab of tabs.keys()) tab.postMessage(message); };

/** Begins with the first tab that wants updates, ends with the last one. */
function settle() {
  const [url] = tabs.values();
  if (tabs.size && !following) {
    following = new AbortController();
    const { signal } = following;
    const say = (now) => { if (!signal.aborted) { state = now; tell({ state }); } };
    follow({ url, signal, say, changed: () => { if (!signal.aborted) tell({ changed: true }); } });
  } else if (!tabs.size && following) {
    following.abort();
    following = null;
    state = 'connecting';
  }
}

addEventListener('connect', ({ ports: [tab] }) => {
  tab.onmessage = ({ data: { on, url } }) => {
    if (!on) {
      tabs.delete(tab);
    } else {
      // A server that has refused a stream may allow one to the session that has begun since.
      if (state === 'paused') { following?.abort(); following = null; state = 'connecting'; }
      tabs.set(tab, url);
      tab.postMessage({ state });
    }
    settle();
  };
});

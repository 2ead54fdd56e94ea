// Reading from the server, again whenever something has happened.
import { html, useEffect, useRef, useState } from '../html.js';
import { get } from '../api.js';
import { version } from '../live.js';

/** What a path answers: `{data, fault}`. `null` as the path reads nothing. */
export function useLoad(path) {
  const [state, setState] = useState({ path, data: null, fault: null });
  const turn = useRef({ busy: null, missed: false });
  const seen = version.value;
  useEffect(() => {
    const now = turn.current;
    // The next reading begins after the last answer, however slow it is.
    if (now.busy?.path === path) { now.missed = true; return; }
    now.busy?.control.abort();
    now.busy = null;
    if (!path) return;
    const run = async () => {
      const control = new AbortController();
      now.busy = { path, control };
      now.missed = false;
      try {
        const data = await get(path, control.signal);
        if (now.busy?.control === control) setState({ path, data, fault: null });
      } catch (fault) {
        if (control.signal.aborted) return;
        // What is gone is not shown any more; after any other refusal the last answer stays, beside the refusal.
        setState((old) => ({ path, data: old.path === path && fault.status !== 404 ? old.data : null, fault }));
      }
      if (now.busy?.control !== control) return;
      now.busy = null;
      if (now.missed) run();
    };
    run();
  }, [path, seen]);
  useEffect(() => () => { turn.current.busy?.control.abort(); turn.current.busy = null; }, []);
  const known = state.path === path;
  return { data: known ? state.data : null, fault: known ? state.fault : null };
}

/** Shows what has been read, or that it is being read, or why it could not be. */
export function Loaded({ load, children, absent }) {
  const { data, fault } = load;
  if (data !== null) return html`${fault ? html`<${Fault} fault=${fault} />` : null}${children(data)}`;
  if (fault?.status === 404 && absent) return html`<p class="empty">${absent}</p>`;
  if (fault) return html`<${Fault} fault=${fault} />`;
  return html`<p class="empty" aria-busy="true">Reading…</p>`;
}

/** A refusal in the server's words. */
export function Fault({ fault }) {
  return html`<div class="fault" role="alert"><p>${fault.message}</p>${fault.hint ? html`<p>${fault.hint}</p>` : null}
    </div>`;
}

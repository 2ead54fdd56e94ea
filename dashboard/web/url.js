// The address holds the whole view: `#/jobs?state=discarded&queue=mail`. The fragment never reaches a server or a
// proxy's log.
import { signal } from './html.js';

/** `{parts: ['jobs', ID], query: {state: …}}` of a fragment. */
export function parse(fragment) {
  const [path, query = ''] = fragment.replace(/^#?\/?/, '').split('?', 2);
  return { parts: path.split('/').filter(Boolean).map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** Parameters with their `?`; empty values are left out. */
function search(query) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return kept.length ? `?${new URLSearchParams(kept)}` : '';
}

/** The fragment of a view. */
export function link(parts, query = {}) { return `#/${parts.map(encodeURIComponent).join('/')}${search(query)}`; }

/** A path of the API with its parameters. */
export function path(name, query = {}) { return `${name}${search(query)}`; }

export const route = signal(parse(location.hash));
addEventListener('hashchange', () => { route.value = parse(location.hash); });

/** Shows another view, as a new entry of the history. */
export function go(parts, query) { location.hash = link(parts, query); }

/** Changes members of the query of this view; without an entry of the history, so that Back leaves the view. */
export function refine(change) {
  const { parts, query } = route.value;
  history.replaceState(null, '', link(parts, { ...query, ...change }));
  route.value = parse(location.hash);
}

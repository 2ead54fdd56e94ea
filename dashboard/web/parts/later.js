// Screens that are fetched when they are opened.
import { html, useEffect, useState } from '../html.js';
import { Fault } from './load.js';

/** A screen that stands in a module under a name. `fetchModule` is asked again after a failure. */
export function later(fetchModule, name) {
  let Page = null;
  return (props) => {
    const [fault, setFault] = useState(null);
    const [isThere, setThere] = useState(Page !== null);
    useEffect(() => {
      if (isThere) return;
      fetchModule().then((module) => { Page = module[name]; setThere(true); }, setFault);
    }, []);
    if (isThere) return html`<${Page} ...${props} />`;
    return fault ? html`<h1>The screen could not be fetched</h1><${Fault} fault=${fault} />`
      : html`<p class="empty" aria-busy="true">Reading…</p>`;
  };
}

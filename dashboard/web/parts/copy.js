// The same thing from a shell.
import { html, useState } from '../html.js';

/** A text in quotes of a POSIX shell. */
export const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

/** A button that copies; where the browser forbids it, it shows the text. */
export function Copy({ label, text }) {
  const [state, setState] = useState('');
  const press = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      setState('shown');
    }
  };
  return html`<span><button type="button" onClick=${press}>${label}</button>
    <span role="status">${state === 'copied' ? html` <span class="dim">copied</span>` : null}
    ${state === 'shown' ? html`<code>${text}</code>` : null}</span></span>`;
}

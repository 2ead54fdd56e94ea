// The arguments of a job; encrypted ones stay closed until the codec server has opened them for this browser.
import { html, signal, useState } from '../html.js';
import { manifest } from '../api.js';
import { decrypt, sealed } from '../codec.js';
import { exact, pretty } from '../format.js';
import { Fault } from './load.js';
import { Panel } from './view.js';

/** The token for the codec server: in the memory of this page only. */
const token = signal('');

const shown = (args) => html`<pre tabindex="0" role="region" aria-label="Arguments as JSON">${pretty(args)}</pre>`;

export function Arguments({ job }) {
  const payload = sealed(job);
  return html`<${Panel} title="Arguments">${payload ? html`<${Sealed} key=${job.id} payload=${payload}
    args=${job.args} />` : shown(job.args)}<//>`;
}

function Sealed({ payload, args }) {
  const [plain, setPlain] = useState(null);
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const server = manifest.value?.codec_server_url;
  if (plain) {
    return html`<p class="dim">Decrypted in this browser. <button type="button"
      onClick=${() => setPlain(null)}>Close again</button></p>${shown(plain)}`;
  }
  // Kept with each letter: the page is drawn again whenever something happens.
  const type = (event) => { token.value = event.target.value; };
  const open = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setPlain(exact(await decrypt(server, token.value.trim(), payload)));
      setFault(null);
    } catch (refused) {
      setFault(refused);
    }
    setBusy(false);
  };
  return html`<p>They are encrypted${payload.metadata.encryption_key_id
      ? html` under the key <code>${payload.metadata.encryption_key_id}</code>` : null}.</p>
    ${server ? html`<form class="filters" onSubmit=${open}><label>Token of the codec server<input name="token"
        type="password" autocomplete="off" required value=${token.value} onInput=${type} /></label>
        <button type="submit" class="main" disabled=${busy}>Decrypt here</button></form>
        <p class="dim">This browser asks <code>${server}</code>; the job server does not get the plain text.</p>`
      : html`<p class="dim">Start the server with --codec-server-url to decrypt them in this browser.</p>`}
    ${fault ? html`<${Fault} fault=${fault} />` : null}
    <details><summary>As they are stored</summary>${shown(args)}</details>`;
}

// Asks for a key.
import { html, useEffect, useRef, useState } from '../html.js';
import { signIn } from '../api.js';
import { Fault } from '../parts/load.js';

export function SignIn() {
  const [fault, setFault] = useState(null);
  const [busy, setBusy] = useState(false);
  const field = useRef(null);
  useEffect(() => { document.title = 'Sign in · Open Job Spec'; field.current.focus(); }, []);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await signIn(field.current.value.trim());
    } catch (refusal) {
      setFault(refusal);
      setBusy(false);
      field.current.select();
    }
  };
  return html`<main class="sign-in"><h1>Sign in</h1>
    <p>This server asks for a key. <code>ojs keys add</code> makes one.</p>
    ${fault ? html`<${Fault} fault=${fault} />` : null}
    <form onSubmit=${send}><label for="key">Key</label>
      <input id="key" ref=${field} type="password" autocomplete="current-password" required spellcheck="false" />
      <button class="main" disabled=${busy}>Sign in</button></form></main>`;
}

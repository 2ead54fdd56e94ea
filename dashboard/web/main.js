// Where the page begins.
import { html, render, useEffect, useRef, useState } from './html.js';
import { offers, readManifest, session, signedOut, signOut, whoAmI } from './api.js';
import { link, route } from './url.js';
import { start, state, wanted } from './live.js';
import { theme, zone, zones } from './settings.js';
import { help, helpShown, listen, offered } from './keys.js';
import { Answers, Questions, clear } from './parts/act.js';
import { later } from './parts/later.js';
import { Job } from './pages/job.js';
import { Jobs } from './pages/jobs.js';
import { Overview } from './pages/overview.js';
import { Queue, Queues } from './pages/queues.js';
import { SignIn } from './pages/sign-in.js';
import { Workers } from './pages/workers.js';

/** Screens that few visits open; the first page is small without them. */
const bulk = () => import('./pages/bulk.js');
const dead = () => import('./pages/dead.js');
const errors = () => import('./pages/errors.js');
const types = () => import('./pages/types.js');
const tenants = () => import('./pages/tenants.js');
const endpoints = () => import('./pages/endpoints.js');
const outbox = () => import('./pages/outbox.js');
const audit = () => import('./pages/audit.js');
const cron = () => import('./pages/cron.js');
const limits = () => import('./pages/limits.js');
const trains = () => import('./pages/trains.js');
const workflows = () => import('./pages/workflows.js');

/** The screen of a name, and of one thing on it. */
const PAGES = {
  '': [Overview], queues: [Queues, Queue], jobs: [Jobs, Job], workers: [Workers],
  workflows: [later(workflows, 'Workflows'), later(workflows, 'Workflow')],
  cron: [later(cron, 'Cron'), later(cron, 'CronEntry')], trains: [later(trains, 'Trains'), later(trains, 'Train')],
  limits: [later(limits, 'Limits')], dead: [later(dead, 'Dead'), Job],
  errors: [later(errors, 'Errors'), later(errors, 'ErrorGroup')],
  bulk: [later(bulk, 'Operations'), later(bulk, 'Operation')],
  types: [later(types, 'Types')],
  tenants: [later(tenants, 'Tenants')], endpoints: [later(endpoints, 'Endpoints')],
  outbox: [later(outbox, 'Outbox')], audit: [later(audit, 'Audit')],
};

const ZONES = [['local', 'Local time'], ['utc', 'UTC'], ...zones.map((name) => [name, name])];

function Top() {
  const choose = (choice) => (event) => { choice.value = event.target.value; };
  const who = session.value;
  return html`<header class="top"><a class="name" href=${link([])}>Open Job Spec</a>
    <div class="tools">
      ${who?.name ? html`<span class="dim">${who.name}${who.role ? ` (${who.role})` : ''}</span>
        <button type="button" onClick=${signOut}>Sign out</button>` : null}
      <button type="button" aria-pressed=${wanted.value ? 'true' : 'false'}
        onClick=${() => { wanted.value = !wanted.value; }}>Live</button>
      <select aria-label="Time zone" onChange=${choose(zone)}>
        ${ZONES.map(([value, name]) => html`<option key=${value} value=${value}
          selected=${zone.value === value}>${name}</option>`)}</select>
      <select aria-label="Colours" onChange=${choose(theme)}>
        ${['system', 'light', 'dark'].map((value) => html`<option key=${value} value=${value}
          selected=${theme.value === value}>${value}</option>`)}</select>
      <button type="button" aria-label="Shortcuts" onClick=${() => { helpShown.value = true; }}>?</button>
    </div></header>`;
}

function Nav() {
  const [here = ''] = route.value.parts;
  const [shown, setShown] = useState(false);
  useEffect(() => setShown(false), [route.value]);
  return html`<nav aria-label="Screens"><button type="button" class="menu" aria-expanded=${shown ? 'true' : 'false'}
      onClick=${() => setShown(!shown)}>Menu</button>
    <ul class=${shown ? 'shown' : ''}>${offered().map(([, parts, name]) => html`<li key=${name}>
    <a href=${link(parts)} aria-current=${here === (parts[0] ?? '') ? 'page' : null}>${name}</a></li>`)}</ul></nav>`;
}

function Help() {
  const box = useRef(null);
  const shown = helpShown.value;
  useEffect(() => { if (shown && !box.current.open) box.current.showModal(); }, [shown]);
  if (!shown) return null;
  const close = () => { box.current.close(); helpShown.value = false; };
  return html`<dialog ref=${box} aria-labelledby="help" onCancel=${(event) => { event.preventDefault(); close(); }}>
    <h2 id="help">Shortcuts</h2>
    <div class="wrap" role="region" aria-label="Shortcuts" tabindex="0"><table><thead><tr><th scope="col">Keys</th><th
      scope="col">What they do</th></tr></thead>
    <tbody>${help().map(([keys, text]) => html`<tr key=${keys}><td><kbd>${keys}</kbd></td><td>${text}</td></tr>`)}
      </tbody></table></div>
    <p><button type="button" class="main" onClick=${close}>Close</button></p></dialog>`;
}

function Missing() {
  return html`<h1>There is no such screen</h1><p><a href=${link([])}>Overview</a></p>`;
}

function NotOffered() {
  return html`<h1>Not offered</h1><p>The manifest of this server does not offer what this screen shows.
    <a href=${link([])}>Overview</a></p>`;
}

function Screen() {
  const { parts } = route.value;
  const main = useRef(null);
  const address = parts.join('/');
  const first = useRef(true);
  useEffect(() => {
    clear();
    // A screen reader goes on with the new screen; the first one is read from its beginning.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [address]);
  const [name = ''] = parts;
  const [list, one] = PAGES[name] ?? [];
  const found = parts.length > 1 ? one : list;
  // A workflow can be read by its id also where no list of them is offered.
  const shown = offers().screens.has(parts.length > 1 ? `${name}/` : name) || offers().screens.has(name);
  const Page = found && !shown ? NotOffered : found;
  return html`<main ref=${main} id="main" tabindex="-1" data-screen=${address}><${Answers} />${Page
    ? html`<${Page} key=${address} id=${parts[1]} />` : html`<${Missing} />`}</main>`;
}

function App() {
  if (signedOut.value) return html`<${SignIn} />`;
  return html`<a class="skip" href="#main"
    onClick=${(event) => { event.preventDefault(); document.getElementById('main').focus(); }}>Skip to the screen</a>
    <${Top} />${state.value === 'lost' ? html`<div class="banner"
      role="status">The connection is lost; trying again. What you see may be old.</div>` : null}
    <div class="frame"><${Nav} /><${Screen} /></div><${Questions} /><${Help} />`;
}

listen();
// The sign-in screen, or the screens themselves, say why something cannot be read.
await Promise.allSettled([whoAmI(), readManifest()]);
start();
render(html`<${App} />`, document.getElementById('page'));

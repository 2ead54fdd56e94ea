// Attempts as bars on one axis of time: how long each waited, and how long it ran.
import { html } from '../html.js';
import { link } from '../url.js';
import { span, Time } from '../format.js';
import { Badge, Empty, tone } from './view.js';

export function Attempts({ attempts }) {
  if (!attempts.length) return html`<${Empty}>It has not been tried yet.<//>`;
  const now = Date.now();
  const times = attempts.map((attempt) => {
    const started = Date.parse(attempt.started_at);
    const waited = attempt.wait_ms ?? 0;
    const ended = attempt.ended_at ? Date.parse(attempt.ended_at) : now;
    return { from: started - waited, started, ended: Math.max(ended, started) };
  });
  const longest = Math.max(...times.map(({ from, ended }) => ended - from), 1);
  const share = (ms) => `${Math.max(0, (ms / longest) * 100)}%`;
  return html`<div class="wrap" role="region" aria-label="Attempts" tabindex="0"><table><thead><tr>
    ${['Attempt', 'Outcome', 'Waited and ran', 'Time', 'Worker'].map((name) => html`<th key=${name} scope="col">
      ${name}</th>`)}</tr></thead>
    <tbody>${attempts.map((attempt, n) => {
      const { from, started, ended } = times[n];
      const state = attempt.state ?? 'running';
      const said = `waited ${span(started - from)}, ran ${span(attempt.duration_ms ?? ended - started)}`;
      return html`<tr key=${`${attempt.attempt} ${attempt.started_at}`}><td>${attempt.attempt}</td><td><${Badge}
        state=${state} />
        ${attempt.error ? html`<br /><span class="dim">
          ${attempt.error.type ?? attempt.error.code}: ${attempt.error.message}</span>` : null}</td>
        <td><span class="bar" role="img" aria-label=${said}><i class="wait" style=${{ left: 0,
          width: share(started - from) }}></i>
          <i class=${tone(state) || 'warn'} style=${{ left: share(started - from), width: share(ended - started) }}>
            </i></span><span class="dim">${said}</span></td>
        <td><${Time} at=${attempt.started_at} relative=${false} /></td>
        <td>${attempt.worker_id ? html`<a href=${link(['workers'])}>${attempt.worker_id}</a>` : '–'}</td></tr>`;
    })}</tbody></table></div>`;
}

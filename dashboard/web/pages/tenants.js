// Tenants: what they have and may have; suspend, resume.
import { html } from '../html.js';
import { post } from '../api.js';
import { link, path } from '../url.js';
import { count } from '../format.js';
import { Action } from '../parts/act.js';
import { Loaded, useLoad } from '../parts/load.js';
import { pageOfAdmin, Paging } from '../parts/paging.js';
import { Badge, Panel, Table, View } from '../parts/view.js';

const at = (id, rest) => `/admin/tenants/${encodeURIComponent(id)}${rest}`;

export function Tenants() {
  const load = useLoad(path('/admin/tenants', pageOfAdmin(50)));
  const of = (limit) => (limit === null || limit === undefined ? '' : ` of ${count(limit)}`);
  return html`<${View} title="Tenants"><${Panel} title="All tenants"><${Loaded} load=${load}>${({ items,
    pagination }) => html`
    <${Table} label="Tenants" rows=${items} keyOf=${(tenant) => tenant.id} empty="There are no tenants." columns=${[
      { name: 'Tenant', cell: (tenant) => html`<a href=${link(['jobs'], { tenant: tenant.id })}>${tenant.id}</a>
        ${tenant.name ? html`<br /><span class="dim">${tenant.name}</span>` : null}` },
      { name: 'State', cell: (tenant) => html`<${Badge} state=${tenant.status} />` },
      { name: 'Running', number: true, cell: (tenant) =>
        `${count(tenant.jobs.active)}${of(tenant.limits?.max_concurrency)}` },
      { name: 'Waiting', number: true, cell: (tenant) =>
        `${count(tenant.jobs.available)}${of(tenant.limits?.max_queue_depth)}` },
      { name: 'All jobs', number: true, cell: (tenant) => count(tenant.total_jobs) },
      { name: 'Share', number: true, cell: (tenant) => tenant.limits?.fairness_weight ?? 1 },
      { name: 'Change', cell: (tenant) => (tenant.status === 'suspended'
        ? html`<${Action} label="Resume" name=${`Resume ${tenant.id}`} run=${() => post(at(tenant.id, '/resume'))}
          done=${`${tenant.id} is active again.`} />`
        : html`<${Action} label="Suspend" name=${`Suspend ${tenant.id}`} kind="bad"
          confirm=${`${tenant.id} can enqueue nothing, and none of its jobs starts, until it is resumed.`}
            run=${() => post(at(tenant.id, '/suspend'))} done=${`${tenant.id} is suspended.`} />`) },
    ]} /><${Paging} pagination=${pagination} />`}<//><//><//>`;
}

'use strict';
// What a request hands on to the jobs it makes: who, which request, which trace, which tenant, which language. An adapter binds it at the
// start of a request; `restored`, a worker's middleware, binds it again around the handler.
const { AsyncLocalStorage } = require('node:async_hooks');

/** The names in metadata (specification "Framework Adapters", section 7.1). */
const KEYS = ['ojs.context.user_id', 'ojs.context.request_id', 'traceparent', 'tenant_id', 'ojs.context.locale'];

const storage = new AsyncLocalStorage();

const present = (meta) => Object.fromEntries(Object.entries(meta ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== ''));

/** The metadata of the present request; empty outside of one. */
function current() {
  const found = storage.getStore();
  return present(typeof found === 'function' ? found() : found);
}

/** Jobs enqueued inside `work` carry this metadata: an object, or a function that is asked when a job is made. */
const run = (meta, work) => storage.run(meta, work);

const text = (value) => (value === undefined || value === null ? undefined : String(value));

/** The metadata of a request: from its headers (`header(name)`, lower case), and from what authentication has found. */
function ofRequest(header, { userId, tenantId } = {}) {
  const locale = (header('accept-language') ?? '').split(',')[0].split(';')[0].trim();
  return present({
    'ojs.context.user_id': text(userId),
    'ojs.context.request_id': header('x-request-id'),
    traceparent: header('traceparent'),
    tenant_id: text(tenantId) ?? header('x-ojs-tenant'),
    'ojs.context.locale': locale === '*' ? undefined : locale,
  });
}

/** Adds the present request's metadata; what the job says itself stays. */
function completed(request) {
  const { tenant_id: tenant, ...meta } = current();
  if (tenant !== undefined && request.options?.tenant === undefined) meta.tenant_id = tenant;
  if (Object.keys(meta).length > 0) request.meta = { ...meta, ...request.meta };
  return request;
}

/** Worker middleware: the jobs that a handler enqueues carry on what its own job carries. */
const restored = (ctx, next) => run(Object.fromEntries(KEYS.filter((name) => name in ctx.meta).map((name) => [name, ctx.meta[name]])), () => next());

module.exports = { KEYS, completed, current, ofRequest, restored, run };

// What the server of this page offers, by its manifest. Without imports of other parts: its tests need no browser.

/** Screens that every server can show, at least in part. */
const CORE = ['', 'jobs'];
/** Screens of the official admin API. */
const ADMIN = ['queues', 'workers'];
/** Screens of our own server only. */
const OWN = ['types', 'errors', 'bulk', 'audit', 'workflows', 'outbox'];
const ALL = [...CORE, ...ADMIN, ...OWN, 'dead', 'cron', 'trains', 'limits', 'tenants', 'endpoints'];

/** Names of extensions, which are texts or objects, in one list or in two. */
function names(extensions) {
  const lists = Array.isArray(extensions) ? extensions
    : [...(extensions?.official ?? []), ...(extensions?.experimental ?? [])];
  return new Set(lists.map((one) => String(one?.name ?? one?.uri ?? one).replace(/^urn:ojs:ext:/, '')));
}

/**
 * What a manifest offers: the `screens` (`workflows/` is one workflow, without the list), whether it is our own server
 * (`own`), has the official admin API (`admin`), a stream of events (`stream`), operations on many jobs (`many`),
 * pending jobs (`activate`), dead letters (`dead`), webhooks (`webhooks`) and push delivery (`push`). A manifest that
 * could not be read hides nothing.
 */
export function offersOf(manifest) {
  const own = !manifest || manifest.implementation?.name === 'ojs';
  if (own) {
    return { own, admin: true, stream: true, many: true, activate: true, dead: true, webhooks: true, push: true,
      screens: new Set(ALL) };
  }
  const level = Number(manifest.conformance_level ?? 0);
  const has = names(manifest.extensions);
  const can = (name) => manifest.capabilities?.[name] === true;
  const admin = has.has('admin-api');
  const dead = level >= 1 || can('dead_letter') || has.has('dead-letter');
  const webhooks = has.has('webhooks');
  const push = has.has('push-delivery');
  const further = { dead, cron: level >= 2 || can('cron_jobs'), trains: admin && has.has('job-trains'),
    'workflows/': level >= 3 || can('workflows'), limits: has.has('rate-limiting'),
    tenants: admin && has.has('multi-tenancy'), endpoints: webhooks || push };
  return { own, admin, stream: has.has('realtime'), many: has.has('bulk-operations'), activate: level >= 1, dead,
    webhooks, push, screens: new Set([...CORE, ...(admin ? ADMIN : []),
      ...Object.keys(further).filter((name) => further[name])]) };
}

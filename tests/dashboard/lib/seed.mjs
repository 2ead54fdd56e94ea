// A server with something on every screen.

/** Text that must be shown as text everywhere. */
export const HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>\u202Egnp.exe';

/** Fills a server; what the tests look for. */
export async function seed(server) {
  const once = { retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } };
  const made = {};
  made.mail = await server.enqueue('email.send', ['ada@example.com', { subject: 'Hello' }], { queue: 'mail' });
  for (let n = 0; n < 4; n += 1) await server.enqueue('email.send', [`user-${n}@example.com`], { queue: 'mail' });
  made.scheduled = await server.enqueue('report.build', ['monthly'], { queue: 'reports',
    scheduled_at: '2099-01-01T06:00:00Z' });
  made.pending = await server.enqueue('report.approve', [7], { queue: 'reports', pending: true }).catch(() => null);

  made.active = await server.enqueue('video.encode', ['clip.mov'], { queue: 'video' });
  await server.post('/workers/heartbeat', { worker_id: 'worker-1', queues: ['video', 'mail'], active_jobs: [],
    concurrency: 4 });
  await server.fetch('video');

  made.completed = await server.enqueue('invoice.create', [42], { queue: 'billing' });
  for (const job of await server.fetch('billing')) await server.ack(job, { pages: 3 });
  made.dead = await server.enqueue('card.charge', ['tok_1', 1999], { queue: 'billing', ...once });
  for (const job of await server.fetch('billing')) await server.nack(job, { type: 'CardDeclined',
    message: 'the card was declined' });
  made.error = (await server.get('/admin/errors?error_type=CardDeclined')).items[0].fingerprint;
  made.retrying = await server.enqueue('card.charge', ['tok_2', 500], { queue: 'billing',
    retry: { max_attempts: 5, initial_interval: 'PT1H' } });
  for (const job of await server.fetch('billing')) await server.nack(job, { message: 'attempt one' });
  made.cancelled = await server.enqueue('invoice.create', [43], { queue: 'billing' });
  await server.call('DELETE', `/jobs/${made.cancelled}`);

  for (const version of ['v1', 'v2', 'v3']) await server.enqueue('deploy.run', [version], {},
    { meta: { train_id: 'dest_7' } });
  await server.enqueue('api.sync', [1], { queue: 'sync', rate_limit: { key: 'api.example.com', concurrency: 1 } });
  await server.post('/queues/reports/pause', {});
  made.chain = (await server.post('/workflows', { type: 'chain', name: 'onboarding', steps: [
    { type: 'account.create', args: ['ada'] }, { type: 'email.send', args: ['welcome'] }, { type: 'survey.plan',
      args: [] },
  ] })).workflow.id;
  await server.post('/workflows', { type: 'group', name: 'thumbnails', jobs: [
    { type: 'image.scale', args: [64] }, { type: 'image.scale', args: [256] },
  ] });
  await server.post('/cron', { name: 'nightly', cron: '0 3 * * *', 
    timezone: 'Pacific/Auckland', job_template: { type: 'report.build', args: ['daily'] } });
  await server.call('PUT', '/admin/tenants/acme', { name: 'Acme' }).catch(() => null);
  await server.enqueue('email.send', ['of acme'], { queue: 'mail' }, { meta: { tenant_id: 'acme' } }).catch(() => null);
  await server.post('/webhooks/subscriptions', { url: 'http://127.0.0.1:9/hooks', events: ['job.failed'],
    secret: 'whsec_test_secret' });
  await server.post('/push/endpoints', { endpoint: 'http://127.0.0.1:9/jobs', job_types: ['never.pushed'] });
  await relays(server);
  return made;
}

/** What two relays say of themselves; the server takes relays for silent that have not said it lately. */
export async function relays(server) {
  await server.post('/relays/beat', { id: '4711-0193', name: 'shop-1', database: 'postgresql', outbox: 'ojs_outbox',
    leading: true, waiting: 12, oldest_waiting_ms: 340, sent: 48_210 });
  await server.post('/relays/beat', { id: '815-0193', name: 'billing-2', database: 'mysql', outbox: 'ojs_outbox',
    waiting: 10_000, waiting_more: true, oldest_waiting_ms: 754_000, parked: 2, sent: 1377,
    error: 'cannot connect to https://jobs.example.com' });
}

// What single screens say of trouble elsewhere: dead deliveries, endpoints that fail, limits that are full; and long
// lists.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { launch, open, settled, visit } from './lib/browser.mjs';
import { HOSTILE } from './lib/seed.mjs';
import { Server } from './lib/server.mjs';

let browser; let server; let receiver; let base;
/** The status that a path of the receiver answers with; 200 without one. */
const statuses = new Map();

before(async () => {
  receiver = createServer((request, answer) => {
    request.resume();
    answer.statusCode = statuses.get(request.url) ?? 200;
    answer.end('{}');
  });
  receiver.listen(0, '127.0.0.1');
  [browser, server] = await Promise.all([launch(), Server.start(), once(receiver, 'listening')]);
  base = `http://127.0.0.1:${receiver.address().port}`;
});

after(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
});

/** A screen of its own for a test, without any fault at the end. */
async function on(fragment, use) {
  const page = await open(browser);
  await visit(page, server, fragment);
  await use(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

test('a delivery that was given up is shown as dead, and is sent again', async () => {
  statuses.set('/hooks', 400);
  await server.post('/webhooks/subscriptions', { url: `${base}/hooks`, events: ['queue.paused'],
    secret: 'whsec_test_secret' });
  await on('#/endpoints', async (page) => {
    const deliveries = page.getByRole('table', { name: 'Deliveries' });
    await server.enqueue('a.b', [], { queue: 'hooked' });
    await server.post('/admin/queues/hooked/pause', {});
    await deliveries.locator('.badge.bad', { hasText: 'dead' }).waitFor();
    const [dead] = (await server.get('/webhooks/deliveries?status=dead')).deliveries;
    statuses.delete('/hooks');
    await deliveries.getByRole('button', { name: `Send again ${dead.id}` }).click();
    await page.getByText('It is sent again.').waitFor();
    await deliveries.locator('.badge.good', { hasText: 'delivered' }).waitFor();
    assert.equal((await server.get(`/webhooks/deliveries/${dead.id}`)).delivery.status, 'delivered');
  });
});

test('an endpoint that has failed says why, and how often in a row', async () => {
  statuses.set('/jobs', 503);
  await server.post('/push/endpoints', { endpoint: `${base}/jobs`, job_types: ['a.pushed'] });
  await on('#/endpoints', async (page) => {
    const row = page.getByRole('table', { name: 'Push endpoints' }).locator('tr', { hasText: `${base}/jobs` });
    await row.getByText('–').waitFor();
    await server.enqueue('a.pushed', [], { queue: 'pushed', retry: { max_attempts: 1 } });
    await row.getByText('503').waitFor();
    const { endpoints: [endpoint] } = await server.get('/push/endpoints');
    assert.ok(endpoint.consecutive_failures > 0, JSON.stringify(endpoint));
    await row.getByText(endpoint.last_failure.reason).waitFor();
  });
});

test('limits say what runs, what waits, what the rate is, and when the next one may start', async () => {
  const limit = { key: 'api.example.com', concurrency: 1 };
  for (let n = 0; n < 2; n += 1) await server.enqueue('a.limited', [n], { queue: 'limited', rate_limit: limit });
  const slow = { key: 'slow.example.com', rate: { limit: 1, period: 'PT1H' } };
  for (let n = 0; n < 2; n += 1) await server.enqueue('a.slow', [n], { queue: 'slow', rate_limit: slow });
  for (const queue of ['limited', 'slow']) assert.equal((await server.fetch(queue, { count: 2 })).length, 1);
  await on('#/limits', async (page) => {
    const table = page.getByRole('table', { name: 'Limits' });
    const cells = async (key) => {
      const row = table.locator(`tr[data-row="${key}"] td`);
      return (await row.allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim());
    };
    const heads = (await table.locator('th').allTextContents()).map((text) => text.trim());
    const of = (row, name) => row[heads.indexOf(name)];
    const full = await cells('api.example.com');
    assert.deepEqual(['State', 'Running', 'Waiting', 'Next start'].map((name) => of(full, name)),
      ['full', '1 of 1', '1', '–']);
    const rated = await cells('slow.example.com');
    assert.deepEqual(['Rate', 'Waiting'].map((name) => of(rated, name)), ['1 of 1 in PT1H', '1']);
    const { rate } = await server.get('/rate-limits/slow.example.com');
    const next = await table.locator('tr[data-row="slow.example.com"] time').getAttribute('datetime');
    assert.equal(Date.parse(next), Date.parse(rate.window_resets_at));
  });
});

test('the key / goes to the search of the screen; without one, to the jobs', () => on('#/dead', async (page) => {
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.closest('label').textContent), 'Error');
  await page.keyboard.type('a/b');
  assert.equal(await page.evaluate(() => document.activeElement.value), 'a/b', 'in a field it is a letter');
  await visit(page, server, '#/audit');
  await page.keyboard.press('/');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await settled(page, 'jobs');
}));

test('a relay that is stuck says what holds it up, and the list follows it without an event', async () => {
  const say = (more) => server.post('/relays/beat', { id: 'r1', name: HOSTILE, database: 'mysql',
    outbox: 'ojs_outbox', ...more });
  await say({ waiting: 10_000, waiting_more: true, oldest_waiting_ms: 90_000, error: 'no route to the server' });
  await on('#/outbox', async (page) => {
    const table = page.getByRole('table', { name: 'Relays' });
    await table.locator('.badge.bad', { hasText: 'stuck' }).waitFor();
    await table.getByText('no route to the server').waitFor();
    await table.getByText('10,000+').waitFor();
    await say({ leading: true, sent: 3 });
    await table.locator('.badge.good', { hasText: 'running' }).waitFor();
    await table.getByText('it is the one that sends').waitFor();
    await page.getByLabel('State').selectOption('silent');
    await page.getByText('No relay has reported lately.').waitFor();
    await page.getByLabel('State').selectOption('');
    await table.waitFor();
    await say({ stopping: true });
    await page.getByText('No relay has reported lately.').waitFor();
  });
});

test('the overview names relays that are stuck, and leads to them', async () => {
  const own = await Server.start();
  const page = await open(browser);
  const say = (id, more) => own.post('/relays/beat', { id, name: id, database: 'mysql', outbox: 'o', ...more });
  const stuck = { waiting: 3, oldest_waiting_ms: 90_000 };
  try {
    await say('r1', {});
    await visit(page, own);
    await page.getByText('Nothing on this page needs attention.').waitFor();
    await say('r1', stuck);
    await say('r2', stuck);
    await visit(page, own, '#/queues');
    await visit(page, own);
    await page.getByRole('link', { name: '2 relays are stuck: rows wait in the outbox.' }).click();
    const table = page.getByRole('table', { name: 'Relays' });
    await table.getByText('oldest').first().waitFor();
    assert.equal(await table.locator('.badge.bad', { hasText: 'stuck' }).count(), 2);
    await say('r2', { stopping: true });
    await visit(page, own);
    await page.getByRole('link', { name: '1 relay is stuck: rows wait in the outbox.' }).waitFor();
    assert.deepEqual(page.faults, []);
  } finally {
    await page.context().close();
    await own.stop();
  }
});

test('more than 100 workers are shown page after page, each once', async () => {
  const own = await Server.start();
  const page = await open(browser);
  try {
    const beat = { queues: ['q'], active_jobs: [], concurrency: 1 };
    for (let n = 0; n < 120; n += 1) await own.post('/workers/heartbeat', { ...beat, worker_id: `box-${n}` });
    await visit(page, own, '#/workers');
    await page.getByText('120 in all').waitFor();
    const seen = new Set();
    const next = page.getByRole('button', { name: 'Next' });
    for (const rows of [50, 50, 20]) {
      const names = await page.locator('main tr[data-row]').evaluateAll((found) => found.map((row) => row.dataset.row));
      assert.equal(names.length, rows);
      names.forEach((name) => seen.add(name));
      if (await next.isDisabled()) break;
      await next.click();
      await page.locator(`tr[data-row="${names[0]}"]`).waitFor({ state: 'detached' });
      await settled(page);
    }
    assert.equal(seen.size, 120);
    assert.deepEqual(page.faults, []);
  } finally {
    await page.context().close();
    await own.stop();
  }
});

test('the next runs of a cron entry show the change of its clock', async () => {
  await server.post('/cron', { name: 'autumn', cron: '30 2 1,15 4,9 *', timezone: 'Pacific/Auckland',
    job_template: { type: 'report.build', args: [] } });
  const { next_runs: runs } = await server.get('/cron/autumn?next=10');
  await on('#/cron/autumn', async (page) => {
    const shown = page.getByRole('table', { name: 'Next runs' });
    await shown.waitFor();
    assert.equal(await shown.locator('tbody tr').count(), 10);
    assert.equal(await shown.locator('time').first().getAttribute('datetime'), new Date(runs[0]).toISOString());
    assert.equal(await shown.getByText(/ 02:30:00$/).count(), 10, 'always half past two in Auckland');
    // Between the first and the fifteenth of April, and between September and April, the clock changes.
    assert.ok(await shown.getByText('GMT+13 → GMT+12').count() > 0);
    assert.ok(await shown.getByText('GMT+12 → GMT+13').count() > 0);
  });
});

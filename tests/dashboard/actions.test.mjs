// Every button of every screen, and what the server says afterwards.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { launch, open, visit } from './lib/browser.mjs';
import { Server } from './lib/server.mjs';

let browser; let server; let receiver; const received = [];

before(async () => {
  receiver = createServer((request, answer) => {
    received.push(request.url);
    request.resume();
    answer.end('{"status":"completed"}');
  });
  receiver.listen(0, '127.0.0.1');
  [browser, server] = await Promise.all([launch(), Server.start(), once(receiver, 'listening')]);
});

after(async () => {
  await browser?.close();
  await server?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
});

/** Presses a button, answers yes when it asks, and waits for what the page says then, not for what it said before. */
async function press(page, name, said, { asks = false } = {}) {
  const before = page.locator('main .notice');
  if (await before.count()) {
    await before.getByRole('button', { name: 'Close' }).click();
    await before.waitFor({ state: 'detached' });
  }
  const button = page.locator('main').getByRole('button', { name, exact: true });
  const label = await button.textContent();
  await button.click();
  if (asks) await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
  await page.getByRole('status').getByText(said).waitFor();
}

/** A screen of its own for a test, without any fault at the end. */
async function on(fragment, use) {
  const page = await open(browser);
  await visit(page, server, fragment);
  await use(page);
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

test('queues pause and resume', () => on('#/queues', async (page) => {
  await server.enqueue('a.b', [], { queue: 'switched' });
  await press(page, 'Pause switched', 'Queue switched is paused.');
  assert.equal((await server.get('/admin/queues/switched')).paused, true);
  await press(page, 'Resume switched', 'Queue switched runs again.');
  assert.equal((await server.get('/admin/queues/switched')).paused, false);
}));

test('a pending job is promoted, cancelled and deleted', async () => {
  const id = await server.enqueue('a.pending', [], { queue: 'buttons', pending: true });
  await on(`#/jobs/${id}`, async (page) => {
    await press(page, 'Promote', 'The job is available.');
    assert.equal((await server.get(`/jobs/${id}`)).job.state, 'available');
    await press(page, 'Cancel', 'The job is cancelled.', { asks: true });
    assert.equal((await server.get(`/jobs/${id}`)).job.state, 'cancelled');
    await page.getByRole('button', { name: 'Delete' }).click();
    const gone = page.getByText('There is no such job');
    // The browser itself writes a refused reading to the console.
    page.removeAllListeners('console');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await gone.waitFor();
  });
  await server.call('GET', `/jobs/${id}`, undefined, { status: 404 });
});

test('selected jobs are cancelled, and those that cannot be are named', async () => {
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push(await server.enqueue('a.b', [n], { queue: 'selected' }));
  await server.call('DELETE', `/jobs/${ids[0]}`);
  await on('#/jobs?queue=selected', async (page) => {
    await page.getByLabel('Select all rows of this page').check();
    await press(page, 'Cancel', '2 cancelled, 1 skipped', { asks: true });
    for (const id of ids) assert.equal((await server.get(`/jobs/${id}`)).job.state, 'cancelled');
  });
});

test('jobs are read page after page, and Back leads to the page before', async () => {
  const bodies = Array.from({ length: 120 }, (_, n) => ({ type: 'a.paged', args: [n], options: { queue: 'paged' } }));
  for (let from = 0; from < bodies.length; from += 60) {
    await server.post('/jobs/batch', { jobs: bodies.slice(from, from + 60) });
  }
  await on('#/jobs?queue=paged&order=asc', async (page) => {
    const found = page.locator('main').getByRole('table', { name: 'Jobs' });
    const shown = (n) => found.getByText(`[${n}]`, { exact: true });
    const press = (name) => page.locator('main').getByRole('button', { name, exact: true }).click();
    await shown(0).waitFor();
    await press('Next');
    await shown(50).waitFor();
    await press('Next');
    await shown(119).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled(), true);
    await page.goBack();
    await shown(50).waitFor();
    await press('First page');
    await shown(0).waitFor();
  });
});

test('a cron entry is run, disabled, enabled and deleted', async () => {
  await server.post('/cron', { name: 'often', cron: '0 4 * * *', job_template: { type: 'a.cron', args: [] } });
  await on('#/cron', async (page) => {
    await press(page, 'Run now: often', /^Job .+ of often is enqueued\./);
    assert.equal((await server.get('/admin/jobs?type=a.cron')).items.length, 1);
    await press(page, 'Disable often', 'often is disabled.');
    assert.equal((await server.get('/cron/often')).cron.enabled, false);
    await press(page, 'Enable often', 'often is enabled.');
    assert.equal((await server.get('/cron/often')).cron.enabled, true);
    await press(page, 'Delete often', 'often is deleted.', { asks: true });
    await server.call('GET', '/cron/often', undefined, { status: 404 });
  });
});

test('a worker is made quiet, resumed and stopped', async () => {
  const worker = { worker_id: 'box-1', queues: ['q'], active_jobs: [], concurrency: 2 };
  const beat = () => server.post('/workers/heartbeat', worker);
  await beat();
  await on('#/workers', async (page) => {
    await press(page, 'Quiet box-1', 'box-1 fetches no more jobs');
    assert.equal((await beat()).directive ?? (await beat()).state, 'quiet');
    await press(page, 'Stop box-1', 'box-1 stops', { asks: true });
    assert.equal((await server.get('/admin/workers/box-1')).directive, 'terminate');
  });
});

test('a train is held and goes on', async () => {
  await server.enqueue('a.train', [], { queue: 'rails' }, { meta: { train_id: 'north' } });
  await server.enqueue('a.train', [], { queue: 'rails' }, { meta: { train_id: 'north' } });
  await on('#/trains/north', async (page) => {
    await press(page, 'Hold north', 'Train north is held.');
    assert.equal((await server.get('/trains/north')).state, 'held');
    await press(page, 'Advance north', 'Train north goes on.', { asks: true });
    assert.notEqual((await server.get('/trains/north')).state, 'held');
  });
});

test('a bulk operation is resumed, and one is cancelled', async () => {
  const jobs = Array.from({ length: 10_000 }, (_, n) => ({ type: 'a.bulk', args: [n], options: { queue: 'bulky' } }));
  await server.post('/jobs/bulk', { jobs });
  const begin = async () => {
    const filter = { queue: 'bulky', state: 'available' };
    const { id } = await server.post('/admin/bulk', { action: 'cancel', filter, reason: 'a test', confirm: true },
      { status: 202 });
    assert.equal((await server.post(`/admin/bulk/${id}/pause`)).state, 'paused');
    return id;
  };
  const [first, second] = [await begin(), await begin()];
  await on('#/bulk?state=paused', async (page) => {
    await press(page, `Cancel ${second}`, 'The operation is cancelled.', { asks: true });
    await press(page, `Resume ${first}`, 'The operation goes on.');
  });
  assert.equal((await server.get(`/admin/bulk/${second}`)).state, 'cancelled');
  assert.equal((await server.get(`/admin/bulk/${first}?wait_ms=60000`)).state, 'completed');
  await on(`#/bulk/${first}`, async (page) => {
    await page.getByText('a test', { exact: true }).waitFor();
    await page.getByText('No job was refused.').waitFor();
  });
  assert.equal((await server.get('/admin/jobs?queue=bulky&state=available')).items.length, 0);
});

test('a tenant is suspended and resumed', async () => {
  await server.call('PUT', '/admin/tenants/globex', { name: 'Globex' });
  await on('#/tenants', async (page) => {
    await press(page, 'Suspend globex', 'globex is suspended.', { asks: true });
    assert.equal((await server.get('/admin/tenants/globex')).status, 'suspended');
    await press(page, 'Resume globex', 'globex is active again.');
    assert.equal((await server.get('/admin/tenants/globex')).status, 'active');
  });
});

test('a workflow is cancelled', async () => {
  const steps = [{ type: 'a.step', args: [] }];
  const { workflow } = await server.post('/workflows', { type: 'chain', name: 'doomed', steps });
  await on(`#/workflows/${workflow.id}`, async (page) => {
    await press(page, 'Cancel', 'The workflow is cancelled.', { asks: true });
    assert.equal((await server.get(`/workflows/${workflow.id}`)).workflow.state, 'cancelled');
  });
});

test('endpoints are tried and paused: the request arrives', async () => {
  const base = `http://127.0.0.1:${receiver.address().port}`;
  await server.post('/push/endpoints', { endpoint: `${base}/jobs`, job_types: ['never.pushed'] });
  const hook = { url: `${base}/hooks`, events: ['queue.paused'], secret: 'whsec_test_secret' };
  await server.post('/webhooks/subscriptions', hook);
  await on('#/endpoints', async (page) => {
    await press(page, `Test ${base}/jobs`, 'The endpoint has taken it');
    await press(page, `Test ${base}/hooks`, 'The endpoint has taken it');
    assert.ok(received.includes('/jobs') && received.includes('/hooks'), received.join());
    await press(page, `Pause ${base}/jobs`, `${base}/jobs is paused.`);
    assert.equal((await server.get('/push/endpoints')).endpoints[0].active, false);
    await press(page, `Pause ${base}/hooks`, `${base}/hooks is paused.`);
    assert.equal((await server.get('/webhooks/subscriptions')).subscriptions[0].active, false);
  });
});

test('the override of a limit is ended', async () => {
  await server.enqueue('a.limited', [], { queue: 'limited', rate_limit: { key: 'api.example.com', concurrency: 3 } });
  await server.call('PUT', '/rate-limits/api.example.com', { concurrency: 1, expires_at: '2099-01-01T00:00:00Z' });
  await on('#/limits', async (page) => {
    await page.getByText('overridden').waitFor();
    await press(page, 'End override of api.example.com', 'has its own limits again');
    assert.equal((await server.get('/rate-limits/api.example.com')).concurrency.limit, 3);
  });
});

test('the store is checked when asked for', () => on('#/audit', async (page) => {
  await page.getByRole('button', { name: 'Check the store' }).click();
  await page.getByText('jobs compared').waitFor();
  assert.equal(await page.getByText('sound').count(), 1);
}));

test('a refusal stands on the page in the server\'s words', async () => {
  const id = await server.enqueue('a.b', [], { queue: 'raced' });
  await on(`#/jobs/${id}`, async (page) => {
    // Ended between the reading and the press.
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const [job] = await server.fetch('raced');
    await server.ack(job, 'done');
    page.removeAllListeners('console');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal((await server.get(`/jobs/${id}`)).job.state, 'completed');
  });
});

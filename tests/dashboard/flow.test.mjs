// What people do: find, read, change, watch it change.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, open, settled, visit } from './lib/browser.mjs';
import { binary, Server } from './lib/server.mjs';

const ONCE = { retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } };
let browser; let server;

before(async () => { [browser, server] = await Promise.all([launch(), Server.start()]); });
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A job that has failed for good. */
async function dead(queue, args = []) {
  const id = await server.enqueue('card.charge', args, { queue, ...ONCE });
  const [job] = await server.fetch(queue);
  await server.nack(job, { type: 'CardDeclined', message: 'the card was declined' });
  return id;
}

test('by keyboard alone: find a discarded job, read its error, retry it, see it complete', async () => {
  const id = await dead('keys');
  const other = await server.enqueue('report.build', [], { queue: 'other' });
  const page = await open(browser);
  await visit(page, server);
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await settled(page);
  await page.locator(`tr[data-row="${other}"]`).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('state:discarded queue:keys');
  await page.keyboard.press('Enter');
  // The list before the search has the row, too.
  await page.locator(`tr[data-row="${other}"]`).waitFor({ state: 'detached' });
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  // The field has the focus still, where letters are text.
  await page.keyboard.press('Tab');
  await page.keyboard.press('j');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), id);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, 'none', 'the focus is seen');
  await page.keyboard.press('Enter');
  await page.getByText('the card was declined').first().waitFor();
  for (let n = 0; n < 40; n += 1) {
    if (await page.evaluate(() => document.activeElement.textContent) === 'Retry') break;
    await page.keyboard.press('Tab');
  }
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Retry');
  await page.keyboard.press('Enter');
  await page.getByText('The job starts afresh.').waitFor();
  await page.locator('.badge', { hasText: 'available' }).first().waitFor();
  const [job] = await server.fetch('keys');
  assert.equal(job.id, id);
  await page.locator('.badge', { hasText: 'active' }).first().waitFor();
  await server.ack(job, 'paid');
  await page.locator('.badge', { hasText: 'completed' }).first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a job of another process shows in an open list by itself, and the selected row stays', async () => {
  const first = await server.enqueue('report.build', [1], { queue: 'live' });
  const page = await open(browser);
  await visit(page, server, '#/jobs?queue=live');
  await page.locator(`tr[data-row="${first}"] input[type=checkbox]`).check();
  await page.evaluate(() => { window.sameDocument = true; });
  const second = await server.enqueue('report.build', [2], { queue: 'live' });
  await page.locator(`tr[data-row="${second}"]`).waitFor();
  assert.ok(await page.locator(`tr[data-row="${first}"] input[type=checkbox]`).isChecked());
  assert.ok(await page.evaluate(() => window.sameDocument), 'without a reload');
  await page.context().close();
});

test('the server goes away and comes back: the page says so, and catches up', async () => {
  const other = await Server.start();
  const port = new URL(other.url).port;
  const page = await open(browser);
  await visit(page, other, '#/queues');
  await other.stop();
  await page.getByText('The connection is lost').waitFor();
  const again = await Server.start('--listen', `127.0.0.1:${port}`);
  try {
    await again.enqueue('report.build', [], { queue: 'back-again' });
    await page.getByRole('link', { name: 'back-again' }).waitFor();
    await page.getByText('The connection is lost').waitFor({ state: 'detached' });
  } finally {
    await again.stop();
  }
  await page.context().close();
});

test('the address is the view: it opens in a fresh browser, and Back returns to the list with its filter', async () => {
  const id = await dead('shared');
  const address = '#/jobs?state=discarded&queue=shared';
  const page = await open(browser);
  await visit(page, server, address);
  await page.locator(`tr[data-row="${id}"] a`).first().click();
  await page.getByRole('button', { name: 'Retry', exact: true }).waitFor();
  await page.goBack();
  await page.locator(`tr[data-row="${id}"]`).waitFor();
  assert.ok(page.url().endsWith(address));
  assert.equal(await page.getByLabel('State').inputValue(), 'discarded');
  await page.context().close();
});

test('a search that is misspelt finds nothing and says which part is wrong; an id opens its job', async () => {
  const id = await server.enqueue('report.build', [3], { queue: 'search' });
  const page = await open(browser);
  await visit(page, server, '#/jobs?queue=search');
  for (const [text, said] of [['quue:x', "'quue:' is not a word"], ['a state:nosuch', "'state:nosuch'"], ['queue:',
    'a value is missing']]) {
    await page.getByLabel('Search').fill(text);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: said }).waitFor();
  }
  await page.getByLabel('Search').fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Job report.build' }).waitFor();
  await page.context().close();
});

test('the reason of a job that waits stands on its page, and goes when the reason goes', async () => {
  const id = await server.enqueue('report.build', [4], { queue: 'why' });
  await server.post('/admin/queues/why/pause', {});
  const page = await open(browser);
  await visit(page, server, `#/jobs/${id}`);
  await page.getByText("Queue 'why' is paused.").waitFor();
  await page.getByText('ojs queues resume why').waitFor();
  await page.getByRole('link', { name: 'What holds it' }).click();
  await page.getByRole('button', { name: 'Resume why' }).click();
  await page.getByText('Queue why runs again.').waitFor();
  await page.goBack();
  await settled(page, `jobs/${id}`);
  await page.getByRole('heading', { name: 'Why is it not running?' }).waitFor();
  await page.getByText("Queue 'why' is paused.").waitFor({ state: 'detached' });
  assert.equal((await server.get('/admin/queues/why')).paused, false);
  await page.context().close();
});

test('many dead letters: one is retried, the selected ones, then all that the filter finds; deletion asks first',
  async () => {
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push(await dead('many', [n]));
  const kept = await dead('others');
  const page = await open(browser);
  await visit(page, server, '#/dead?queue=many');
  await page.getByRole('button', { name: `Retry ${ids[0]}` }).click();
  await page.locator(`tr[data-row="${ids[0]}"]`).waitFor({ state: 'detached' });
  for (const id of [ids[1], ids[2]]) await page.getByLabel(`Select ${id}`).check();
  await server.post('/queues/many/pause');
  await page.getByRole('button', { name: 'Preview selected' }).click();
  const preview = page.getByRole('region', { name: 'If they ran again' });
  await preview.getByText('0 would run, 2 would wait, 0 would be refused.').waitFor();
  await preview.getByText("Queue 'many' is paused.").waitFor();
  await server.post('/queues/many/resume');
  await preview.getByText("Queue 'many' is paused.").waitFor({ state: 'detached' });
  await preview.getByText("No worker that sends heartbeats fetches from queue 'many'.").waitFor();
  await preview.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Retry selected' }).click();
  await page.getByText('2 retried.').waitFor();
  await page.locator(`tr[data-row="${ids[2]}"]`).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete all 2' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
  assert.equal((await server.get('/admin/dead-letter?queue=many')).pagination.total, 2);
  await page.getByRole('button', { name: 'Retry all 2' }).click();
  await page.getByRole('dialog').getByText('0 would run, 2 would wait, 0 would be refused.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry all 2' }).click();
  await page.getByRole('heading', { name: 'Bulk operation', exact: true }).waitFor();
  await page.locator('main').getByText('completed', { exact: true }).waitFor();
  await page.getByText('2 of 2').waitFor();
  await page.goBack();
  await page.getByText('There are no dead letters.').waitFor();
  assert.equal((await server.get('/admin/dead-letter?queue=many')).pagination.total, 0);
  assert.equal((await server.get('/admin/dead-letter?queue=others')).items[0].id, kept);
  await page.context().close();
});

test('attempts are bars with the times of the API, and numbers beyond 2^53 stay as they came', async () => {
  const id = await server.post('/jobs', { type: 'card.charge', args: [], options: { queue: 'bars',
    retry: { max_attempts: 3, initial_interval: 'PT1H' } } })
    .then(({ job }) => job.id);
  const [job] = await server.fetch('bars');
  await server.nack(job, { message: 'first' });
  const { attempts: [attempt] } = await server.get(`/jobs/${id}/history`);
  const body = '{"type":"big.number","args":[9007199254740993],"options":{"queue":"big"}}';
  const made = await fetch(`${server.url}/ojs/v1/jobs`, { method: 'POST',
    headers: { 'content-type': 'application/json' }, body });
  const page = await open(browser);
  await visit(page, server, `#/jobs/${id}`);
  const bar = page.getByRole('img', { name: `waited ${attempt.wait_ms} ms, ran ${attempt.duration_ms} ms` });
  await bar.waitFor();
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.getByText('The job is available.').waitFor();
  await visit(page, server, `#/jobs/${(await made.json()).job.id}`);
  await page.getByText('[9007199254740993]').waitFor();
  await page.context().close();
});

test('what is copied runs as it is: the command makes the same job again, curl reads it', async () => {
  const args = ["it's", { deep: [1, 'two "three"'] }];
  const id = await server.enqueue('copy.me', args, { queue: 'copies' });
  const page = await open(browser);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await visit(page, server, `#/jobs/${id}`);
  const copied = async (name) => {
    await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name }).locator('xpath=..').getByText('copied').waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const shell = async (command) => {
    const env = { ...process.env, OJS_URL: server.url, PATH: `${dirname(binary())}:${process.env.PATH}` };
    return (await promisify(execFile)('sh', ['-c', command], { env })).stdout;
  };
  assert.equal(JSON.parse(await shell(await copied('Copy as curl'))).job.id, id);
  await shell(await copied('Copy as CLI'));
  const { items } = await server.get('/admin/jobs?queue=copies');
  assert.equal(items.length, 2);
  assert.deepEqual(items.map((job) => job.args), [args, args]);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

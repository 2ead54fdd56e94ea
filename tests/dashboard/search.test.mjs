// Searching for jobs by what is in them, and changing all that is found.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findings, launch, open, settled, visit } from './lib/browser.mjs';
import { Server } from './lib/server.mjs';

const ONCE = { retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } };
let browser; let server;

before(async () => { [browser, server] = await Promise.all([launch(), Server.start()]); });
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A job that has failed for good. */
async function dead(queue, args, message = 'no answer') {
  const id = await server.enqueue('card.charge', args, { queue, ...ONCE });
  const [job] = await server.fetch(queue);
  await server.nack(job, { type: 'TimeoutError', message });
  return id;
}

const rows = (page) => page.locator('main tr[data-row]').evaluateAll((all) => all.map((row) => row.dataset.row));

test('args.0:42 state:discarded -queue:low finds exactly the seeded jobs; a misspelt word finds none', async () => {
  const found = [await dead('mail', [42]), await dead('mail', [42, 'more'])];
  await dead('mail', [421]);
  await dead('low', [42]);
  await server.enqueue('card.charge', [42], { queue: 'mail' });
  const page = await open(browser);
  await visit(page, server, '#/jobs');
  await page.getByLabel('Search').fill('args.0:42 state:discarded -queue:low');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('main tr[data-row]').length === 2);
  assert.deepEqual(await rows(page), found.toReversed());
  // The address is the whole search.
  const other = await open(browser);
  await other.goto(page.url());
  await settled(other, 'jobs');
  assert.deepEqual(await rows(other), found.toReversed());
  await other.context().close();
  await page.getByLabel('Search').fill('state:discarded quue:x');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: "In the search, 'quue:x'" }).waitFor();
  assert.deepEqual(await rows(page), []);
  assert.deepEqual(page.faults.filter((fault) => !fault.includes('400')), []);
  await page.context().close();
});

test('suggestions come while one types, and arrows choose one', async () => {
  await server.enqueue('report.build', [], { queue: 'reports-of-today' });
  const page = await open(browser);
  await visit(page, server, '#/jobs');
  const field = page.getByRole('combobox', { name: 'Search' });
  const names = page.waitForResponse((answer) => answer.url().includes('/admin/queues'));
  await field.focus();
  await names;
  await page.keyboard.type('-queue:reports');
  const option = page.getByRole('option', { name: '-queue:reports-of-today' });
  await option.waitFor();
  assert.equal(await field.getAttribute('aria-activedescendant'), null);
  await page.keyboard.press('ArrowDown');
  assert.equal(await field.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
  assert.equal(await option.getAttribute('aria-selected'), 'true');
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press('Enter');
  assert.equal(await field.inputValue(), '-queue:reports-of-today ');
  await page.keyboard.type('sta');
  await page.getByRole('option', { name: 'state:' }).click();
  await page.keyboard.type('disc');
  await page.getByRole('option', { name: 'state:discarded' }).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.suggestions').count(), 0);
  assert.equal(await field.inputValue(), '-queue:reports-of-today state:disc');
  // From a key to the suggestions on the screen, measured in the page itself.
  const waited = await page.evaluate(async () => {
    const input = document.querySelector('input[name=q]');
    const shown = new Promise((done) => {
      new MutationObserver(() => { if (document.querySelector('[role=option]')) done(performance.now()); })
        .observe(document.querySelector('main'), { childList: true, subtree: true });
    });
    const began = performance.now();
    input.value = 'que';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    return await shown - began;
  });
  assert.ok(waited < 100, `${waited} ms`);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('all that a search finds is retried: the question says how many these are', async () => {
  const found = [];
  for (let n = 0; n < 60; n += 1) found.push(await dead('bulk', [{ customer: 7, n }], 'the bank is closed'));
  const kept = await dead('bulk', [{ customer: 8 }], 'the bank is closed');
  const page = await open(browser);
  await visit(page, server, '#/jobs');
  assert.equal(await page.getByRole('button', { name: 'Retry all' }).count(), 0, 'not for all jobs of the server');
  await page.getByLabel('Search').fill('args.customer:7 error:"bank is closed" queue:bulk');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Retry all' }).click();
  await page.getByRole('dialog').getByText('60 jobs (60 discarded) start afresh.').waitFor();
  assert.deepEqual(await findings(page), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Retry all' }).click();
  await page.getByRole('heading', { name: 'Bulk operation', exact: true }).waitFor();
  await page.locator('main').getByText('completed', { exact: true }).waitFor();
  await page.getByText('60 of 60').waitFor();
  const { items } = await server.get('/admin/jobs?queue=bulk&state=discarded');
  assert.deepEqual(items.map((job) => job.id), [kept]);
  await page.goBack();
  await settled(page, 'jobs');
  await page.getByRole('button', { name: 'Cancel all' }).click();
  await page.getByRole('dialog').getByText('60 jobs (60 available) will not run.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
  // What cannot be changed is said, in the place of a question.
  await page.getByRole('button', { name: 'Delete all' }).click();
  await page.getByRole('alert').filter({ hasText: 'No job that is found can be changed' }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

// Every screen, with data and without: it shows, in light and dark, wide and narrow, and breaks no rule of
// accessibility or of the policy.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findings, launch, open, settled, visit } from './lib/browser.mjs';
import { relays, seed } from './lib/seed.mjs';
import { Server } from './lib/server.mjs';

const SCREENS = ['', 'queues', 'jobs', 'types', 'errors', 'dead', 'workflows', 'cron', 'workers', 'trains', 'limits',
  'tenants', 'endpoints', 'outbox', 'audit', 'bulk'];
const LOOKS = [
  { width: 1280, dark: false }, { width: 1280, dark: true }, { width: 320, dark: false }, { width: 320, dark: true },
];
/** Set, the pictures of the guide are written anew. */
const PICTURES = process.env.OJS_PICTURES ? fileURLToPath(new URL('../../docs/guide/dashboard/', import.meta.url))
  : null;
let browser; let full; let empty; let made;

before(async () => {
  [browser, full, empty] = await Promise.all([launch(), Server.start(), Server.start()]);
  made = await seed(full);
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
});

after(async () => {
  await browser?.close();
  await Promise.all([full?.stop(), empty?.stop()]);
});

/** The screens of single things, by what the seed made. */
const single = () => ({
  'job-discarded': `jobs/${made.dead}`, 'job-scheduled': `jobs/${made.scheduled}`,
    'job-retryable': `jobs/${made.retrying}`, 'job-active': `jobs/${made.active}`,
  'job-completed': `jobs/${made.completed}`, queue: 'queues/mail', workflow: `workflows/${made.chain}`,
    train: 'trains/dest_7', 'cron-entry': 'cron/nightly', error: `errors/${made.error}`,
});

/** Looks at the screen that is shown: nothing is refused, wider than the window, or against a rule. */
async function inspect(page, name, only) {
  assert.equal(await page.locator('.fault').count(), 0, `${name}: ${await page.locator('.fault').allTextContents()}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${name} is ${wide} px wider than the window`);
  assert.deepEqual(await findings(page, { only }), [], name);
}

test('every screen, light and dark, at 1280 and at 320 px', async () => {
  const page = await open(browser);
  const screens = [...SCREENS.map((name) => [name || 'overview', name]), ...Object.entries(single())];
  for (const [name, fragment] of screens) {
    if (name === 'outbox') await relays(full);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await visit(page, full, `#/${fragment}`);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}${name}.png` });
    for (const { width, dark } of LOOKS) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
      // The other rules know no colours: light has them all.
      await inspect(page, `${name} at ${width} px, ${dark ? 'dark' : 'light'}`, dark ? ['color-contrast'] : undefined);
    }
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the first screen fetches 60 kB at most, and no screen that few visits open', async () => {
  const page = await open(browser);
  const answers = [];
  page.on('response', (answer) => { if (answer.url().includes('/ui/')) answers.push(answer); });
  await visit(page, full);
  const bytes = await Promise.all(answers.map(async (answer) => Number(await answer.headerValue('content-length'))));
  const sum = bytes.reduce((all, more) => all + more, 0);
  assert.ok(sum > 30_000 && sum <= 60_000, `${sum} bytes`);
  const names = answers.map((answer) => answer.url().split('/').at(-1));
  assert.ok(names.includes('overview.js') && !names.includes('audit.js'), names.join(' '));
  await visit(page, full, '#/audit');
  assert.ok(answers.some((answer) => answer.url().endsWith('/pages/audit.js')));
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('every screen of a server that holds nothing', async () => {
  const page = await open(browser);
  for (const name of SCREENS) {
    await visit(page, empty, `#/${name}`);
    await inspect(page, name || 'overview');
    if (name !== '') assert.ok(await page.locator('.empty').count() > 0, `${name} says that there is nothing`);
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('what is not there is said, not broken', async () => {
  const page = await open(browser);
  await visit(page, full, '#/jobs/01890000-0000-7000-8000-000000000000');
  await page.getByText('There is no such job').waitFor();
  await visit(page, full, '#/nothing');
  await page.getByText('There is no such screen').waitFor();
  await page.context().close();
});

test('the help lists every shortcut, and the chart fetches its library only when it is opened', async () => {
  const page = await open(browser);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await visit(page, full);
  assert.ok(!asked.some((url) => url.includes('uPlot')), 'the first page fetches no chart');
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('next row').waitFor();
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('summary', { hasText: 'Chart' }).click();
  await page.locator('.chart canvas').waitFor();
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the hours of the week agree with the API, in the chosen zone and over the change of its clocks', async () => {
  const page = await open(browser);
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await visit(page, full);
  assert.ok(!asked.some((url) => url.endsWith('/heat.js')), 'the first page does not fetch it');
  await page.locator('summary', { hasText: 'By weekday and hour' }).click();
  const table = page.getByRole('table', { name: /^Jobs completed in the last 4 weeks/ });
  await table.waitFor();
  const { items } = await full.get('/admin/stats/history?period=1h');
  const shown = () => table.locator('td').evaluateAll((cells) => cells.map((cell) => Number(cell.textContent)));
  for (const [zone, choice] of [['Europe/Berlin', 'local'], ['Pacific/Auckland', 'Pacific/Auckland']]) {
    await page.getByLabel('Time zone').selectOption(choice);
    const expected = Array(7 * 24).fill(0);
    for (const { timestamp, processed } of items) {
      const [day, hour] = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', timeZone: zone })
        .format(new Date(timestamp)).split(/, | /);
      expected[['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(day) * 24 + Number(hour)] += processed;
    }
    assert.ok(expected.some((jobs) => jobs > 0));
    assert.deepEqual(await shown(), expected, zone);
  }
  for (const { width, dark } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await inspect(page, `the hours at ${width} px, ${dark ? 'dark' : 'light'}`);
  }
  await page.getByLabel('Jobs that are shown').selectOption('failed');
  await page.getByRole('table', { name: /^Jobs failed in the last 4 weeks/ }).waitFor();
  // In Auckland the hour from two o'clock on comes twice when summer time ends.
  const sums = await page.evaluate(async (url) => {
    const { byHour } = await import(url);
    const at = (hour) => ({ timestamp: `2026-04-04T${hour}:00:00.000Z`, failed: 1 });
    return byHour([12, 13, 14, 15].map(at), 'failed')[6].slice(0, 5);
  }, asked.find((url) => url.endsWith('/heat.js')));
  assert.deepEqual(sums, [0, 1, 2, 1, 0]);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the zone and the colours that were chosen hold on every screen and after a reload', async () => {
  const page = await open(browser);
  await visit(page, full, `#/jobs/${made.scheduled}`);
  // Berlin is an hour ahead in January.
  await page.getByText('2099-01-01 07:00:00').first().waitFor();
  await page.getByLabel('Time zone').selectOption('utc');
  await page.getByText('2099-01-01 06:00:00').first().waitFor();
  // Auckland has summer time in January, and the cron entry of the seed runs there at three in the morning.
  await page.getByLabel('Time zone').selectOption('Pacific/Auckland');
  await page.getByText('2099-01-01 19:00:00').first().waitFor();
  await visit(page, full, '#/cron');
  assert.match(await page.locator('tr[data-row=nightly] time').first().textContent(), / 03:00:00 /);
  await visit(page, full, `#/jobs/${made.scheduled}`);
  await page.getByLabel('Time zone').selectOption('utc');
  await page.getByText('2099-01-01 06:00:00').first().waitFor();
  await page.getByLabel('Colours').selectOption('dark');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), 'rgb(18, 21, 27)');
  await page.reload();
  await settled(page);
  await page.getByText('2099-01-01 06:00:00').first().waitFor();
  assert.equal(await ground(), 'rgb(18, 21, 27)');
  await page.context().close();
});

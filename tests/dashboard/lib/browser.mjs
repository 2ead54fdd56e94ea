// A real Chromium, and pages that note everything that must not happen.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Generous: a busy machine is slow, and nothing waits for longer than it must. */
const PATIENCE_MS = Number(process.env.OJS_PATIENCE_MS ?? 60_000);

function executable() {
  const places = [process.env.OJS_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.filter(Boolean).find(existsSync);
  if (!found) throw new Error('no Chromium: scripts/setup.sh chromium, or name one in OJS_CHROMIUM');
  return found;
}

/** Starts the browser; it is closed by `close()`. */
export function launch() {
  // A container's root may have no sandbox of its own.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: executable(), args, headless: true });
}

/** A page in a profile of its own. `faults` grows by whatever must not happen. */
export async function open(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light',
    reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Europe/Berlin' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults = [];
  page.on('console', (message) => { if (['error',
    'warning'].includes(message.type())) faults.push(`console: ${message.text()}`); });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`CSP ${event.violatedDirective} ${event.blockedURI}`));
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    const here = page.url().startsWith('http') ? new URL(page.url()).origin : asked.origin;
    if (asked.protocol !== 'data:' && asked.origin !== here) faults.push(`request to ${request.url()}`);
  });
  return Object.assign(page, { faults });
}

/** Shows a screen and waits until it has read all it shows. */
export async function visit(page, server, fragment = '') {
  await page.goto(`${server.page}${fragment}`);
  await settled(page, fragment);
}

/** Waits until the screen of this fragment, or any, has read all it shows. */
export async function settled(page, fragment) {
  const screen = fragment?.replace(/^#?\/?/, '').split('?')[0].split('/').map(decodeURIComponent).join('/');
  await page.waitForFunction((wanted) => {
    const main = document.querySelector('main[data-screen]');
    return main?.querySelector('h1') && (wanted === undefined || main.dataset.screen === wanted)
      && !document.querySelector('[aria-busy=true]');
  }, screen);
}

/** What axe finds that is serious or worse, in lines. */
export async function findings(page, { only } = {}) {
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe);
  const options = { resultTypes: ['violations'], ...(only ? { runOnly: { type: 'rule', values: only } } : {}) };
  const { violations } = await page.evaluate((wanted) => globalThis.axe.run(document, wanted), options);
  const bad = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  return bad.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0,
    160)} (${any[0]?.message ?? ''})`).join(' | ')}`);
}

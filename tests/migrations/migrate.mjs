// Migrates the outbox tables that its input names, see run.py.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import { Outbox } from '../../node/outbox.mjs';

// The drivers are those of the adapters' tests.
const require = createRequire(new URL('../../node/adapters/ojs-adapter-express/test/support.mjs', import.meta.url));
const url = process.argv[2];
const knex = require('knex');
const database = knex({ client: url.startsWith('mysql:') ? 'mysql2' : 'pg', connection: url });
await database.raw('SELECT 1');
console.log('ready');
for await (const table of createInterface({ input: process.stdin })) {
  await new Outbox({ url: 'memory:', table, relay: false }).migrate(database);
  console.log('done');
}
await database.destroy();

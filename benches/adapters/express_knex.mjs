// Express with Knex: `db.transaction` with one row, without and with `req.ojs.enqueueAfterCommit`.
import { SERVER, inRequest, report, require, turns, url } from './turns.mjs';

const knex = require('knex');
const { instrument, ojsMiddleware } = require('ojs-adapter-express');

const db = instrument(knex({ client: 'pg', connection: url }));
const ojs = ojsMiddleware({ url: SERVER, database: db, relay: false, sameDatabase: false });
await ojs.outbox.migrate();
await db.schema.createTable('users', (table) => {
  table.bigIncrements();
  table.text('email');
});

await inRequest(ojs, async (req) => {
  for (const staged of turns()) {
    await db.transaction(async (trx) => {
      const [user] = await trx('users').insert({ email: 'ada@example.com' }).returning('id');
      if (staged) req.ojs.enqueueAfterCommit('email.welcome', [user.id]);
    });
  }
});

report('Express, Knex', (await db('ojs_outbox').count())[0].count);
await ojs.close();
await db.destroy();

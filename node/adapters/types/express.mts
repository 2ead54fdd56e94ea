// Compiled, never run: what users of the adapters write has these types.
import express from 'express';
import { instrument, ojsMiddleware, requestContext, transaction } from 'ojs-adapter-express';
import knex from 'knex';

const db = instrument(knex({ client: 'pg', connection: process.env.DATABASE_URL }));
const ojs = ojsMiddleware({
  url: process.env.OJS_URL, database: db, userId: (req) => req.get('x-user'), outbox: { enabled: true, table_name: 'app_outbox', poll_interval: 'PT1S', batch_size: 100 },
});
const app = express().use(ojs);
app.post('/signup', async (req, res) => {
  const user: { id: number } = await db.transaction(async (trx) => {
    const [user] = await trx('users').insert({ email: req.body.email }).returning('id');
    req.ojs.enqueueAfterCommit('email.welcome', [user.id]);
    await req.ojs.enqueueAfterCommit('email.welcome', [user.id], { transaction: trx, queue: 'mail' });
    return user;
  });
  await req.ojs.enqueueBulk([{ type: 'a' }]);
  res.json({ id: user.id, meta: req.ojs.meta, current: requestContext.current() });
});
const number: number = await transaction(db, async () => 1);
await (await ojs.start()).close(number);

ojsMiddleware({
  adapter: { ojs_url: 'http://localhost:8080', backend_type: 'external', outbox: { enabled: true, table_name: 'ojs_outbox', poll_interval: 'PT1S', batch_size: 100 } },
  database: db,
});
// @ts-expect-error a misspelt setting
ojsMiddleware({ tabel: 'x' });

// Express with pg: `req.ojs.transaction` with one row, without and with `req.ojs.enqueueAfterCommit`.
import { SERVER, inRequest, report, require, turns, url } from './turns.mjs';

const pg = require('pg');
const { ojsMiddleware } = require('ojs-adapter-express');

const pool = new pg.Pool({ connectionString: url });
const ojs = ojsMiddleware({ url: SERVER, database: pool, databaseUrl: url, relay: false, sameDatabase: false });
await ojs.outbox.migrate();
await pool.query('CREATE TABLE users (id bigserial PRIMARY KEY, email text)');

await inRequest(ojs, async (req) => {
  for (const staged of turns()) {
    await req.ojs.transaction(pool, async (client) => {
      const { rows: [user] } = await client.query('INSERT INTO users (email) VALUES ($1) RETURNING id', ['ada@example.com']);
      if (staged) req.ojs.enqueueAfterCommit('email.welcome', [user.id]);
    });
  }
});

report('Express, pg', (await pool.query('SELECT count(*) FROM ojs_outbox')).rows[0].count);
await ojs.close();
await pool.end();

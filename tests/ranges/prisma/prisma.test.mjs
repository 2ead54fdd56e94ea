// Prisma, by its driver adapter for PostgreSQL: jobs join its transactions, as the README of ojs-adapter-express says.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { PrismaPg } from '@prisma/adapter-pg';
import { ojsMiddleware } from '../index.mjs';
import { defer, postgres, server } from './support.mjs';

const { PrismaClient } = createRequire(import.meta.url)('./prisma-client');

/** A database with a table of users, Prisma and an outbox. */
async function shop(t) {
  const databaseUrl = await postgres(t);
  const { url, sent } = await server(t);
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: databaseUrl }) });
  defer(t, () => prisma.$disconnect());
  await prisma.$executeRawUnsafe('CREATE TABLE users (id SERIAL PRIMARY KEY, email TEXT NOT NULL)');
  const ojs = ojsMiddleware({ url, databaseUrl, pollInterval: 50 });
  defer(t, () => ojs.close(0));
  const execute = (tx) => (sql, params = []) => tx.$queryRawUnsafe(sql, ...params);
  const connection = (tx) => ({ database: 'postgresql', execute: execute(tx) });
  await ojs.outbox.migrate(connection(prisma));
  return { prisma, outbox: ojs.outbox, connection, sent };
}

test('FA-001 a job of a transaction that commits is sent', async (t) => {
  const { prisma, outbox, connection, sent } = await shop(t);
  const user = await prisma.$transaction(async (tx) => {
    const made = await tx.user.create({ data: { email: 'ada@example.com' } });
    const options = { transaction: connection(tx), meta: { k: '50 % $1' } };
    await outbox.enqueueAfterCommit('email.welcome', [made.id, 2n ** 60n], options);
    assert.deepEqual((await outbox.staged(connection(tx))).map(({ args }) => args), [[made.id, 2n ** 60n]]);
    return made;
  });
  const [job] = await sent(1);
  assert.deepEqual([job.type, job.args, job.meta.k], ['email.welcome', [user.id, 2n ** 60n], '50 % $1']);
});

test('FA-002 a rollback takes its jobs along', async (t) => {
  const { prisma, outbox, connection, sent } = await shop(t);
  await assert.rejects(prisma.$transaction(async (tx) => {
    await tx.user.create({ data: { email: 'ada@example.com' } });
    await outbox.enqueueAfterCommit('email.welcome', [1], { transaction: connection(tx) });
    throw new Error('the payment was refused');
  }), /refused/);
  await prisma.$transaction((tx) => outbox.enqueueAfterCommit('email.welcome', [2], { transaction: connection(tx) }));
  assert.deepEqual((await sent(1)).map(({ args }) => args), [[2]]);
  assert.equal(await prisma.user.count(), 0);
});

'use strict';
// Transactions that jobs join by themselves: Knex's own, once `instrument(db)` was called, and `transaction(database, work)` with any driver.
const { connectionOf, isKnex, isPgClient, isPgPool, isSqlite } = require('./databases.cjs');
const { OJSOutboxError } = require('./outbox_error.cjs');
const { TransactionScope, current } = require('./transaction_scope.cjs');

/** The scope of a transaction that is open, by its handle. */
const scopes = new WeakMap();
/** Knex instances that were instrumented: an outbox relays them all. */
const instrumented = new Set();
const hooked = new WeakSet();
let names = 0;

/**
 * Has jobs join the transactions of a Knex instance: `enqueueAfterCommit()` inside of the callback of `db.transaction()` belongs to it, and need
 * not be awaited. Returns the instance.
 */
function instrument(db) {
  if (instrumented.has(db)) return db;
  if (!isKnex(db) || db.isTransaction) throw new OJSOutboxError('instrument(db) takes a Knex instance');
  connectionOf(db); // says what it does not know
  instrumented.add(db);
  const { client } = db;
  const { destroy } = client;
  client.destroy = (...given) => {
    instrumented.delete(db);
    return destroy.apply(client, given);
  };
  hook(client, db);
  return db;
}

/** Every transaction of Knex is made by this method of its client; a nested one by that of the outer one's client. */
function hook(client, root) {
  if (hooked.has(client)) return;
  hooked.add(client);
  const plain = client.transaction;
  client.transaction = (container, config, outer) => {
    const begin = () => plain.call(client, (trx) => enter(trx, container, root), config, outer);
    const around = outer && scopes.get(outer.transactor);
    // What is on its way into the outer transaction must not be written behind the savepoint.
    return around?.busy ? around.drain().then(begin) : begin();
  };
}

function enter(trx, container, root) {
  const scope = new TransactionScope(connectionOf(trx), scopes.get(trx.parentTransaction));
  scope.root = root;
  scopes.set(trx, scope);
  hook(trx.client, root);
  const { commit, rollback } = trx;
  let committed = false;
  trx.commit = async (value) => {
    await scope.settle();
    committed = true;
    const answer = await commit(value);
    // What PostgreSQL answers when a statement had failed and the failure was not looked at.
    if (answer?.response?.command === 'ROLLBACK') committed = false;
    await scope.close(committed);
    return answer;
  };
  trx.rollback = async (error) => {
    await scope.drain();
    committed = false;
    await scope.close(false);
    return rollback(error);
  };
  // A commit that fails, a connection that is lost.
  trx.executionPromise.catch(() => scope.close(false));
  return scope.run(() => container(trx));
}

/**
 * Runs `work(connection)` in a transaction of a pg pool or client, a Knex instance or transaction, or a better-sqlite3 database, and commits when it
 * has resolved; a savepoint inside of another one. Jobs of `enqueueAfterCommit()` belong to it, and need not be awaited.
 */
async function transaction(database, work) {
  if (isKnex(database)) return (database.isTransaction ? database : instrument(database)).transaction(async (trx) => work(trx));
  if (isSqlite(database)) return inSqlite(database, work);
  if (isPgClient(database)) return inPg(database, work);
  if (!isPgPool(database)) throw new OJSOutboxError('transaction(database, work) takes a pool or client of pg, a Knex, or a better-sqlite3 database');
  const client = await database.connect();
  let lost;
  try {
    return await inPg(client, work);
  } catch (error) {
    // A client whose transaction may be open must not be used again.
    lost = client.getTransactionStatus?.() === 'I' ? undefined : error;
    throw error;
  } finally {
    client.release(lost);
  }
}

async function inPg(client, work) {
  const parent = scopes.get(client);
  const name = `ojs_${(names += 1)}`;
  const [begin, commit, rollback] = parent === undefined && client.getTransactionStatus?.() !== 'T'
    ? ['BEGIN', 'COMMIT', 'ROLLBACK'] : [`SAVEPOINT ${name}`, `RELEASE SAVEPOINT ${name}`, `ROLLBACK TO SAVEPOINT ${name}`];
  const scope = new TransactionScope(connectionOf(client), parent);
  await parent?.drain(); // what is on its way must not be written behind the savepoint
  await client.query(begin);
  scopes.set(client, scope);
  try {
    const result = await scope.run(async () => work(client));
    await scope.settle();
    const { command } = await client.query(commit);
    if (command === 'ROLLBACK') throw new OJSOutboxError('the transaction was rolled back: a statement in it had failed', { code: 'rolled_back' });
    await scope.close(true);
    return result;
  } catch (error) {
    await scope.drain();
    if (scope.state === 'open') await client.query(rollback).catch(() => {});
    await scope.close(false);
    throw error;
  } finally {
    if (parent) scopes.set(client, parent);
    else scopes.delete(client);
  }
}

async function inSqlite(db, work) {
  const outer = current();
  const scope = new TransactionScope(connectionOf(db), outer?.connection.handle === db ? outer : undefined);
  try {
    const result = db.transaction(() => {
      const value = scope.run(() => work(db));
      if (typeof value?.then === 'function') {
        value.then(() => {}, () => {});
        throw new OJSOutboxError('a transaction of better-sqlite3 cannot wait: its function must not be async', { code: 'asynchronous' });
      }
      return value;
    })();
    await scope.close(true);
    return result;
  } catch (error) {
    await scope.close(false);
    throw error;
  }
}

module.exports = { instrument, instrumented, scopes, transaction };

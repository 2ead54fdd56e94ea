// FA-001, FA-002, FA-003 with every driver, for whatever makes an outbox.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OJSOutboxError, requestContext } from '@openjobspec/sdk/outbox';
import { DRIVERS, PATIENCE, shopOf } from './support.mjs';

const argsOf = (jobs) => jobs.map(({ args }) => args[0]).sort();

/** Registers the tests. `make(t, options)` gives the outbox that applications use; it is closed after the test. */
export function matrix(make) {
  const shop = shopOf(make);
  for (const driver of Object.keys(DRIVERS)) {
    describe(driver, () => {
      test('FA-001 a job is sent after the commit, under the id that it had from the beginning', async (t) => {
        const { outbox, transaction, insert, users, sent, client } = await shop(t, driver);
        let staged;
        await transaction(function* (tx) {
          yield insert(tx, 1);
          staged = outbox.enqueueAfterCommit('email.welcome', [1, 2n ** 60n], { meta: { k: '50 % ?' }, priority: 7 });
        });
        const { id } = await staged;
        const [job] = await sent(1);
        assert.deepEqual([job.id, job.type, job.args, job.meta.k, job.priority], [id, 'email.welcome', [1, 2n ** 60n], '50 % ?', 7]);
        assert.deepEqual(await users(), [1]);
        assert.equal((await client.getJob(id)).state, 'active');
      });

      test('FA-002 a rollback takes its jobs along', async (t) => {
        const { outbox, transaction, insert, users, sent } = await shop(t, driver);
        await assert.rejects(transaction(function* (tx) {
          yield insert(tx, 1);
          outbox.enqueueAfterCommit('a', [1]);
          throw new Error('the payment was refused');
        }), /refused/);
        await transaction(function* () {
          outbox.enqueueAfterCommit('a', [2]);
        });
        assert.deepEqual(argsOf(await sent(1)), [2]);
        assert.deepEqual(await users(), []);
      });

      test('scenario 48: savepoints that are rolled back, and committed, inside of a transaction that commits', async (t) => {
        const { outbox, transaction, nested, insert, sent, users } = await shop(t, driver);
        await transaction(function* (tx) {
          outbox.enqueueAfterCommit('a', [1]);
          try {
            yield nested(tx, function* (inner) {
              yield insert(inner, 1);
              outbox.enqueueAfterCommit('a', [2]);
              throw new Error('back');
            });
          } catch { /* the outer one goes on */ }
          yield nested(tx, function* (inner) {
            yield insert(inner, 2);
            outbox.enqueueAfterCommit('a', [3]);
          });
        });
        assert.deepEqual(argsOf(await sent(2)), [1, 3]);
        assert.deepEqual(await users(), [2]);
      });

      test('a savepoint that was committed goes with the outermost transaction', async (t) => {
        const { outbox, transaction, nested, sent } = await shop(t, driver);
        await assert.rejects(transaction(function* (tx) {
          yield nested(tx, function* () {
            outbox.enqueueAfterCommit('a', [1]);
          });
          throw new Error('back');
        }), /back/);
        await outbox.enqueueAfterCommit('a', [2]);
        await outbox.close();
        assert.deepEqual(argsOf(await sent(1)), [2]);
      });

      test('many jobs at once, in the order of the list, or none', async (t) => {
        const { outbox, transaction, sent } = await shop(t, driver);
        const jobs = (from) => [0, 1, 2].map((number) => ({ type: 'a', args: [from + number], queue: 'default' }));
        await assert.rejects(transaction(function* () {
          outbox.enqueueBulkAfterCommit(jobs(0));
          throw new Error('back');
        }), /back/);
        await assert.rejects(transaction(function* () {
          outbox.enqueueBulkAfterCommit([...jobs(3), { type: 'a', args: [], id: 'none' }]);
        }), { name: 'OJSValidationError' });
        await transaction(function* () {
          outbox.enqueueBulkAfterCommit(jobs(6));
        });
        assert.deepEqual((await sent(3)).map(({ args }) => args[0]), [6, 7, 8]);
      });

      test('outside of a transaction a job is sent at once', async (t) => {
        const { outbox, db, client } = await shop(t, driver);
        assert.equal((await outbox.enqueueAfterCommit('a', [1])).state, 'available');
        if (driver !== 'pg') assert.equal((await outbox.enqueueAfterCommit('a', [2], { transaction: db })).state, 'available');
        const [bulk] = await outbox.enqueueBulk([{ type: 'a', args: [3] }]);
        assert.equal((await client.getJob(bulk.id)).state, 'available');
      });

      test('a read-only transaction, and a table that is not there: errors that say what to do', async (t) => {
        const { outbox, readOnly } = await shop(t, driver);
        await assert.rejects(readOnly(function* () {
          outbox.enqueueAfterCommit('a', [1]);
        }), (error) => error instanceof OJSOutboxError && error.code === 'read_only_transaction' && /enqueue\(\)/.test(error.message) && error.cause !== undefined);
        const missing = await shop(t, driver, { migrate: false });
        await assert.rejects(missing.transaction(function* () {
          missing.outbox.enqueueAfterCommit('a', [1]);
        }), (error) => error instanceof OJSOutboxError && error.code === 'no_outbox_table' && /migrate/.test(error.message));
        await assert.rejects(async () => missing.outbox.staged(), { name: 'OJSOutboxError', code: 'no_outbox_table' });
      });

      test('two databases have an outbox and a relay each; a table of another name', async (t) => {
        const [one, two] = [await shop(t, driver), await shop(t, driver, { table: 'other_outbox' })];
        await one.transaction(function* () {
          one.outbox.enqueueAfterCommit('a', [1]);
        });
        await assert.rejects(two.transaction(function* () {
          two.outbox.enqueueAfterCommit('a', ['lost']);
          throw new Error('back');
        }), /back/);
        await two.transaction(function* () {
          two.outbox.enqueueAfterCommit('a', [2]);
        });
        assert.deepEqual([argsOf(await one.sent(1)), argsOf(await two.sent(1))], [[1], [2]]);
      });

      test('FA-002 a connection that is lost in mid-transaction takes its jobs along, and its pool goes on', async (t) => {
        const { outbox, transaction, cut, insert, users, sent } = await shop(t, driver);
        await assert.rejects(transaction(function* (tx) {
          outbox.enqueueAfterCommit('a', ['lost']);
          yield insert(tx, 1);
          // A file has no connection: its process ends, or the transaction does.
          if (cut) yield cut(tx);
          else throw new Error('the end');
          yield insert(tx, 2);
        }));
        await transaction(function* (tx) {
          yield insert(tx, 3);
          outbox.enqueueAfterCommit('a', ['kept']);
        });
        assert.deepEqual([argsOf(await sent(1)), await users()], [['kept'], [3]]);
      });

      test('scenario 50: what cannot be staged rolls the transaction back when the error is ignored', async (t) => {
        const { outbox, transaction, insert, users, sent } = await shop(t, driver);
        outbox.client.useEnqueue('refuse', async (request, next) => {
          if (request.args[0] === 'bad') throw new Error('refused by a middleware');
          return next(request);
        });
        await assert.rejects(transaction(function* (tx) {
          yield insert(tx, 1);
          outbox.enqueueAfterCommit('a', ['bad']);
        }), /refused by a middleware|dropped the job/);
        await transaction(function* (tx) {
          yield insert(tx, 2);
          try {
            yield () => outbox.enqueueAfterCommit('a', ['bad']);
          } catch { /* looked at: it is ours */ }
          outbox.enqueueAfterCommit('a', ['good']);
        });
        assert.deepEqual(argsOf(await sent(1)), ['good']);
        assert.deepEqual(await users(), [2]);
      });

      test('FA-003 rows of an earlier process are sent by the relay that starts later; scenario 49: a test sees its jobs without a commit', async (t) => {
        const { outbox, transaction, sent } = await shop(t, driver, { relay: false });
        let seen;
        await assert.rejects(transaction(function* (tx) {
          yield () => outbox.enqueueAfterCommit('a', [0]);
          seen = outbox.staged(tx);
          yield () => seen;
          throw new Error('a test rolls back');
        }), /a test rolls back/);
        assert.deepEqual((await seen).map(({ type, args }) => [type, args]), [['a', [0]]]);
        assert.deepEqual(await outbox.staged(), []);
        await transaction(function* () {
          for (let number = 1; number <= 5; number += 1) outbox.enqueueAfterCommit('a', [number]);
        });
        assert.equal((await outbox.staged()).length, 5);
        const relay = await outbox.relay().start();
        assert.deepEqual((await sent(5)).map(({ args }) => args[0]), [1, 2, 3, 4, 5], 'in the order of the calls');
        // Rows are marked after they were sent: as much time as it takes, not the five seconds of an application that ends.
        await relay.stop(PATIENCE);
        assert.equal(relay.running, false);
        assert.deepEqual(await outbox.staged(), []);
      });

      test('without an outbox jobs wait in memory for the commit', async (t) => {
        const { outbox, transaction, nested, sent } = await shop(t, driver, { enabled: false });
        await requestContext.run({ tenant_id: 'acme' }, async () => {
          await assert.rejects(transaction(function* () {
            outbox.enqueueAfterCommit('a', [1]);
            throw new Error('back');
          }), /back/);
          await transaction(function* (tx) {
            outbox.enqueueAfterCommit('a', [2]);
            yield nested(tx, function* () {
              outbox.enqueueAfterCommit('a', [3]);
            });
          });
        });
        const jobs = await sent(2);
        assert.deepEqual(argsOf(jobs), [2, 3]);
        assert.ok(jobs.every(({ meta }) => meta.tenant_id === 'acme'));
      });
    });
  }
}

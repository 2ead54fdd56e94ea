'use strict';
const { OJSOutboxError } = require('./errors.cjs');

const READ_ONLY = new Set(['25006', 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'SQLITE_READONLY', 'SQLITE_READONLY_DBMOVED']);

/** What a driver says about writing a row, in words that say what to do. */
function explained(error, table) {
  if (READ_ONLY.has(error?.code)) {
    return new OJSOutboxError('a job cannot be staged in a read-only transaction: send it at once with enqueue(), or make the transaction read-write',
      { code: 'read_only_transaction', cause: error });
  }
  if (error?.code === '42P01' || error?.code === 'ER_NO_SUCH_TABLE' || /no such table/.test(error?.message)) {
    return new OJSOutboxError(`there is no table ${table}: run 'await outbox.migrate(database)' once, or 'ojs relay migrate'`,
      { code: 'no_outbox_table', cause: error });
  }
  return error;
}

module.exports = { OJSOutboxError, explained };

// One implementation for both kinds of modules, as in index.mjs.
import outbox from './lib/outbox.cjs';

export default outbox;
export const { Outbox, OJSOutboxError, Relay, TABLE, instrument, migration, requestContext, transaction } = outbox;

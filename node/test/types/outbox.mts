// Compiled, never run: the outbox has these types.
import { OJSClient, OJSError, OJSWorker, type Job } from '@openjobspec/sdk';
import outbox, { OJSOutboxError, Outbox, Relay, instrument, migration, requestContext, transaction } from '@openjobspec/sdk/outbox';

const client = new OJSClient('memory:');
const box = new Outbox({ client, database: {}, table: 'app_outbox', pollInterval: '1s', batchSize: 10, sameDatabase: false });
new Outbox('http://localhost:8080');
const job: Job<[number]> = await box.enqueueAfterCommit<[number]>('email.welcome', [7], { queue: 'mail', transaction: {} });
const own = { database: 'postgresql' as const, execute: async (sql: string, params?: (string | null)[]) => [sql, params] };
await box.add(own, 'a', [job.id], { priority: 3 });
const { sql, params } = await box.stage({ type: 'a' }, { database: 'sqlite' });
const count: number = await box.transaction(own, async () => sql.length + params.length);
const text: string = await transaction({}, () => String(count));
const db = instrument(Object.assign(() => text, { raw: () => 1 }));
db.raw();
migration('sqlite').map((statement) => statement.length);
const relay = await new Relay(client, 'postgres://localhost/app', { migrate: true }).start();
const sent: number | undefined = relay.status()?.sent;
new OJSWorker({ client }).use('context', requestContext.restored);
const meta = requestContext.run({ tenant_id: 'acme' }, () => requestContext.current());
const error: OJSError = new OJSOutboxError('no');
console.log(sent, meta, error, outbox.TABLE);

// @ts-expect-error a database that has no outbox
migration('oracle');
// @ts-expect-error a misspelt setting
new Outbox({ tabel: 'x' });

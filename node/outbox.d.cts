/// <reference types="node" />
import { OJSError } from './index.cjs';
import type { CallOptions, ConnectionOptions, Duration, EnqueueOptions, ExecutionMiddleware, Job, JobLike, JsonOf, OJSClient } from './index.cjs';

/** What says which database a statement is for. */
export type DatabaseKind = 'postgresql' | 'mysql' | 'sqlite';

/** Any other driver's connection, inside a transaction. */
export interface ConnectionLike {
  database: DatabaseKind;
  /** `$1` is `numeric_dollar`, the default for PostgreSQL; `?` is `qmark`. */
  style?: 'numeric_dollar' | 'qmark';
  execute(sql: string, params?: (string | null)[]): unknown;
}
/**
 * A connection or transaction of the application: a client of pg, a transaction of Knex, a better-sqlite3 database, or a
 * {@link ConnectionLike} for any other driver. Known by what it can do, so none of these packages is needed.
 */
export type TransactionHandle = ConnectionLike | object | ((...args: any[]) => any);
/** What connections come from: a pg Pool or Client, a Knex, a better-sqlite3 database. */
export type DatabaseHandle = object | ((...args: any[]) => any);

/** How a relay works. */
export interface RelayOptions {
  // gen:node/settings.d.j2:relay (make gen; do not edit)
  /** The table. Without it `ojs_outbox`. */
  table?: string;
  /** How often it looks when it is not woken. Without it `1 s`. */
  pollInterval?: Duration;
  /** Most rows in one request, 1 to 1000. Without it `1000`. */
  batchSize?: number;
  /** How long rows are kept after they were sent. Without it `24 h`. */
  retention?: Duration;
  /** Makes the tables first. Without it `false`. */
  migrate?: boolean;
  // gen:end
}

/** Settings of an adapter as the specification prints them, for what comes from a file. */
export interface AdapterConfig {
  ojs_url?: string;
  /** `external`: jobs go through the outbox table. `database`: the server shares the application's PostgreSQL. Found out when it is left out. */
  backend_type?: 'external' | 'database' | (string & {});
  outbox?: OutboxConfig;
}
/** The settings of the outbox in there. */
export interface OutboxConfig extends Omit<OutboxOptions, 'url' | 'client' | 'adapter' | 'outbox'> {
  table_name?: string;
  poll_interval?: Duration;
  batch_size?: number;
}

export interface OutboxOptions extends AdapterConfig, Omit<RelayOptions, 'migrate'>, Pick<ConnectionOptions, 'url' | 'auth' | 'headers' | 'timeout' | 'transport'> {
  /** The whole as the specification prints it: `{ ...config, database }` with what a file says. */
  adapter?: AdapterConfig;
  /** The client that sends; without it one is made of `url`, `auth`, … */
  client?: OJSClient;
  /** The database whose transactions count, for calls that name none, and for `start()`. */
  database?: DatabaseHandle;
  /** Where the relay reads PostgreSQL, when that cannot be told from the driver. */
  databaseUrl?: string;
  /** Go through a table; true. Without it jobs wait in memory for the commit: a crash in between loses them. */
  enabled?: boolean;
  /** Run the relay in this process, one at a time among many; true. False where `ojs relay` runs. */
  relay?: boolean;
  /** Whether the server keeps its jobs in the application's PostgreSQL; found out when it is left out. */
  sameDatabase?: boolean;
}

/** Options of a job that waits for a commit. */
export interface AfterCommitOptions extends Omit<EnqueueOptions, 'signal'> {
  /** The transaction that counts, where it is not the one around the call. */
  transaction?: TransactionHandle;
}

/** A row to be written: run `sql` with `params` in the transaction that the job belongs to. */
export interface StagedRow {
  /** The job as it will be sent; it has its id already. */
  job: Job;
  sql: string;
  params: (string | null)[];
}

/** Enqueues jobs with the transactions of an application's databases, and relays them. */
export class Outbox {
  constructor(options?: OutboxOptions | string);
  readonly client: OJSClient;
  readonly table: string;
  /** Sends a job now, whatever becomes of any transaction. */
  enqueue<Args extends unknown[] = any[], Given = Args>(type: string, args?: Given & JsonOf<Given>, options?: EnqueueOptions): Promise<Job<Args>>;
  /** Sends many jobs now, in one request: all are stored or none. */
  enqueueBulk(jobs: Iterable<JobLike>, options?: CallOptions): Promise<Job[]>;
  /**
   * Sends a job if, and only if, the outermost transaction commits; outside of one: now. Need not be awaited inside of `transaction()` and of an
   * instrumented Knex: they wait before they commit, and a failure that is not looked at rolls them back. In a transaction of better-sqlite3
   * the row is written, and what is wrong is thrown, before the call returns.
   */
  enqueueAfterCommit<Args extends unknown[] = any[], Given = Args>(type: string, args?: Given & JsonOf<Given>, options?: AfterCommitOptions): Promise<Job<Args>>;
  /** The same for many jobs, in the order of the list. */
  enqueueBulkAfterCommit(jobs: Iterable<JobLike>, options?: Pick<AfterCommitOptions, 'transaction'>): Promise<Job[]>;
  /** Stages a job in the transaction that is open on a connection. */
  add(connection: TransactionHandle, type: string, args?: unknown, options?: Omit<EnqueueOptions, 'signal'>): Promise<Job>;
  /** Runs the client's enqueue middleware, now, and makes the row of what comes out. */
  stage(job: JobLike, options: { database: DatabaseKind; style?: 'numeric_dollar' | 'qmark' | 'format' }): Promise<StagedRow>;
  /** Runs `work` in a transaction; see {@link transaction}. Without a database the one that the outbox was given. */
  transaction<Connection extends DatabaseHandle, Result>(database: Connection, work: (connection: any) => Result): Promise<Awaited<Result>>;
  transaction<Result>(work: (connection: any) => Result): Promise<Awaited<Result>>;
  /** Makes the table, or adds what it lacks. May be run again. */
  migrate(database?: DatabaseHandle): Promise<void>;
  /** The jobs that are not sent yet, as this connection sees them, its own transaction's included: for tests. */
  staged(connection?: TransactionHandle): Promise<{ type: string; args: any[]; options: any; id: string }[]>;
  /** The relay of a database in this process. */
  relay(database?: DatabaseHandle): Relay;
  /**
   * Starts the relay of the database that the outbox was given, else of every Knex that was instrumented: rows that an earlier process left are
   * sent then. The first commit starts it as well.
   */
  start(): Promise<this>;
  /** Has the relays look now. */
  wake(): void;
  /** Flushes the outbox for at most `grace` (5 s), stops the relays, closes the client if it was made here. */
  close(grace?: Duration): Promise<void>;
}

/** Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends. */
export class Relay {
  /** `source` is the URL of a PostgreSQL, MySQL or MariaDB database, or a function that opens a connection of better-sqlite3. */
  constructor(client: OJSClient, source: string | (() => object), options?: RelayOptions);
  /** Starts it, unless it runs. It does not keep the process alive; before that ends by itself, it is flushed. */
  start(): Promise<this>;
  /** Says that a transaction has committed. Cheap; a relay that is not woken looks by itself. */
  wake(): void;
  readonly running: boolean;
  /** What it has done so far; undefined unless it runs. */
  status(): RelayStatus | undefined;
  /** Sends what is committed, for at most `grace` (5 s), and ends. What is left stays in the table. */
  stop(grace?: Duration): Promise<void>;
}
export interface RelayStatus {
  /** Whether this is the relay that sends. None is while there is nothing to send. */
  leading: boolean;
  /** Rows that the server has, duplicates included. */
  sent: number;
  /** Rows for which another job stands, by a unique policy. */
  deduplicated: number;
  /** Refusals of single rows. */
  refused: number;
  /** Rows given up. */
  parked: number;
  /** Requests that found no server, or a busy one. */
  heldUp: number;
  /** The latest trouble; gone with the latest success. */
  error?: string;
}

/** The table's name in the specification. */
export const TABLE: 'ojs_outbox';
/** The statements that make the tables, or add to a table made by the specification's DDL what it lacks. */
export function migration(database: DatabaseKind, table?: string): string[];
/**
 * Has jobs join the transactions of a Knex instance: `enqueueAfterCommit()` inside of the callback of `db.transaction()` belongs to it. Returns the
 * instance.
 */
export function instrument<Knex extends DatabaseHandle>(db: Knex): Knex;
/**
 * Runs `work(connection)` in a transaction of a pg pool or client, a Knex or its transaction, or a better-sqlite3 database (then `work` must not be
 * async), and commits when it has resolved; a savepoint inside of another one.
 */
export function transaction<Result>(database: DatabaseHandle, work: (connection: any) => Result): Promise<Awaited<Result>>;

/** What a request hands on to the jobs it makes. */
export namespace requestContext {
  type Meta = Record<string, unknown>;
  /** The names in metadata. */
  const KEYS: readonly string[];
  /** The metadata of the present request; empty outside of one. */
  function current(): Meta;
  /** Jobs enqueued inside `work` carry this metadata: an object, or a function that is asked when a job is made. */
  function run<Result>(meta: Meta | (() => Meta), work: () => Result): Result;
  /** The metadata of a request, from its headers and from what authentication has found. */
  function ofRequest(header: (name: string) => string | undefined, found?: { userId?: unknown; tenantId?: unknown }): Meta;
  /** Worker middleware: the jobs that a handler enqueues carry on what its own job carries. */
  const restored: ExecutionMiddleware;
}

/** The outbox cannot be used as it is set up, or at this place. */
export class OJSOutboxError extends OJSError {}

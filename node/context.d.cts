/// <reference types="node" />
import type { CancelReason, Job, JobTrain, OJSClient } from './index.cjs';

/** One run of one job. */
export class JobContext<Args extends unknown[] = any[]> {
  private constructor();
  /** The job id: the same in every attempt and redelivery. */
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** 1 on the first run. */
  readonly attempt: number;
  /** The whole job. */
  readonly job: Job<Args>;
  readonly args: Args;
  readonly meta: Record<string, any>;
  /** Results of the steps before, in a workflow. */
  readonly parentResults: any[];
  readonly workflowId: string | undefined;
  /** The job's place in its train; undefined when it runs in none. */
  readonly train: JobTrain | undefined;
  /** The worker's name on the server; undefined where no worker runs the job. */
  readonly workerId: string | undefined;
  /** The tenant that the job belongs to; undefined when it names none. */
  readonly tenant: string | undefined;
  /** The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees. */
  readonly client: OJSClient;
  /** A place for middleware to leave things for the layers inside; gone after this run. */
  readonly metadata: Record<string, any>;
  /** Aborts when the handler should stop; its reason is a JobCancelledError. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  readonly cancelReason: CancelReason | undefined;
  /** Throws JobCancelledError when the handler should stop. */
  throwIfCancelled(): void;
  /** Sets the job's result; what the handler returns, unless it is undefined, wins. */
  setResult(value: unknown): void;
  /** Extends the lease now; the worker does so every few seconds by itself. False when the handler should stop. */
  heartbeat(): Promise<boolean>;
  /**
   * Says how far the run has come: a fraction from 0 to 1, a sentence for people, data of the application. Returns at
   * once; of many reports the latest is sent, a few a second at most.
   */
  progress(fraction?: number, message?: string, data?: unknown): void;
  /**
   * Saves the checkpoint of the job in place of the one before; resolves with its sequence when it is on the server's
   * disk. Rejects with a JobCancelledError when the lease is lost.
   */
  checkpoint(state: unknown): Promise<number>;
  /** What this run, or an attempt before it, has saved; undefined when there is nothing. */
  loadCheckpoint<T = any>(): T | undefined;
  /** Whether there is a checkpoint to go on from. */
  readonly hasCheckpoint: boolean;
  /**
   * Runs `run` once across all attempts of the job, and resolves with its result, which is saved with the checkpoint:
   * later attempts get it and do not run the step. A crash between the end of the step and the server's answer runs
   * it again.
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<T>;
}

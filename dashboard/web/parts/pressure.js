// What stands in the way of a queue, and how many slots it needs.
import { span } from '../format.js';

/** Whether one of these workers asks for a queue. A worker that names no queues may ask for any. */
export function isServed(queue, workers) {
  return workers.some((worker) => worker.queues?.some((name) => name === queue.name || name === '*') ?? true);
}

/** How many more jobs would have to run at a time to keep up with what comes; 0 when it keeps up, or is not known. */
export function slotsMissing({ throughput, latency_ms: run }) {
  const behind = throughput.enqueued_per_minute - throughput.processed_per_minute;
  return behind > 0 && run?.mean ? Math.ceil((behind * run.mean) / 60_000) : 0;
}

/** How a queue does: what stands in its way, else how long it takes to become empty. */
export function pressure(queue, workers) {
  const waiting = queue.counts.available;
  if (queue.paused) return { state: 'paused', tone: 'warn' };
  if (!waiting) return { state: 'empty', tone: 'good' };
  if (workers && !isServed(queue, workers)) return { state: 'no worker', tone: 'bad' };
  const { processed_per_minute: out, enqueued_per_minute: into } = queue.throughput;
  if (out > into) return { state: `empty in ${span((waiting / (out - into)) * 60_000)}`, tone: 'good' };
  return into > out ? { state: 'growing', tone: 'warn' } : { state: 'steady', tone: '' };
}

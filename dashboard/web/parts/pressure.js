// What stands in the way of a queue.
import { span } from '../format.js';

/** How a queue does: what stands in its way, else how long it takes to become empty. */
export function pressure(queue, workers) {
  const waiting = queue.counts.available;
  if (queue.paused) return { state: 'paused', tone: 'warn' };
  if (!waiting) return { state: 'empty', tone: 'good' };
  const serves = (worker) => worker.queues?.some((name) => name === queue.name || name === '*') ?? true;
  if (workers && !workers.some(serves)) return { state: 'no worker', tone: 'bad' };
  const { processed_per_minute: out, enqueued_per_minute: into } = queue.throughput;
  if (out > into) return { state: `empty in ${span((waiting / (out - into)) * 60_000)}`, tone: 'good' };
  return into > out ? { state: 'growing', tone: 'warn' } : { state: 'steady', tone: '' };
}

package org.openjobspec;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;

/**
 * A worker that has been started. One thread pulls jobs, one listens for cancellations; handlers run on the executor and hand in
 * what came of them.
 */
final class WorkerLoop {
    /** The most jobs taken at a time. */
    private static final int BATCH = 256;
    /** What a process that ends gives its workers, in milliseconds. */
    private static final long EXIT_MS = 5000;
    /** Until a job that the executor refused is offered again. */
    private static final Duration REFUSED = Duration.ofSeconds(1);
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final NativeWorker core;
    private final Map<String, JobHandler> calls;
    private final Listeners listeners;
    private final OJSClient client;
    private final Executor executor;
    private final Semaphore slots;
    private final Completions completions;
    private final ConcurrentHashMap<Long, JobContext> running = new ConcurrentHashMap<>();
    /** Cancellations of jobs that were pulled and have not begun, or that have ended. */
    private final ConcurrentHashMap<Long, CancelReason> early = new ConcurrentHashMap<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final Thread exitHook = Thread.ofPlatform().name("ojs-worker-exit").unstarted(this::giveBackAtExit);

    WorkerLoop(
            OJSClient client,
            WorkerSettings settings,
            Map<String, JobHandler> calls,
            Map<String, ?> versions,
            Listeners listeners) {
        this.client = client;
        this.calls = calls;
        this.listeners = listeners;
        List<String> types = calls.containsKey("*") ? List.of() : List.copyOf(calls.keySet());
        core = new NativeWorker(client.connection().engine(), settings.options(), types, versions);
        completions = new Completions(core);
        slots = new Semaphore(settings.options().concurrency());
        Thread.Builder.OfVirtual threads = Thread.ofVirtual().name("ojs-job-", 0);
        executor = settings.executor() != null ? settings.executor() : task -> threads.start(task);
    }

    /** Begins; {@code before} runs when nothing can fail any more, and no handler runs yet. */
    void start(Runnable before) {
        core.start();
        before.run();
        try {
            Runtime.getRuntime().addShutdownHook(exitHook);
        } catch (IllegalStateException e) { // the process ends already
            core.stop(0);
        }
        // Not a daemon: a process with a worker stays.
        Thread.ofPlatform().name("ojs-worker-" + core.id()).start(this::pull);
        Thread.ofPlatform().daemon().name("ojs-cancel-" + core.id()).start(this::listen);
    }

    private void pull() {
        try {
            while (true) {
                slots.acquireUninterruptibly();
                int free = 1 + slots.drainPermits();
                byte[] frame = core.pull(Math.min(free, BATCH), -1);
                if (frame == null) break;
                Frames.Entry[] jobs = Frames.jobs(frame);
                slots.release(free - jobs.length);
                for (Frames.Entry job : jobs) begin(new JobContext(link, job));
                early.clear(); // all that was pulled has begun: what is left is about jobs that have ended
            }
            core.await(-1);
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "the worker has ended by an error", e);
            over.completeExceptionally(e);
            core.stop(0); // its jobs go back
        } finally {
            try {
                Runtime.getRuntime().removeShutdownHook(exitHook);
            } catch (IllegalStateException e) {
                // The process ends: the hook runs now.
            }
            Logs.flush(); // who waits for the end may end the process
            over.complete(null);
        }
    }

    private void listen() {
        try {
            NativeWorker.Cancellation[] cancelled;
            while ((cancelled = core.cancellations(BATCH)) != null) {
                for (NativeWorker.Cancellation one : cancelled) {
                    CancelReason why = CancelReason.of(one.why());
                    early.put(one.token(), why); // before the look: a job that begins meanwhile finds it
                    JobContext ctx = running.get(one.token());
                    if (ctx != null) ctx.cancel(why);
                }
            }
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "handlers do not learn of cancellations any more", e);
        }
    }

    private void begin(JobContext ctx) {
        running.put(ctx.token(), ctx);
        CancelReason why = early.remove(ctx.token());
        if (why != null) ctx.cancel(why);
        try {
            executor.execute(() -> work(ctx));
        } catch (Throwable e) { // an executor that was shut down, or has too few threads
            LOG.log(System.Logger.Level.WARNING, "the executor refuses jobs", e);
            end(ctx, Outcome.failure(ctx, new SnoozeException(REFUSED)), 0);
        }
    }

    private void work(JobContext ctx) {
        long began = System.nanoTime();
        Throwable thrown = null;
        Outcome outcome = new Outcome(ctx.token(), Outcome.RELEASED, new byte[0], 0);
        try {
            outcome = Outcome.success(ctx, run(ctx));
        } catch (Throwable e) {
            thrown = e;
            outcome = Outcome.failure(ctx, e);
        } finally {
            end(ctx, outcome, System.nanoTime() - began);
        }
        listeners.tell(ctx, thrown);
    }

    private Object run(JobContext ctx) throws Exception {
        JobHandler call = calls.get(ctx.type());
        if (call == null) call = calls.get("*");
        ctx.enter();
        try {
            return call.handle(ctx);
        } finally {
            ctx.leave();
        }
    }

    private void end(JobContext ctx, Outcome outcome, long nanos) {
        running.remove(ctx.token());
        try {
            completions.add(outcome, nanos);
        } finally {
            slots.release();
        }
    }

    /** What a context asks of this worker. */
    private final JobContext.Link link = new JobContext.Link() {
        @Override
        public CancelReason heartbeat(long token) {
            return request(() -> CancelReason.of(core.heartbeat(token)));
        }

        @Override
        public OJSClient client() {
            return client;
        }

        @Override
        public String workerId() {
            return core.id();
        }

        @Override
        public void progress(long token, byte[] report) {
            core.progress(token, report);
        }

        @Override
        public JobContext.Saved save(long token, String step, byte[] state) {
            return request(() -> core.save(token, step, state));
        }

        @Override
        public byte[] saved(long token, String step) {
            return core.saved(token, step);
        }
    };

    /** A request of its own: a virtual thread must not hold its carrier for it. */
    private static <T> T request(java.util.function.Supplier<T> request) {
        if (!Thread.currentThread().isVirtual()) return request.get();
        try {
            return CompletableFuture.supplyAsync(request, Async.PLATFORM).join();
        } catch (java.util.concurrent.CompletionException e) {
            // Callers know the exceptions of the request itself.
            if (e.getCause() instanceof RuntimeException cause) throw cause;
            throw e;
        }
    }

    /** At the end of the process: what still runs goes back to the queue. */
    private void giveBackAtExit() {
        core.stop(0);
        core.await(EXIT_MS);
        Logs.flush();
    }

    void stop(long graceMs) {
        core.stop(graceMs);
    }

    void quiet() {
        core.quiet();
    }

    void resume() {
        core.resume();
    }

    CompletableFuture<Void> over() {
        return over;
    }

    String id() {
        return core.id();
    }

    int phase() {
        return core.phase();
    }

    int active() {
        return running.size();
    }
}

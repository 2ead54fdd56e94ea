package org.openjobspec;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs single jobs with the handlers and the middleware of a worker that is never started: for jobs that come by
 * another way than the worker's fetches, such as the event of a serverless function.
 */
public final class JobRunner {
    /** What a handler that was asked to stop gets to end in order, in milliseconds. */
    private static final long WIND_UP_MS = 1000;
    /** The longest wait for an answer of the server: two calls fit into the margin before the platform's limit. */
    private static final long CALL_MS = 2000;

    private final OJSWorker worker;
    private final boolean server;

    /**
     * A runner.
     *
     * @param worker the worker whose handlers run
     * @param server whether the worker's server has leased the jobs: then heartbeats, checkpoints and progress go there
     */
    public JobRunner(OJSWorker worker, boolean server) {
        this.worker = worker;
        this.server = server;
    }

    /**
     * What came of a run.
     *
     * @param completed whether the handler returned
     * @param members what the protocol says about it: {@code result}, or {@code error} and perhaps {@code requeue}
     *     and {@code delay_ms}
     */
    public record Ended(boolean completed, Map<String, Object> members) {
        private static Ended of(Outcome outcome) {
            return new Ended(outcome.kind() == Outcome.COMPLETED, outcome.members());
        }

        /** A failure that no handler has caused. */
        public static Ended failed(String code, String type, String message, boolean retryable) {
            return of(Outcome.refused(code, type, message, retryable));
        }

        /** Whether the job will run again. */
        public boolean comesAgain() {
            return members.get("error") instanceof Map<?, ?> error && Boolean.TRUE.equals(error.get("retryable"));
        }

        /** The path of the call that reports it. */
        public String path() {
            return Outcome.path(completed);
        }
    }

    /** Whether there is a server that has leased the jobs. */
    public boolean hasServer() {
        return server;
    }

    /** How many jobs run at a time, where several come at once. */
    public int concurrency() {
        return worker.concurrency();
    }

    private OJSClient client() {
        return worker.client();
    }

    /**
     * Makes a call of the protocol to the server, as {@link OJSClient#request}, and waits two seconds at most: a server
     * that hangs must not hold up a function until the platform ends it.
     *
     * @throws OJSException.Timeout when there is no answer by then
     */
    public Object call(String method, String path, Object body) {
        return answered(client().requestAsync(method, path, body));
    }

    /** A job as the server has it, read as {@link #call} does. */
    public Job job(String id) {
        return answered(client().getJobAsync(id));
    }

    /** The checkpoint that the server has of a job, read as {@link #call} does. */
    public Map<String, Object> checkpoint(String id) {
        return answered(client().runAsync(Operation.whole("GET", Operation.at("jobs", id, "checkpoint"), null)));
    }

    private static <T> T answered(CompletableFuture<T> answer) {
        try {
            return answer.get(CALL_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw late(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw late(e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }

    private static OJSException late(Exception cause) {
        OJSException.About about = new OJSException.About("timeout", true, 0, null, null, null, null);
        return new OJSException.Timeout("the server has not answered within " + CALL_MS + " ms", about, cause);
    }

    /**
     * Runs the handler of a job and returns what came of it. The handler is asked to stop when its time is up; one that
     * does not stop runs on in its thread, and what it does changes nothing.
     *
     * @param job the job as it was delivered
     * @param lease what proves the lease: {@code worker_id}, {@code lease_token}
     * @param limit the most that the run may take; null is no limit
     */
    public Ended run(Job job, Map<String, Object> lease, Duration limit) {
        Outcome outcome;
        try {
            byte[] clear = client().connection().decrypted(Json.bytes(job));
            int attempt = Math.max(job.attempt(), 1);
            Frames.Entry entry = new Frames.Entry(0, job.id(), job.type(), job.queue(), attempt, clear);
            ServerLink link = new ServerLink(job, lease, client(), server);
            outcome = within(limit, new JobContext(link, entry));
            link.close();
        } catch (OJSException e) {
            outcome = Outcome.refused(e.code(), "DecryptionError", e.getMessage(), e.retryable());
        }
        return Ended.of(outcome);
    }

    /** No handler is registered for the type of a job; the name is that of the failure, in every language. */
    static class NoHandler extends NonRetryableException {
        NoHandler(String type) {
            super("No handler is registered for job type '" + type + "'.", "no_handler", null);
        }
    }

    private Outcome attempt(JobContext ctx) {
        ctx.enter();
        try {
            Map<String, JobHandler> calls = worker.calls();
            JobHandler call = calls.getOrDefault(ctx.type(), calls.get("*"));
            if (call == null) throw new NoHandler(ctx.type());
            return Outcome.success(ctx, call.handle(ctx));
        } catch (Throwable e) { // a handler ends its job, not the function
            return Outcome.failure(ctx, e);
        } finally {
            ctx.leave();
        }
    }

    private Outcome within(Duration limit, JobContext ctx) {
        if (limit == null) return attempt(ctx);
        CompletableFuture<Outcome> ended = new CompletableFuture<>();
        Thread.ofVirtual().name("ojs-function").start(() -> ended.complete(attempt(ctx)));
        try {
            return ended.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            ctx.cancel(CancelReason.TIMED_OUT);
            return late(ended);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ctx.cancel(CancelReason.SHUTDOWN);
            return new Outcome(0, Outcome.RELEASED, new byte[0], 0);
        } catch (ExecutionException e) {
            return Outcome.failure(ctx, e.getCause());
        }
    }

    /** A handler that ended after it was asked to stop: what it has completed counts, all else is its lack of time. */
    private static Outcome late(CompletableFuture<Outcome> ended) {
        try {
            Outcome late = ended.get(WIND_UP_MS, TimeUnit.MILLISECONDS);
            if (late.kind() == Outcome.COMPLETED) return late;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // It has not ended in order: its time was up.
        }
        String message = "The attempt took longer than its timeout_ms, or than the platform allows.";
        return Outcome.refused("timeout", "timeout", message, true);
    }
}

package org.openjobspec.serverless;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import org.openjobspec.Job;
import org.openjobspec.JobRunner;
import org.openjobspec.JobRunner.Ended;
import org.openjobspec.OJSException;

/** Runs single jobs, and reports the outcomes of those that a queue has brought. */
final class Runs {
    /** How often an outcome is sent while no clear answer comes. The server takes it once. */
    private static final int SENDS = 2;
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final JobRunner runner;

    Runs(JobRunner runner) {
        this.runner = runner;
    }

    private boolean hasServer() {
        return runner.hasServer();
    }

    /** Asks the same of each item, as many at a time as a worker runs jobs; the answers in the order of the items. */
    <T> List<Boolean> each(List<T> items, Predicate<T> ask) {
        Semaphore places = new Semaphore(runner.concurrency());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<CompletableFuture<Boolean>> answers = new ArrayList<>();
            for (T item : items) {
                places.acquireUninterruptibly();
                answers.add(CompletableFuture.supplyAsync(() -> ask.test(item), threads)
                        .whenComplete((_, _) -> places.release()));
            }
            return answers.stream().map(CompletableFuture::join).toList();
        }
    }

    /** Runs the handler of a job. */
    Ended run(Delivery delivery, Deadline deadline) {
        Ended ended = runner.run(delivery.job(), delivery.lease(), deadline.left(delivery.timeout()));
        if (ended.members().get("error") instanceof Map<?, ?> error) {
            LOG.log(System.Logger.Level.WARNING, "job {0} {1} was not completed: {2}: {3}",
                    delivery.job().type(), delivery.job().id(), error.get("code"), error.get("message"));
        }
        return ended;
    }

    /**
     * An outcome, and whether the server has taken note of it: then the server decides what comes next. Without a
     * server, completed jobs alone count as taken.
     */
    record Settled(Ended ended, boolean taken) {}

    /**
     * Runs a job that a queue has brought, and reports its outcome. A job that the server does not have any more is not
     * run, and counts as taken.
     */
    Settled settle(Delivery delivery, Deadline deadline) {
        Delivery whole;
        try {
            whole = delivery.isWhole() ? delivery : read(delivery);
        } catch (OJSException.NotFound e) {
            LOG.log(System.Logger.Level.WARNING, "job {0} is gone: it is not run", delivery.job().id());
            return new Settled(Ended.failed(e.code(), "JobGone", e.getMessage(), false), true);
        }
        if (whole == null) {
            String message = "the message of job " + delivery.job().id()
                    + " has no args, and the server could not be asked";
            return new Settled(Ended.failed("invalid_job", "InvalidJob", message, true), false);
        }
        Ended ended = run(whole, deadline);
        return new Settled(ended, hasServer() ? report(delivery, ended) : ended.completed());
    }

    /**
     * The delivery with the whole job, read from the server; null where that is not possible.
     *
     * @throws OJSException.NotFound the server does not have the job any more
     */
    private Delivery read(Delivery delivery) {
        if (!hasServer()) return null;
        try {
            Map<String, Object> found = runner.job(delivery.job().id()).members();
            return delivery.completed(found, delivery.refersToCheckpoint() ? saved(delivery) : null);
        } catch (OJSException.NotFound e) {
            throw e;
        } catch (RuntimeException e) { // a transport of the user's own may throw anything
            LOG.log(System.Logger.Level.ERROR, "job {0} cannot be read from the server: {1}", delivery.job().id(),
                    e.getMessage());
            return null;
        }
    }

    /**
     * The checkpoint that the server has. A server without checkpoints answers 404, in a form of its own: the job is
     * there, and runs without one.
     */
    private Map<String, Object> saved(Delivery delivery) {
        try {
            return runner.checkpoint(delivery.job().id());
        } catch (OJSException e) {
            if (e.status() != 404) throw e;
            LOG.log(System.Logger.Level.WARNING, "the server has no checkpoint of job {0}: the job runs without it",
                    delivery.job().id());
            return null;
        }
    }

    /**
     * Whether the server has moved on since a message was sent that a queue delivers again: the job has ended, or is at
     * a later attempt. A server that does not answer has not moved on.
     */
    boolean isStale(Delivery delivery) {
        if (!hasServer()) return false;
        try {
            Job job = runner.job(delivery.job().id());
            boolean runnable = "active".equals(job.state()) || "available".equals(job.state()) && !delivery.isFenced();
            return !runnable || job.attempt() > delivery.attempt();
        } catch (OJSException.NotFound e) {
            return true;
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "job {0} came again, and the server cannot be asked about it: {1}",
                    delivery.job().id(), e.getMessage());
            return false;
        }
    }

    /** A server that says that the job is settled, or another worker's by now, has taken note. */
    private boolean report(Delivery delivery, Ended ended) {
        Map<String, Object> body = new HashMap<>(delivery.lease());
        body.putAll(ended.members());
        body.put("job_id", delivery.job().id());
        try {
            send(ended.path(), body);
            return true;
        } catch (OJSException.Conflict | OJSException.NotFound e) {
            LOG.log(System.Logger.Level.WARNING, "the outcome of job {0} was not taken: {1}", delivery.job().id(),
                    e.getMessage());
            return true;
        } catch (RuntimeException e) {
            boolean result = e instanceof OJSException.InvalidRequest || e instanceof OJSException.PayloadTooLarge;
            if (ended.completed() && result) {
                // The same result would be refused again.
                String message = "the result was not accepted: " + e.getMessage();
                return report(delivery, Ended.failed("serialization_error", "ResultRefused", message, false));
            }
            LOG.log(System.Logger.Level.ERROR, "the outcome of job {0} did not reach the server: {1}",
                    delivery.job().id(), e.getMessage());
            return false;
        }
    }

    private void send(String path, Map<String, Object> body) {
        for (int left = SENDS - 1; ; left--) {
            try {
                runner.call("POST", path, body);
                return;
            } catch (OJSException.Connection e) {
                if (left == 0) throw e;
            }
        }
    }
}

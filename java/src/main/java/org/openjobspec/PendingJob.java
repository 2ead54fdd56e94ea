package org.openjobspec;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A job that is being described: {@code client.job("email.send", "ada@example.com").queue("mail").enqueue()}. */
public final class PendingJob extends JobOptions<PendingJob> {
    private final OJSClient client;

    PendingJob(OJSClient client, String type, List<?> args) {
        super(type, args);
        this.client = client;
    }

    @Override
    PendingJob self() {
        return this;
    }

    /** Sends it; the job as the server stored it. */
    public Job enqueue() {
        return client.enqueue(request());
    }

    /** Sends it without waiting. */
    public CompletableFuture<Job> enqueueAsync() {
        return client.enqueueAsync(request());
    }

    private JobRequest request() {
        return JobRequest.of(type(), args()).copy(this);
    }
}

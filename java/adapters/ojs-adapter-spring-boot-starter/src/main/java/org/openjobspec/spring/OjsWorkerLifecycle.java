package org.openjobspec.spring;

import org.openjobspec.OJSClient;
import org.openjobspec.OJSWorker;
import org.openjobspec.RequestContext;
import org.springframework.context.SmartLifecycle;

/** Works the jobs of {@link OjsHandlers} while the application runs: the last thing to start and the first to stop. */
public class OjsWorkerLifecycle implements SmartLifecycle {
    private final OJSClient client;
    private final OjsProperties.WorkerSettings settings;
    private final OjsHandlers handlers;
    private volatile OJSWorker worker;

    OjsWorkerLifecycle(OJSClient client, OjsProperties.WorkerSettings settings, OjsHandlers handlers) {
        this.client = client;
        this.settings = settings;
        this.handlers = handlers;
    }

    @Override
    public synchronized void start() {
        if (worker != null || handlers.isEmpty()) return;
        OJSWorker made = OJSWorker.builder().client(client).queues(settings.queues()).concurrency(settings.concurrency())
                .gracePeriod(settings.gracePeriod()).build();
        made.use("request-context", RequestContext::restored);
        handlers.registerWith(made);
        worker = made.start();
    }

    /** Running handlers may finish for the grace period, then their jobs go back. */
    @Override
    public synchronized void stop() {
        if (worker != null) worker.stop();
        worker = null;
    }

    @Override
    public boolean isRunning() {
        return worker != null;
    }
}

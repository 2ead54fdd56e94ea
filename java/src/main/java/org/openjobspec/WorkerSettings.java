package org.openjobspec;

import java.util.concurrent.Executor;

/** What a worker was built with. Null is the default. */
record WorkerSettings(OJSClient client, OJSClient.Builder connection, NativeWorker.Options options, Executor executor,
                      boolean handleSignals) {}

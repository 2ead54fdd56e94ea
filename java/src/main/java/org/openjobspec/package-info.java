/**
 * Open Job Spec for Java: enqueue background jobs and work them.
 *
 * <p>Start with {@link org.openjobspec.OJSClient} and {@link org.openjobspec.OJSWorker}; tests with {@link org.openjobspec.OJSTesting}.
 * A native engine does transport, retries, leases and parsing; it runs inside this process on a SQLite file or in memory, or talks to
 * a server. Methods take no null unless they say so. Times are {@link java.time.Duration} and {@link java.time.Instant}.
 */
package org.openjobspec;

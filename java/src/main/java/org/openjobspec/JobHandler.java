package org.openjobspec;

/** Runs a job. What it returns is the job's result; null is none. What it throws is the job's failure. */
@FunctionalInterface
public interface JobHandler {
    /** Runs once per attempt, on the worker's executor. */
    Object handle(JobContext ctx) throws Exception;
}

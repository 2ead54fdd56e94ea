package org.openjobspec;

import java.time.Instant;
import java.util.List;

/**
 * Chooses jobs for {@link OJSClient#listJobs(JobFilter)}. What is null does not matter.
 *
 * {@snippet :
 * JobPage page = client.listJobs(JobFilter.ALL.withQueue("mail").withStates("discarded").withPerPage(100));
 * }
 *
 * @param queue those of this queue
 * @param type those of this job type; it may end in {@code *}: all types that start so
 * @param states those in one of these states
 * @param since those that were created at this time or later
 * @param until those that were created before this time
 * @param sort {@code created_at} (without it), {@code scheduled_at} or {@code priority}
 * @param oldestFirst turns the order round: without it the newest, or the highest priority, comes first
 * @param page counts from 1
 * @param perPage most jobs in one answer, up to 100; 0 leaves it to the server, which gives 20
 */
public record JobFilter(String queue, String type, List<String> states, Instant since, Instant until, String sort, boolean oldestFirst,
                        int page, int perPage) {
    /** All jobs, the newest first. */
    public static final JobFilter ALL = new JobFilter(null, null, null, null, null, null, false, 1, 0);

    /** Refuses pages that there cannot be. */
    public JobFilter {
        if (page < 1) throw new OJSException.Validation("page must be at least 1, got " + page);
        if (perPage < 0) throw new OJSException.Validation("perPage must not be negative, got " + perPage);
    }

    /** Those of this queue. */
    public JobFilter withQueue(String queue) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Those of this job type, which may end in {@code *}. */
    public JobFilter withType(String type) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Those in one of these states. */
    public JobFilter withStates(String... states) {
        return new JobFilter(queue, type, List.of(states), since, until, sort, oldestFirst, page, perPage);
    }

    /** Those that were created at this time or later. */
    public JobFilter withSince(Instant since) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Those that were created before this time. */
    public JobFilter withUntil(Instant until) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** By {@code created_at}, {@code scheduled_at} or {@code priority}. */
    public JobFilter withSort(String sort) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** The oldest, or the lowest priority, first. */
    public JobFilter withOldestFirst(boolean oldestFirst) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** This page, counted from 1. */
    public JobFilter withPage(int page) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** So many jobs in one answer, up to 100. */
    public JobFilter withPerPage(int perPage) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    Operation<JobPage> operation() {
        String path = Operation.query("/admin/jobs", Operation.members("queue", queue, "type", type,
                "state", states == null || states.isEmpty() ? null : String.join(",", states), "since", since, "until", until, "sort", sort,
                "order", oldestFirst ? "asc" : null, "page", page, "per_page", perPage == 0 ? null : perPage));
        return Operation.read("GET", path, null, answer -> JobPage.of(answer, Operation.received(answer, "items")));
    }
}

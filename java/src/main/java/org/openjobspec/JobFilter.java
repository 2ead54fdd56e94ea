// Made from xtask/operations by make gen; do not edit.
package org.openjobspec;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * Which jobs a list shows. What is null does not matter.
 *
 * @param queue only jobs of this queue
 * @param type only this job type; {@code email.*} is all types that start with {@code email.}
 * @param states only jobs in one of these states
 * @param since only jobs created at this time or later
 * @param until only jobs created before this time
 * @param sort what the list is sorted by; {@code created_at} without it. One of created_at, scheduled_at, priority
 * @param oldestFirst turns the order round. Without it the newest or the highest priority comes first
 * @param page the number of the page. The first page is 1
 * @param perPage the most jobs on one page, 1 to 100; 0 leaves it to the server
 */
public record JobFilter(
        String queue,
        String type,
        List<String> states,
        Instant since,
        Instant until,
        String sort,
        boolean oldestFirst,
        int page,
        int perPage) {
    /** The filter that leaves everything out. */
    public static final JobFilter ALL = new JobFilter(null, null, null, null, null, null, false, 1, 0);

    /** Refuses pages that cannot be. */
    public JobFilter {
        if (page < 1) throw new OJSException.Validation("page must be at least 1, got " + page);
        if (perPage < 0) throw new OJSException.Validation("perPage must not be negative, got " + perPage);
    }

    /** Only jobs of this queue. */
    public JobFilter withQueue(String queue) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Only this job type; {@code email.*} is all types that start with {@code email.}. */
    public JobFilter withType(String type) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Only jobs in one of these states. */
    public JobFilter withStates(String... states) {
        return new JobFilter(queue, type, List.of(states), since, until, sort, oldestFirst, page, perPage);
    }

    /** Only jobs created at this time or later. */
    public JobFilter withSince(Instant since) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Only jobs created before this time. */
    public JobFilter withUntil(Instant until) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** What the list is sorted by; {@code created_at} without it. One of created_at, scheduled_at, priority. */
    public JobFilter withSort(String sort) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** Turns the order round. Without it the newest or the highest priority comes first. */
    public JobFilter withOldestFirst(boolean oldestFirst) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** The number of the page. The first page is 1. */
    public JobFilter withPage(int page) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** The most jobs on one page, 1 to 100. */
    public JobFilter withPerPage(int perPage) {
        return new JobFilter(queue, type, states, since, until, sort, oldestFirst, page, perPage);
    }

    /** What is given, by the names on the wire. */
    Map<String, Object> members() {
        return Operation.members(
                "queue", queue,
                "type", type,
                "state", Operation.joined(states),
                "since", since == null ? null : since.toString(),
                "until", until == null ? null : until.toString(),
                "sort", sort,
                "order", oldestFirst ? "asc" : null,
                "page", page,
                "per_page", perPage == 0 ? null : perPage);
    }
}

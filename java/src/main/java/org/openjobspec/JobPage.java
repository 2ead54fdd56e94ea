package org.openjobspec;

import java.util.List;
import java.util.Map;

/**
 * One page of a list of jobs: {@link OJSClient#listJobs(JobFilter)}.
 *
 * @param jobs the jobs of this page
 * @param total how many jobs the filter finds, on all pages
 * @param page the number of this page, counted from 1
 * @param hasMore whether there is a page after this one
 */
public record JobPage(List<Job> jobs, int total, int page, boolean hasMore) {
    static JobPage of(Object answer, List<Job> jobs) {
        Map<String, Object> about = Members.of(Members.need(answer, "pagination"));
        return new JobPage(jobs, Members.number(about, "total", jobs.size()), Members.number(about, "page", 1),
                Boolean.TRUE.equals(about.get("has_more")));
    }
}

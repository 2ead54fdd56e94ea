// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.util.List;
import java.util.Map;

/**
 * One page of a list of jobs.
 *
 * @param jobs the jobs of this page
 * @param total how many jobs the filter finds, on all pages
 * @param page the number of this page. The first page is 1
 * @param hasMore whether there is a page after this one
 */
public record JobPage(List<Job> jobs, int total, int page, boolean hasMore) {
    static JobPage of(Object value) {
        Map<String, Object> members = Members.of(value);
        return new JobPage(
                Operation.received(members, "jobs"),
                Members.number(members, "total", 0),
                Members.number(members, "page", 0),
                Boolean.TRUE.equals(members.get("has_more")));
    }
}

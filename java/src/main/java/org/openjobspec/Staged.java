package org.openjobspec;

import java.util.List;

/**
 * A row to be written, in the transaction that the job belongs to.
 *
 * @param job the job as it will be sent; it has its id already
 * @param sql one statement, parameters as question marks
 * @param params texts, or null
 */
public record Staged(Job job, String sql, List<String> params) {}

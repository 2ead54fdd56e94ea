package org.openjobspec;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A call of the protocol: what is sent, and what is made of the answer. No I/O.
 *
 * @param patience how long the server may hold back its answer; null when it answers at once
 */
record Operation<T>(String method, String path, Object body, Function<Object, T> read, Duration patience) {
    private static final Function<Object, Job> JOB = answer -> received(Members.need(answer, "job"));

    /** A job that a server sent: without an id it is none. */
    private static Job received(Object value) {
        Job job = Job.of(value);
        if (job.id() == null) throw Members.unexpected("the answer has a job without an id");
        return job;
    }

    static List<Job> received(Object answer, String name) {
        return items(answer, name).stream().map(Operation::received).toList();
    }

    private static <T> Operation<T> of(String method, String path, Object body, Function<Object, T> read) {
        return new Operation<>(method, path, body, read, null);
    }

    static Operation<Object> any(String method, String path, Object body) {
        return of(method, path, body, answer -> answer);
    }

    /** An object as the server wrote it. */
    static Operation<Map<String, Object>> whole(String method, String path, Object body) {
        return of(method, path, body, Members::of);
    }

    /** The member of an answer. */
    static Operation<Map<String, Object>> member(String method, String path, Object body, String name) {
        return of(method, path, body, answer -> Members.of(Members.need(answer, name)));
    }

    static Operation<Integer> number(String method, String path, Object body, String name) {
        return of(method, path, body, answer -> {
            Members.need(answer, name);
            return Members.number(Members.of(answer), name, 0);
        });
    }

    static Operation<Void> nothing(String method, String path) {
        return of(method, path, null, answer -> null);
    }

    static Operation<Job> job(String method, String path, Object body) {
        return of(method, path, body, JOB);
    }

    /** A job that is the answer itself. */
    static Operation<Job> bareJob(String method, String path, Object body) {
        return of(method, path, body, answer -> received(answer));
    }

    static Operation<List<Job>> jobs(String method, String path, Object body) {
        return list(method, path, body, "jobs", Operation::received);
    }

    static <T> Operation<List<T>> list(String method, String path, Object body, String name, Function<Object, T> item) {
        return of(method, path, body, answer -> items(answer, name).stream().map(item).toList());
    }

    static List<Object> items(Object answer, String name) {
        Members.need(answer, name);
        return Members.list(Members.of(answer), name);
    }

    /** One page of a list of jobs. */
    static Operation<JobPage> page(String method, String path, Object body) {
        return of(method, path, body, answer -> JobPage.of(with(Members.of(Members.need(answer, "pagination")),
                Map.of("jobs", Members.need(answer, "items")))));
    }

    /** Results in the order of the ids; null for a job without one. */
    static Operation<List<JobResult>> results(String method, String path, Object body) {
        return of(method, path, body, answer -> {
            List<JobResult> results = new ArrayList<>();
            for (Object one : items(answer, "results")) results.add(one == null ? null : JobResult.of(one));
            return results;
        });
    }

    static <T> Operation<T> read(String method, String path, Object body, Function<Object, T> read) {
        return of(method, path, body, read);
    }

    Operation<T> waiting(Duration length) {
        return new Operation<>(method, path, body, read, length);
    }

    T answer(byte[] bytes) {
        try {
            return read.apply(bytes.length == 0 ? null : Json.parse(bytes));
        } catch (OJSException.Validation | ClassCastException | DateTimeException e) {
            throw Members.unexpected("the answer cannot be read: " + e.getMessage(), e);
        }
    }

    byte[] bytes() {
        return body == null ? new byte[0] : Json.bytes(body);
    }

    // --- what there is ---

    static Operation<Job> enqueue(JobRequest request) {
        return job("POST", "/jobs", request.toJson());
    }

    static Operation<List<Job>> enqueueBatch(List<JobRequest> requests) {
        return jobs("POST", "/jobs/batch", Map.of("jobs", requests.stream().map(JobRequest::toJson).toList()));
    }

    static Operation<Job> getJob(String id) {
        return job("GET", at("jobs", id), null);
    }

    static Operation<Job> cancelJob(String id) {
        return job("DELETE", at("jobs", id), null);
    }

    static Operation<WorkflowStatus> workflow(Workflow definition) {
        return workflow("POST", "/workflows", definition.toJson());
    }

    static Operation<WorkflowStatus> workflow(String method, String path, Object body) {
        return of(method, path, body, answer -> new WorkflowStatus(Members.of(Members.need(answer, "workflow"))));
    }

    // --- paths ---

    /** A path out of names that may hold anything. */
    static String at(String kind, String name, String... more) {
        if (name == null || name.isEmpty()) {
            throw new OJSException.Validation("a path under /" + kind + " needs an id or a name as text, such as job.id(); got " + (name == null ? "null" : "''"));
        }
        return "/" + kind + "/" + escape(name) + (more.length == 0 ? "" : "/" + String.join("/", more));
    }

    /** A path whose names in braces are replaced in order: each name is one segment, whatever it holds. */
    static String place(String template, String... names) {
        StringBuilder path = new StringBuilder();
        String rest = template;
        for (String name : names) {
            int at = rest.indexOf('{');
            String kind = template.substring(1, template.indexOf("/{"));
            path.append(rest, 0, at - 1).append(at(kind, name).substring(kind.length() + 1));
            rest = rest.substring(rest.indexOf('}') + 1);
        }
        return path + rest;
    }

    /** The members of a map, and those of another. */
    static Map<String, Object> with(Map<String, ?> members, Map<String, Object> more) {
        Map<String, Object> all = new LinkedHashMap<>(members);
        all.putAll(more);
        return all;
    }

    /** A path with those parameters that are not null. */
    static String query(String path, Map<String, ?> parameters) {
        String given = parameters.entrySet().stream().filter(entry -> entry.getValue() != null)
                .map(entry -> entry.getKey() + "=" + escape(entry.getValue().toString())).collect(Collectors.joining("&"));
        return given.isEmpty() ? path : path + "?" + given;
    }

    /** States as a parameter; null when there are none. */
    static String joined(List<String> states) {
        return states == null || states.isEmpty() ? null : String.join(",", states);
    }

    private static String escape(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Members in order, without those that are null. */
    static Map<String, Object> members(Object... namesAndValues) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            if (namesAndValues[i + 1] != null) members.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return members;
    }
}

// Made from xtask/operations by make gen; do not edit.
package org.openjobspec;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The methods of a client that are one request each. What they send is in xtask/operations. */
final class Operations {
    private Operations() {}

    private static String text(Instant time) {
        return time == null ? null : time.toString();
    }

    private static String text(Duration length) {
        return length == null ? null : Durations.text(length);
    }

    /** The methods of the client itself. */
    abstract static class OfClient {
        abstract <T> T run(Operation<T> operation);

        /**
         * The job with this id.
         *
         * {@snippet :
         * var answer = client.getJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job getJob(String id) {
            return run(Operation.job("GET", Operation.place("/jobs/{id}", id), null));
        }

        /**
         * Why a job is not running: a {@code summary}, and {@code reasons} in the order in which they have to end.
         * Each reason has {@code code} and {@code message}, and where they are known {@code since}, {@code until},
         * {@code link} (a path of the API that shows what holds the job), {@code command} (one of the tool {@code
         * ojs} that helps) and {@code details}. A job that runs, has ended, or is handed out by the next fetch has
         * no reasons. The answer reads a bounded number of rows, however many jobs there are.
         *
         * {@snippet :
         * var answer = client.explainJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> explainJob(String id) {
            return run(Operation.whole("GET", Operation.place("/jobs/{id}/explain", id), null));
        }

        /**
         * One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There
         * is another page while the page says that it has more. Jobs that come and go between two pages move the
         * others, but not after a {@code cursor}, which is the {@code next_cursor} of the page before. With a
         * cursor, or with {@code count=false}, a page looks at 5,000 rows at most and has no total: it may be
         * short, or empty, say {@code complete: false}, and have a {@code next_cursor} all the same. Pages with
         * numbers look at a million rows at most, count what is in the first 20,000, and begin at most 10,000 jobs
         * behind the first. With {@code q}, a page compares 1,000 jobs at most and always goes on by cursors; the
         * guide of the dashboard has the words of the language.
         *
         * {@snippet :
         * JobPage page = client.listJobs(JobFilter.ALL.withQueue("mail").withStates("discarded").withPerPage(100));
         * }
         *
         * @param filter which jobs, in which order
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public JobPage listJobs(JobFilter filter) {
            return run(Operation.page("GET", Operation.query("/admin/jobs", filter.members()), null));
        }

        /** The same without what may be left out. */
        public JobPage listJobs() {
            return listJobs(JobFilter.ALL);
        }

        /**
         * Cancels the job. A worker that runs it is told to stop.
         *
         * {@snippet :
         * var answer = client.cancelJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job cancelJob(String id) {
            return run(Operation.job("DELETE", Operation.place("/jobs/{id}", id), null));
        }

        /**
         * Changes the priority of a job that waits.
         *
         * {@snippet :
         * var answer = client.setPriority("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5);
         * }
         *
         * @param id the job's id
         * @param priority the new priority. Higher runs earlier
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Job setPriority(String id, int priority) {
            return run(Operation.job("PATCH", Operation.place("/jobs/{id}", id), Operation.members("priority", priority)));
        }

        /**
         * Makes a job available that was enqueued as pending.
         *
         * {@snippet :
         * var answer = client.activateJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job activateJob(String id) {
            return run(Operation.job("POST", Operation.place("/jobs/{id}/activate", id), Map.of()));
        }

        /**
         * Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
         *
         * {@snippet :
         * var answer = client.retryJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job retryJob(String id) {
            return run(Operation.bareJob("POST", Operation.place("/admin/jobs/{id}/retry", id), Map.of()));
        }

        /**
         * How the job ended, and what its handler returned. The request is refused with status 408 while the job
         * has not ended, and with 410 when its result is no longer kept.
         *
         * {@snippet :
         * var answer = client.result("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.Api the server answered, and the answer is an error
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public JobResult result(String id) {
            return run(Operation.read("GET", Operation.place("/jobs/{id}/result", id), null, JobResult::of).waiting(Duration.ZERO));
        }

        /**
         * How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has
         * not ended, or whose result is no longer kept.
         *
         * {@snippet :
         * var answer = client.results(List.of("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10"));
         * }
         *
         * @param ids the ids of the jobs
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<JobResult> results(List<String> ids) {
            return run(Operation.results("POST", "/jobs/results", Operation.members("ids", ids)));
        }

        /**
         * The state of the workflow and of its steps.
         *
         * {@snippet :
         * var answer = client.getWorkflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the workflow's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public WorkflowStatus getWorkflow(String id) {
            return run(Operation.workflow("GET", Operation.place("/workflows/{id}", id), null));
        }

        /**
         * Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
         *
         * {@snippet :
         * var answer = client.cancelWorkflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the workflow's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public WorkflowStatus cancelWorkflow(String id) {
            return run(Operation.workflow("DELETE", Operation.place("/workflows/{id}", id), null));
        }

        /**
         * Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not
         * listed.
         *
         * {@snippet :
         * var answer = client.listWorkflows("running", null, 50);
         * }
         *
         * @param state only workflows in this state; null: not said; one of pending, running, completed, failed,
         *     cancelled
         * @param page the number of the page. The first page is 1; null: not said
         * @param perPage the most workflows on one page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> listWorkflows(String state, Integer page, Integer perPage) {
            return run(Operation.list("GET", Operation.query("/admin/workflows", Operation.members("state", state, "page", page, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> listWorkflows() {
            return listWorkflows(null, null, null);
        }

        /**
         * Whether the server works, with its version, its store and how long it has run.
         *
         * {@snippet :
         * var answer = client.health();
         * }
         * @throws OJSException.Api the server answered, and the answer is an error
         */
        public Map<String, Object> health() {
            return run(Operation.whole("GET", "/health", null));
        }

        /**
         * What the server is, and what it can do.
         *
         * {@snippet :
         * var answer = client.manifest();
         * }
         */
        public Map<String, Object> manifest() {
            return run(Operation.whole("GET", "/ojs/manifest", null));
        }

        /**
         * Jobs by state, throughput, latency and workers of the whole server.
         *
         * {@snippet :
         * var answer = client.serverStats();
         * }
         */
        public Map<String, Object> serverStats() {
            return run(Operation.whole("GET", "/admin/stats", null));
        }

        /**
         * Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
         *
         * {@snippet :
         * var answer = client.statsHistory("1h", "mail", Instant.parse("2031-01-01T00:00:00Z"), null);
         * }
         *
         * @param period the length of each period; {@code 1m} without it; null: not said; one of 1m, 5m, 1h, 1d
         * @param queue only this queue; null: not said
         * @param since from this time on; null: not said
         * @param until up to this time; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> statsHistory(String period, String queue, Instant since, Instant until) {
            return run(Operation.list("GET", Operation.query("/admin/stats/history", Operation.members("period", period, "queue", queue, "since", text(since), "until", text(until))), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> statsHistory() {
            return statsHistory(null, null, null, null);
        }

        /**
         * What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An
         * item has {@code type}, {@code enqueued}, {@code processed}, {@code failed}, {@code discarded}, {@code
         * busy_ms} (the time that completed attempts have taken), {@code latency_ms} and {@code wait_ms} with
         * {@code p50}, {@code p95} and {@code p99}. In a minute and in an hour 200 types are told apart; the
         * others are the type {@code _other}. Figures are kept by minutes for two hours and by hours for 30 days,
         * so an earlier {@code since} counts from the beginning of its hour.
         *
         * {@snippet :
         * var answer = client.typeStats(Instant.parse("2031-01-01T00:00:00Z"), null, "failed", 20);
         * }
         *
         * @param since from this time on; an hour ago without it; null: not said
         * @param until up to this time, at most 7 days later; now without it; null: not said
         * @param sort what comes first, the largest: {@code processed} (the default), {@code enqueued}, {@code
         *     failed}, {@code discarded}, {@code busy}, {@code latency} or {@code wait}; null: not said
         * @param limit the most types in the answer, 1 to 200; 50 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> typeStats(Instant since, Instant until, String sort, Integer limit) {
            return run(Operation.list("GET", Operation.query("/admin/stats/types", Operation.members("since", text(since), "until", text(until), "sort", sort, "limit", limit)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> typeStats() {
            return typeStats(null, null, null, null);
        }

        /**
         * Whether the server is in maintenance, since when and why.
         *
         * {@snippet :
         * var answer = client.maintenance();
         * }
         */
        public Map<String, Object> maintenance() {
            return run(Operation.whole("GET", "/admin/system/maintenance", null));
        }

        /**
         * Begins or ends maintenance. During it jobs are accepted, and none is handed out.
         *
         * {@snippet :
         * var answer = client.setMaintenance(true, "moving the database", Duration.parse("PT30M"));
         * }
         *
         * @param enabled whether the server is in maintenance
         * @param reason why, for those who ask; null: not said
         * @param estimatedDuration how long it will take, such as {@code PT30M}; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> setMaintenance(boolean enabled, String reason, Duration estimatedDuration) {
            return run(Operation.whole("POST", "/admin/system/maintenance", Operation.members("enabled", enabled, "reason", reason, "estimated_duration", text(estimatedDuration))));
        }

        /** The same without what may be left out. */
        public Map<String, Object> setMaintenance(boolean enabled) {
            return setMaintenance(enabled, null, null);
        }

        /**
         * Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with
         * their bodies, workflows with their steps, and so on. {@code sound} is true when nothing contradicts
         * anything. {@code findings} has the first 1,000 contradictions, each with the check, the row, what was
         * compared, and both values; {@code total} counts them all. The time grows with the number of jobs. It
         * takes one of the two connections for lists and searches; everything else goes on, but for a store in
         * memory, where all wait.
         *
         * {@snippet :
         * var answer = client.audit();
         * }
         */
        public Map<String, Object> audit() {
            return run(Operation.whole("GET", "/admin/system/audit", null));
        }

        /**
         * The settings that the server runs with. There are no secrets among them.
         *
         * {@snippet :
         * var answer = client.serverConfig();
         * }
         */
        public Map<String, Object> serverConfig() {
            return run(Operation.whole("GET", "/admin/system/config", null));
        }

        /**
         * The registered schemas of all job types, without their texts, in order of job type and version.
         *
         * {@snippet :
         * var answer = client.listSchemas();
         * }
         */
        public List<Map<String, Object>> listSchemas() {
            return run(Operation.list("GET", Operation.query("/schemas", Operation.members("limit", 200, "pages", "all")), null, "schemas", Members::of));
        }

        /**
         * Registers the JSON Schema of the arguments of a job type. A registered version never changes. With
         * {@code mode} {@code strict} jobs that do not match are refused, with {@code warn}, the default, they are
         * accepted with warnings, with {@code off} they are not compared. Within a major version, a schema that
         * refuses what the version before accepted is refused itself.
         *
         * {@snippet :
         * var answer = client.registerSchema("email.send", "1.0.0", Map.of("items", Map.of("type", "string"), "minItems", 1), "strict");
         * }
         *
         * @param jobType the job type
         * @param version the version: {@code 2}, {@code 2.1} or {@code 2.1.0}
         * @param schema a JSON Schema, draft 2020-12, for the array of arguments
         * @param mode what happens to jobs that do not match; null: not said; one of strict, warn, off
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> registerSchema(String jobType, String version, Map<String, ?> schema, String mode) {
            return run(Operation.member("POST", "/schemas", Operation.members("job_type", jobType, "version", version, "schema", schema, "mode", mode), "schema"));
        }

        /** The same without what may be left out. */
        public Map<String, Object> registerSchema(String jobType, String version, Map<String, ?> schema) {
            return registerSchema(jobType, version, schema, null);
        }

        /**
         * The schema of the highest version of a job type.
         *
         * {@snippet :
         * var answer = client.getSchema("email.send");
         * }
         *
         * @param jobType the job type, or the URI of a schema
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getSchema(String jobType) {
            return run(Operation.member("GET", Operation.place("/schemas/{type}", jobType), null, "schema"));
        }

        /**
         * The schema of a version of a job type.
         *
         * {@snippet :
         * var answer = client.getSchemaVersion("email.send", "1.0.0");
         * }
         *
         * @param jobType the job type
         * @param version the version
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getSchemaVersion(String jobType, String version) {
            return run(Operation.member("GET", Operation.place("/schemas/{type}/{version}", jobType, version), null, "schema"));
        }

        /**
         * The versions of a job type, highest first.
         *
         * {@snippet :
         * var answer = client.listSchemaVersions("email.send");
         * }
         *
         * @param jobType the job type
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public List<Map<String, Object>> listSchemaVersions(String jobType) {
            return run(Operation.list("GET", Operation.place("/schemas/{type}/versions", jobType), null, "versions", Members::of));
        }

        /**
         * Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
         *
         * {@snippet :
         * var answer = client.setSchemaMode("email.send", "1.0.0", "strict");
         * }
         *
         * @param jobType the job type
         * @param version the version
         * @param mode {@code strict}, {@code warn} or {@code off}; one of strict, warn, off
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> setSchemaMode(String jobType, String version, String mode) {
            return run(Operation.member("PATCH", Operation.place("/schemas/{type}/{version}", jobType, version), Operation.members("mode", mode), "schema"));
        }

        /**
         * Deletes a version. Jobs that were stored under it stay.
         *
         * {@snippet :
         * client.deleteSchema("email.send", "1.0.0");
         * }
         *
         * @param jobType the job type
         * @param version the version
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void deleteSchema(String jobType, String version) {
            run(Operation.nothing("DELETE", Operation.place("/schemas/{type}/{version}", jobType, version)));
        }

        /**
         * The subscriptions, the oldest first, without their secrets. {@code dropped} says how many events became
         * no delivery because too many deliveries waited for the subscription; {@code dropped_since} when the
         * first of them happened, or null.
         *
         * {@snippet :
         * var answer = client.listWebhooks();
         * }
         */
        public List<Map<String, Object>> listWebhooks() {
            return run(Operation.list("GET", Operation.query("/webhooks/subscriptions", Operation.members("limit", 200, "pages", "all")), null, "subscriptions", Members::of));
        }

        /**
         * Creates a subscription: events are sent to {@code url} as signed POST requests. Only this answer has the
         * secret. Events that happen from then on become deliveries, which are sent until the endpoint answers
         * with 2xx: eight attempts within 41 hours. {@code filter} is an object with {@code queues} and {@code
         * job_types}. The URL must begin with https:// and lead to a public address, unless the server allows
         * others.
         *
         * {@snippet :
         * var answer = client.createWebhook(Map.of("events", List.of("job.completed", "job.failed"), "secret", "whsec_test_secret", "url", "https://example.com/hooks/ojs"));
         * }
         *
         * @param subscription its members: {@code url} and {@code events} (such as {@code job.completed}, {@code
         *     job.*} or {@code *}); if wanted {@code secret} (8 to 255 characters; without it the server makes one),
         *     {@code filter}, {@code metadata} (an object of at most 4096 bytes), {@code active} and {@code format}
         *     ({@code ojs}, {@code cloudevents} or {@code cloudevents-binary})
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> createWebhook(Map<String, ?> subscription) {
            return run(Operation.member("POST", "/webhooks/subscriptions", subscription, "subscription"));
        }

        /**
         * A subscription, without its secret. {@code dropped} says how many events became no delivery because too
         * many deliveries waited for it; {@code dropped_since} when the first of them happened, or null.
         *
         * {@snippet :
         * var answer = client.getWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the subscription, {@code sub_…}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getWebhook(String id) {
            return run(Operation.member("GET", Operation.place("/webhooks/subscriptions/{id}", id), null, "subscription"));
        }

        /**
         * Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription
         * that is not active gets no new deliveries, and those that wait are not sent until it is active again.
         *
         * {@snippet :
         * var answer = client.updateWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", Map.of("events", List.of("job.*")));
         * }
         *
         * @param id the id of the subscription
         * @param changes the members that change: {@code url}, {@code events}, {@code active}, {@code filter},
         *     {@code metadata}, {@code format}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> updateWebhook(String id, Map<String, ?> changes) {
            return run(Operation.member("PATCH", Operation.place("/webhooks/subscriptions/{id}", id), changes, "subscription"));
        }

        /**
         * Deletes a subscription and its deliveries: nothing more is sent to it.
         *
         * {@snippet :
         * client.deleteWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the subscription
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void deleteWebhook(String id) {
            run(Operation.nothing("DELETE", Operation.place("/webhooks/subscriptions/{id}", id)));
        }

        /**
         * Sends an event {@code webhook.test} now, once, and answers with what the endpoint said: {@code success},
         * {@code status_code}, {@code response_time_ms}, {@code response_body}.
         *
         * {@snippet :
         * var answer = client.testWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the subscription
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> testWebhook(String id) {
            return run(Operation.whole("POST", Operation.place("/webhooks/subscriptions/{id}/test", id), Map.of()));
        }

        /**
         * Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the
         * new one.
         *
         * {@snippet :
         * var answer = client.rotateWebhookSecret("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the subscription
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> rotateWebhookSecret(String id) {
            return run(Operation.member("POST", Operation.place("/webhooks/subscriptions/{id}/rotate-secret", id), Map.of(), "subscription"));
        }

        /**
         * Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day,
         * dead ones for 30 days. {@code total} counts at most 10000.
         *
         * {@snippet :
         * var answer = client.listWebhookDeliveries(null, "dead", 50);
         * }
         *
         * @param subscriptionId only of this subscription; null: not said
         * @param status only in this state; null: not said; one of pending, sending, delivered, dead
         * @param limit the most deliveries in the answer, 1 to 200; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> listWebhookDeliveries(String subscriptionId, String status, Integer limit) {
            return run(Operation.list("GET", Operation.query("/webhooks/deliveries", Operation.members("subscription_id", subscriptionId, "status", status, "limit", limit)), null, "deliveries", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> listWebhookDeliveries() {
            return listWebhookDeliveries(null, null, null);
        }

        /**
         * A delivery with its event, and how its latest attempt ended.
         *
         * {@snippet :
         * var answer = client.getWebhookDelivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the delivery, {@code del_…}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getWebhookDelivery(String id) {
            return run(Operation.member("GET", Operation.place("/webhooks/deliveries/{id}", id), null, "delivery"));
        }

        /**
         * Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
         * waiting.
         *
         * {@snippet :
         * var answer = client.retryWebhookDelivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the delivery
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> retryWebhookDelivery(String id) {
            return run(Operation.member("POST", Operation.place("/webhooks/deliveries/{id}/retry", id), Map.of(), "delivery"));
        }

        /**
         * How far the latest attempt of a job has come: {@code progress} from 0 to 1, {@code data}, {@code
         * message} and {@code updated_at}, which are null when nothing was reported.
         *
         * {@snippet :
         * var answer = client.getProgress("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getProgress(String id) {
            return run(Operation.whole("GET", Operation.place("/jobs/{id}/progress", id), null));
        }

        /**
         * How far a workflow has come: {@code progress} from 0 to 1, and the progress of each of its {@code
         * steps}. Of a chain it is the completed steps and the fraction of the current one, of a group the mean of
         * its steps, of a batch the share of its jobs that have ended.
         *
         * {@snippet :
         * var answer = client.getWorkflowProgress("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the workflow's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getWorkflowProgress(String id) {
            return run(Operation.whole("GET", Operation.place("/workflows/{id}/progress", id), null));
        }

        /**
         * Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been
         * answered, and the next attempt of the job is delivered with it. The handler of a job saves its own
         * checkpoint, under its lease. This method is for other programs, which have no lease: it is refused while
         * a worker with lease tokens holds the job, and when the job has ended.
         *
         * {@snippet :
         * var answer = client.saveCheckpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", Map.of("cursor", "abc-750", "rows", 750));
         * }
         *
         * @param id the job's id
         * @param state JSON of at most 1 MiB
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> saveCheckpoint(String id, Map<String, ?> state) {
            return run(Operation.whole("PUT", Operation.place("/jobs/{id}/checkpoint", id), Operation.members("state", state)));
        }

        /**
         * The checkpoint of a job: {@code state}, {@code sequence} and {@code created_at}. It can be read as long
         * as the job.
         *
         * {@snippet :
         * var answer = client.getCheckpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getCheckpoint(String id) {
            return run(Operation.whole("GET", Operation.place("/jobs/{id}/checkpoint", id), null));
        }

        /**
         * Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
         *
         * {@snippet :
         * client.deleteCheckpoint("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void deleteCheckpoint(String id) {
            run(Operation.nothing("DELETE", Operation.place("/jobs/{id}/checkpoint", id)));
        }

        /**
         * The endpoints that jobs are sent to, the oldest first, without their secrets. {@code status} is {@code
         * active}, {@code failing}, {@code open} (sent nothing for a minute after five failures), {@code probing},
         * {@code waiting} (it has asked for a pause), {@code disabled} (it answered 401, 403, 404 or 410) or
         * {@code paused}; {@code last_failure} says why.
         *
         * {@snippet :
         * var answer = client.listPushEndpoints();
         * }
         */
        public List<Map<String, Object>> listPushEndpoints() {
            return run(Operation.list("GET", Operation.query("/push/endpoints", Operation.members("limit", 200, "pages", "all")), null, "endpoints", Members::of));
        }

        /**
         * Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has
         * the secret. A job is active under a lease before it is sent, and the answer settles it. The address must
         * begin with https:// and be public, unless the server allows others.
         *
         * {@snippet :
         * var answer = client.createPushEndpoint(Map.of("config", Map.of("max_concurrency", 100, "signing_secret", "whsec_test_secret", "timeout_ms", 30000), "endpoint", "https://example.com/functions/jobs", "job_types", List.of("email.send", "report.*"), "queues", List.of("default")));
         * }
         *
         * @param endpoint its members: {@code endpoint} (the URL, or {@code sqs:} and the URL of a queue of Amazon
         *     SQS) and {@code job_types} ({@code *} stands for any characters); if wanted {@code queues}, {@code
         *     config} ({@code max_concurrency}, {@code timeout_ms}, {@code signing_secret}, {@code weight}, {@code
         *     retry_429}), {@code routing}, {@code provider} and {@code active}
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> createPushEndpoint(Map<String, ?> endpoint) {
            return run(Operation.member("POST", "/push/endpoints", endpoint, "push_endpoint"));
        }

        /**
         * An endpoint, without its secret.
         *
         * {@snippet :
         * var answer = client.getPushEndpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the endpoint, {@code push_…}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getPushEndpoint(String id) {
            return run(Operation.member("GET", Operation.place("/push/endpoints/{id}", id), null, "push_endpoint"));
        }

        /**
         * Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs
         * again. With {@code active} false it is sent nothing; its jobs stay available for workers that fetch.
         *
         * {@snippet :
         * var answer = client.updatePushEndpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", Map.of("active", false));
         * }
         *
         * @param id the id of the endpoint
         * @param changes the members that change: {@code endpoint}, {@code job_types}, {@code queues}, {@code
         *     config}, {@code routing}, {@code provider}, {@code active}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> updatePushEndpoint(String id, Map<String, ?> changes) {
            return run(Operation.member("PATCH", Operation.place("/push/endpoints/{id}", id), changes, "push_endpoint"));
        }

        /**
         * Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
         *
         * {@snippet :
         * client.deletePushEndpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the endpoint
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void deletePushEndpoint(String id) {
            run(Operation.nothing("DELETE", Operation.place("/push/endpoints/{id}", id)));
        }

        /**
         * Sends a job of the type {@code push.test} now, once, and explains the answer: {@code success}, {@code
         * outcome}, {@code explanation}, {@code status_code}, {@code response_time_ms}, {@code response_body}.
         *
         * {@snippet :
         * var answer = client.testPushEndpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the endpoint
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> testPushEndpoint(String id) {
            return run(Operation.whole("POST", Operation.place("/push/endpoints/{id}/test", id), Map.of()));
        }

        /**
         * Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new
         * one.
         *
         * {@snippet :
         * var answer = client.rotatePushSecret("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the endpoint
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> rotatePushSecret(String id) {
            return run(Operation.member("POST", Operation.place("/push/endpoints/{id}/rotate-secret", id), Map.of(), "push_endpoint"));
        }

        /**
         * What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and
         * error. It is read from the job and from the event log, so it is there for as long as the job. {@code
         * fingerprint} of a failed attempt is the same for errors that differ only in numbers, ids and quoted
         * text. The history of a job has at most the newest 50 failures.
         *
         * {@snippet :
         * var answer = client.getHistory("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", null, null);
         * }
         *
         * @param id the job's id
         * @param limit the most events in the answer, 1 to 1,000; 50 without it; null: not said
         * @param cursor the {@code next_cursor} of the page before; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> getHistory(String id, Integer limit, String cursor) {
            return run(Operation.whole("GET", Operation.query(Operation.place("/jobs/{id}/history", id), Operation.members("limit", limit, "cursor", cursor)), null));
        }

        /** The same without what may be left out. */
        public Map<String, Object> getHistory(String id) {
            return getHistory(id, null, null);
        }

        /**
         * The workflow that a job is part of, with all its steps as a {@code tree}; a job without a workflow is a
         * tree of its own. {@code root_id} is the outermost workflow. {@code parent_id} and {@code root_id} of a
         * job without a workflow are what its client has sent under these names. A tree has at most 1,000 nodes;
         * {@code truncated} says that there are more.
         *
         * {@snippet :
         * var answer = client.getLineage("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getLineage(String id) {
            return run(Operation.whole("GET", Operation.place("/jobs/{id}/lineage", id), null));
        }

        /**
         * Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The
         * errors and the result of the job are parts of the job: they go when the job is deleted.
         *
         * {@snippet :
         * var answer = client.deleteHistory("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> deleteHistory(String id) {
            return run(Operation.whole("DELETE", Operation.place("/jobs/{id}/history", id), null));
        }

        /**
         * How many events happened in each minute, hour or day, with average and 95th percentile of the durations,
         * the oldest first. Periods in which nothing happened are left out. Figures are kept for a day by minutes
         * and for a month by hours. Durations come from classes, so they are off by 10 % at most. Figures are kept
         * by queue, not by job type: {@code job_types} is answered with 501.
         *
         * {@snippet :
         * var answer = client.historyStats(Instant.parse("2031-01-01T00:00:00Z"), null, "mail", "day");
         * }
         *
         * @param since from this time on; without it an hour, a day or a month back; null: not said
         * @param before before this time; null: not said
         * @param queues only events of jobs of these queues, with commas between them; null: not said
         * @param groupBy the length of each period; {@code hour} without it; null: not said; one of minute, hour,
         *     day
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> historyStats(Instant since, Instant before, String queues, String groupBy) {
            return run(Operation.list("GET", Operation.query("/history/stats", Operation.members("start", text(since), "end", text(before), "queues", queues, "group_by", groupBy)), null, "buckets", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> historyStats() {
            return historyStats(null, null, null, null);
        }

        /**
         * Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids,
         * numbers and quoted text. A group has {@code fingerprint}, {@code error_type}, {@code message} (the last
         * one), {@code count}, {@code first_seen_at}, {@code last_seen_at}, {@code queues}, {@code types} and
         * {@code job_ids}, the newest jobs of each queue and type, 50 at most. The server keeps the 2,000 groups
         * of a queue and type that failed last, for 30 days after their last failure. Failures of the last five
         * seconds before a crash may be missing.
         *
         * {@snippet :
         * var answer = client.listErrorGroups("mail", "email.*", "Timeout", "acme", Instant.parse("2031-01-01T00:00:00Z"), "count", 2, 50);
         * }
         *
         * @param queue only failures of jobs of this queue; null: not said
         * @param jobType only this job type; {@code email.*} is all types that start with {@code email.}; null:
         *     not said
         * @param errorType only errors of this type; null: not said
         * @param tenant only failures of jobs of this tenant; null: not said
         * @param since only groups with a failure at this time or later; null: not said
         * @param sort what comes first: {@code last_seen_at} (the default), {@code first_seen_at} or {@code
         *     count}, the latest or the largest; null: not said
         * @param page the page, from 1; null: not said
         * @param perPage the most groups on the page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> listErrorGroups(String queue, String jobType, String errorType, String tenant, Instant since, String sort, Integer page, Integer perPage) {
            return run(Operation.list("GET", Operation.query("/admin/errors", Operation.members("queue", queue, "type", jobType, "error_type", errorType, "tenant", tenant, "since", text(since), "sort", sort, "page", page, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> listErrorGroups() {
            return listErrorGroups(null, null, null, null, null, null, null, null);
        }

        /**
         * One group of errors, with its {@code places} (the failures by queue and type) and those of its {@code
         * jobs} that there still are.
         *
         * {@snippet :
         * var answer = client.getErrorGroup("1f0c5f9d2a7be643", "mail", null, null);
         * }
         *
         * @param fingerprint the fingerprint, as the history of a job has it
         * @param queue only failures of jobs of this queue; null: not said
         * @param jobType only this job type; null: not said
         * @param tenant only failures of jobs of this tenant; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> getErrorGroup(String fingerprint, String queue, String jobType, String tenant) {
            return run(Operation.whole("GET", Operation.query(Operation.place("/admin/errors/{fingerprint}", fingerprint), Operation.members("queue", queue, "type", jobType, "tenant", tenant)), null));
        }

        /** The same without what may be left out. */
        public Map<String, Object> getErrorGroup(String fingerprint) {
            return getErrorGroup(fingerprint, null, null, null);
        }

        /**
         * Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation.
         * The server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the
         * place which the operation has reached: after a crash it goes on there, on any node. Jobs that were
         * enqueued or have ended since the request are not meant. Those that cannot be changed are counted by
         * reason. With {@code dry_run} nothing is changed: the answer has {@code matched}, the number of jobs
         * ({@code relation} is {@code eq}, {@code about} or {@code gte}; at most 50,000 rows are looked at), the
         * numbers by state, queue and type, and a {@code sample}. To delete needs the permission to administer. At
         * most 100 operations of a tenant, and 100 of operators, may be under way.
         *
         * {@snippet :
         * var answer = client.startBulkOperation("retry", Map.of("queue", "mail", "state", "discarded"), "the mail server was down", null);
         * }
         *
         * @param action {@code retry}, {@code cancel} or {@code delete}
         * @param filter which jobs: {@code queue}, {@code type}, {@code state} (one or a list), {@code since},
         *     {@code until}, {@code priority}, {@code meta}, {@code error_type} (of the latest error), {@code
         *     dead_letters} (true: only dead letters) and {@code q} (a search, as lists of jobs have it). An empty one
         *     means all that the action can reach
         * @param reason why, at most 500 characters; it is kept with the operation; null: not said
         * @param dryRun say what would be found, and change nothing; null: not said
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         * @throws OJSException.Authentication the token is missing, wrong, or not allowed to do this
         */
        public Map<String, Object> startBulkOperation(String action, Map<String, ?> filter, String reason, Boolean dryRun) {
            return run(Operation.whole("POST", "/admin/bulk", Operation.members("action", action, "filter", filter, "reason", reason, "dry_run", dryRun, "confirm", true)));
        }

        /** The same without what may be left out. */
        public Map<String, Object> startBulkOperation(String action, Map<String, ?> filter) {
            return startBulkOperation(action, filter, null, null);
        }

        /**
         * Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of
         * them.
         *
         * {@snippet :
         * var answer = client.listBulkOperations("running", null, 50);
         * }
         *
         * @param state only those in this state: {@code running}, {@code paused}, {@code completed}, {@code
         *     cancelled} or {@code failed}; null: not said
         * @param cursor only those before this one: the id of the last one on the page before; null: not said
         * @param perPage the most on the page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> listBulkOperations(String state, String cursor, Integer perPage) {
            return run(Operation.list("GET", Operation.query("/admin/bulk", Operation.members("state", state, "cursor", cursor, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> listBulkOperations() {
            return listBulkOperations(null, null, null);
        }

        /**
         * A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and
         * why. {@code counts} has {@code seen}, {@code changed} and {@code refused}; {@code refusals} has {@code
         * count}, the first {@code job_id} and its {@code message} for each {@code reason}; {@code progress} has
         * the number of jobs that is {@code expected} and the {@code fraction} that is done, where it can be said.
         *
         * {@snippet :
         * var answer = client.getBulkOperation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 30000);
         * }
         *
         * @param id the id of the operation
         * @param waitMs answer as soon as it does not run any more, at the latest after so many milliseconds:
         *     60,000 at most; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getBulkOperation(String id, Integer waitMs) {
            return run(Operation.whole("GET", Operation.query(Operation.place("/admin/bulk/{id}", id), Operation.members("wait_ms", waitMs)), null));
        }

        /** The same without what may be left out. */
        public Map<String, Object> getBulkOperation(String id) {
            return getBulkOperation(id, null);
        }

        /**
         * Stops a bulk operation until it is resumed. The slice that is under way is finished.
         *
         * {@snippet :
         * var answer = client.pauseBulkOperation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the operation
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> pauseBulkOperation(String id) {
            return run(Operation.whole("POST", Operation.place("/admin/bulk/{id}/pause", id), Map.of()));
        }

        /**
         * Goes on with a bulk operation that was paused, or that has failed, where it stopped.
         *
         * {@snippet :
         * var answer = client.resumeBulkOperation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the operation
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.Authentication the token is missing, wrong, or not allowed to do this
         */
        public Map<String, Object> resumeBulkOperation(String id) {
            return run(Operation.whole("POST", Operation.place("/admin/bulk/{id}/resume", id), Map.of()));
        }

        /**
         * Ends a bulk operation for good. Jobs that it has changed stay changed.
         *
         * {@snippet :
         * var answer = client.cancelBulkOperation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the operation
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> cancelBulkOperation(String id) {
            return run(Operation.whole("POST", Operation.place("/admin/bulk/{id}/cancel", id), Map.of()));
        }

        /**
         * The relays that send rows of outboxes to this server, with what each of them said last. An item has
         * {@code id}, {@code name}, {@code tenant_id}, {@code database} (its kind), {@code outbox} (the table),
         * {@code state} ({@code running}; {@code stuck} while a row has waited for more than a minute; {@code
         * silent} after 20 seconds without a heartbeat), {@code leading} (whether it is the one that sends),
         * {@code waiting} (rows, with {@code waiting_relation}: {@code gte} when there are more than were
         * counted), {@code oldest_waiting_ms}, {@code parked} (rows that the server has refused for good), {@code
         * sent} since its start, {@code sent_per_minute}, {@code error} (what holds it up), {@code
         * first_heartbeat_at} and {@code last_heartbeat_at}. {@code summary} counts the relays by state. A relay
         * that stops is forgotten at once, a silent one after 15 minutes. At most 200 of a tenant are kept, and
         * 1,000 in all.
         *
         * {@snippet :
         * var answer = client.listRelays("stuck", 2, 50);
         * }
         *
         * @param state only relays in this state: {@code running}, {@code stuck} or {@code silent}; null: not said
         * @param page the page, from 1; null: not said
         * @param perPage the most relays on the page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> listRelays(String state, Integer page, Integer perPage) {
            return run(Operation.list("GET", Operation.query("/admin/relays", Operation.members("state", state, "page", page, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> listRelays() {
            return listRelays(null, null, null);
        }
    }

    /** The methods of {@link Bulk}. */
    abstract static class OfBulk {
        final OJSClient client;

        OfBulk(OJSClient client) {
            this.client = client;
        }

        /**
         * Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the
         * filter names other states. Jobs that cannot be cancelled are skipped, and their items say why; with
         * {@code atomic} one such job keeps the others from being cancelled.
         *
         * {@snippet :
         * var answer = client.bulk().cancel(Bulk.Target.where(new Bulk.Filter("reports", null, null, null, null, null, null)), false);
         * }
         *
         * @param target which jobs: ids, or a filter
         * @param atomic all of the jobs, or none
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Bulk.Result cancel(Bulk.Target target, boolean atomic) {
            return client.run(Operation.read("POST", "/jobs/bulk/cancel", Operation.with(target.wire(), Operation.members("atomicity", atomic ? "atomic" : "partial")), Bulk.Result::of));
        }

        /** The same without what may be left out. */
        public Bulk.Result cancel(Bulk.Target target) {
            return cancel(target, false);
        }

        /**
         * Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after
         * their pause. Jobs that cannot be retried are skipped, and their items say why; with {@code atomic} one
         * such job keeps the others from being retried.
         *
         * {@snippet :
         * var answer = client.bulk().retry(Bulk.Target.ids(List.of("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")), true);
         * }
         *
         * @param target which jobs: ids, or a filter
         * @param atomic all of the jobs, or none
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Bulk.Result retry(Bulk.Target target, boolean atomic) {
            return client.run(Operation.read("POST", "/jobs/bulk/retry", Operation.with(target.wire(), Operation.members("atomicity", atomic ? "atomic" : "partial")), Bulk.Result::of));
        }

        /** The same without what may be left out. */
        public Bulk.Result retry(Bulk.Target target) {
            return retry(target, false);
        }

        /**
         * Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are
         * skipped, and their items say why; with {@code atomic} one such job keeps the others from being deleted.
         *
         * {@snippet :
         * var answer = client.bulk().delete(Bulk.Target.where(new Bulk.Filter(null, "email.*", List.of("completed", "cancelled"), null, null, null, null)), false);
         * }
         *
         * @param target which jobs: ids, or a filter
         * @param atomic all of the jobs, or none
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Bulk.Result delete(Bulk.Target target, boolean atomic) {
            return client.run(Operation.read("POST", "/jobs/bulk/delete", Operation.with(target.wire(), Operation.members("atomicity", atomic ? "atomic" : "partial")), Bulk.Result::of));
        }

        /** The same without what may be left out. */
        public Bulk.Result delete(Bulk.Target target) {
            return delete(target, false);
        }
    }

    /** The methods of {@link Queues}. */
    abstract static class OfQueues {
        final OJSClient client;

        OfQueues(OJSClient client) {
            this.client = client;
        }

        /**
         * All queues with their status.
         *
         * {@snippet :
         * var answer = client.queues().list();
         * }
         */
        public List<Map<String, Object>> list() {
            return client.run(Operation.list("GET", Operation.query("/queues", Operation.members("pages", "all")), null, "queues", Members::of));
        }

        /**
         * How many jobs of the queue are in which state.
         *
         * {@snippet :
         * var answer = client.queues().stats("mail");
         * }
         *
         * @param name the name of the queue
         */
        public Map<String, Object> stats(String name) {
            return client.run(Operation.member("GET", Operation.place("/queues/{name}/stats", name), null, "queue"));
        }

        /**
         * Stops handing out jobs of the queue until {@code resume}. Jobs can still be enqueued. A queue that does
         * not exist is made, paused: the protocol answers 200 for every name. {@code ojs queues pause} asks first.
         *
         * {@snippet :
         * var answer = client.queues().pause("mail");
         * }
         *
         * @param name the name of the queue
         */
        public Map<String, Object> pause(String name) {
            return client.run(Operation.member("POST", Operation.place("/queues/{name}/pause", name), Map.of(), "queue"));
        }

        /**
         * Hands out jobs of the queue again, and accepts new ones.
         *
         * {@snippet :
         * var answer = client.queues().resume("mail");
         * }
         *
         * @param name the name of the queue
         */
        public Map<String, Object> resume(String name) {
            return client.run(Operation.member("POST", Operation.place("/queues/{name}/resume", name), Map.of(), "queue"));
        }

        /**
         * Creates a queue with settings, such as {@code concurrency}, {@code max_size}, {@code rate_limit} and
         * {@code retention}.
         *
         * {@snippet :
         * var answer = client.queues().create("mail", Map.of("concurrency", 20, "rate_limit", Map.of("limit", 100, "period", "PT1M")));
         * }
         *
         * @param name the name of the queue
         * @param config the settings, by their names on the wire
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> create(String name, Map<String, ?> config) {
            return client.run(Operation.whole("POST", "/queues", Operation.members("name", name, "config", config)));
        }

        /**
         * A queue with its settings and counts.
         *
         * {@snippet :
         * var answer = client.queues().get("mail");
         * }
         *
         * @param name the name of the queue
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> get(String name) {
            return client.run(Operation.whole("GET", Operation.place("/queues/{name}", name), null));
        }

        /**
         * Changes the settings that are named and leaves the others. A setting of null goes back to the template,
         * the queue {@code _default}.
         *
         * {@snippet :
         * var answer = client.queues().configure("mail", Map.of("max_size", 1000));
         * }
         *
         * @param name the name of the queue
         * @param config the settings, by their names on the wire
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> configure(String name, Map<String, ?> config) {
            return client.run(Operation.whole("PUT", Operation.place("/queues/{name}/config", name), config));
        }

        /**
         * Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
         *
         * {@snippet :
         * client.queues().delete("mail", "move", "letters");
         * }
         *
         * @param name the name of the queue
         * @param strategy what happens to the jobs of the queue; null: not said; one of reject, discard, move
         * @param targetQueue where the jobs go, for the strategy {@code move}; null: not said
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public void delete(String name, String strategy, String targetQueue) {
            client.run(Operation.nothing("DELETE", Operation.query(Operation.place("/queues/{name}", name), Operation.members("strategy", strategy, "target_queue", targetQueue))));
        }

        /** The same without what may be left out. */
        public void delete(String name) {
            delete(name, null, null);
        }

        /**
         * Accepts no more jobs for the queue and hands out those that are in it, until {@code resume}.
         *
         * {@snippet :
         * var answer = client.queues().drain("mail");
         * }
         *
         * @param name the name of the queue
         */
        public Map<String, Object> drain(String name) {
            return client.run(Operation.whole("POST", Operation.place("/queues/{name}/drain", name), Map.of()));
        }

        /**
         * Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be
         * brought back. Jobs that wait are cancelled first, so that workflows go on. Active jobs are never
         * removed.
         *
         * {@snippet :
         * var answer = client.queues().purge("reports", List.of("completed", "cancelled"), "PT1H");
         * }
         *
         * @param name the name of the queue
         * @param states the states of the jobs to remove
         * @param olderThan only jobs older than this: a time, or a length of time before now; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public int purge(String name, List<String> states, String olderThan) {
            int total = 0;
            Map<String, Object> answer;
            do {
                answer = client.run(Operation.whole("DELETE", Operation.place("/admin/queues/{name}/jobs", name), Operation.members("states", states, "older_than", olderThan, "confirm", true, "limit", 10000)));
                total += Members.number(answer, "purged_count", 0);
            } while (Boolean.TRUE.equals(answer.get("has_more")));
            return total;
        }

        /** The same without what may be left out. */
        public int purge(String name, List<String> states) {
            return purge(name, states, null);
        }

        /**
         * How the jobs of a queue are shared: by tenant or by key, and with which weights.
         *
         * {@snippet :
         * var answer = client.queues().getFairness("mail");
         * }
         *
         * @param name the name of the queue
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> getFairness(String name) {
            return client.run(Operation.whole("GET", Operation.place("/admin/queues/{name}/fairness", name), null));
        }

        /**
         * Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed
         * out in turn, in proportion to their weights. The settings are {@code by} ({@code tenant}, the default,
         * or {@code key}: the {@code fairness_key} of a job, and its tenant where it names none), {@code weights}
         * by id of the tenant or by key (1 to 1000, at most 100), and {@code default_weight} for all others (1). A
         * tenant without a weight has the {@code fairness_weight} of its limits. What is left out has its default,
         * and {@code enabled} of {@code false} ends the sharing. The answer is 201 when the queue was not shared
         * before.
         *
         * {@snippet :
         * var answer = client.queues().setFairness("mail", Map.of("by", "tenant", "weights", Map.of("acme", 4)));
         * }
         *
         * @param name the name of the queue. It is made when there is none
         * @param sharing the settings, by their names on the wire
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> setFairness(String name, Map<String, ?> sharing) {
            return client.run(Operation.whole("PUT", Operation.place("/admin/queues/{name}/fairness", name), sharing));
        }

        /**
         * Ends the sharing of a queue: its jobs are handed out in their order again.
         *
         * {@snippet :
         * client.queues().deleteFairness("mail");
         * }
         *
         * @param name the name of the queue
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void deleteFairness(String name) {
            client.run(Operation.nothing("DELETE", Operation.place("/admin/queues/{name}/fairness", name)));
        }
    }

    /** The methods of {@link RateLimits}. */
    abstract static class OfRateLimits {
        final OJSClient client;

        OfRateLimits(OJSClient client) {
            this.client = client;
        }

        /**
         * The keys that have limits, with how much of each limit is used.
         *
         * {@snippet :
         * var answer = client.rateLimits().list();
         * }
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> list() {
            return client.run(Operation.list("GET", Operation.query("/rate-limits", Operation.members("limit", 200, "pages", "all")), null, "items", Members::of));
        }

        /**
         * The limits of a key, with how much of each is used.
         *
         * {@snippet :
         * var answer = client.rateLimits().get("stripe");
         * }
         *
         * @param key the key
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> get(String key) {
            return client.run(Operation.whole("GET", Operation.place("/rate-limits/{key}", key), null));
        }

        /**
         * Gives a key other limits until a time, for example {@code concurrency} 2. Without any limit the override
         * ends.
         *
         * {@snippet :
         * var answer = client.rateLimits().override("stripe", Map.of("concurrency", 2), Instant.parse("2031-01-01T00:00:00Z"));
         * }
         *
         * @param key the key
         * @param limits the limits, by their names on the wire
         * @param expiresAt when the override ends; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> override(String key, Map<String, ?> limits, Instant expiresAt) {
            return client.run(Operation.whole("PUT", Operation.place("/rate-limits/{key}", key), Operation.with(limits, Operation.members("expires_at", text(expiresAt)))));
        }
    }

    /** The methods of {@link DeadLetters}. */
    abstract static class OfDeadLetters {
        final OJSClient client;

        OfDeadLetters(OJSClient client) {
            this.client = client;
        }

        /**
         * The dead letter with this id.
         *
         * {@snippet :
         * var answer = client.deadLetters().get("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job get(String id) {
            return client.run(Operation.job("GET", Operation.place("/dead-letter/{id}", id), null));
        }

        /**
         * Runs a dead letter again, with all its attempts.
         *
         * {@snippet :
         * var answer = client.deadLetters().retry("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.PayloadTooLarge the job, its metadata, its result or the batch is larger than the
         *     server takes
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Job retry(String id) {
            return client.run(Operation.job("POST", Operation.place("/dead-letter/{id}/retry", id), Map.of()));
        }

        /**
         * Deletes a dead letter. It cannot be brought back.
         *
         * {@snippet :
         * client.deadLetters().discard("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the job's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void discard(String id) {
            client.run(Operation.nothing("DELETE", Operation.place("/dead-letter/{id}", id)));
        }

        /**
         * Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of
         * them.
         *
         * {@snippet :
         * var answer = client.deadLetters().retryAll(new DeadLetters.Filter("mail", null, "Timeout", Instant.parse("2031-01-01T00:00:00Z"), null));
         * }
         *
         * @param filter which dead letters
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public int retryAll(DeadLetters.Filter filter) {
            return client.run(Operation.number("POST", "/dead-letter/retry", Operation.members("filter", filter.members(), "confirm", true), "retried"));
        }

        /**
         * Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of
         * them.
         *
         * {@snippet :
         * var answer = client.deadLetters().discardAll(new DeadLetters.Filter(null, "email.*", null, null, Instant.parse("2031-01-01T00:00:00Z")));
         * }
         *
         * @param filter which dead letters
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public int discardAll(DeadLetters.Filter filter) {
            return client.run(Operation.number("DELETE", Operation.query("/dead-letter", Operation.with(filter.members(), Operation.members("confirm", true))), null, "deleted"));
        }

        /**
         * How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000
         * are kept, the numbers in {@code by_error_type} are those of the newest 20,000: {@code
         * by_error_type_relation} is {@code gte}. A caller of a tenant gets all numbers so, with {@code
         * total_relation} and {@code by_queue_relation}.
         *
         * {@snippet :
         * var answer = client.deadLetters().stats();
         * }
         */
        public Map<String, Object> stats() {
            return client.run(Operation.whole("GET", "/dead-letter/stats", null));
        }

        /**
         * What would come of running dead letters again: which would be refused, which would wait and for what,
         * and which would run although an enqueue of the same job would be refused. Nothing is changed. {@code
         * matched} dead letters are meant (at least so many where {@code matched_relation} is {@code gte}: a
         * filter is compared with 20,000), of which the newest 500 are looked at ({@code looked_at}, {@code
         * complete}). Of these {@code would_run}, {@code would_wait} and {@code would_be_refused} say how many;
         * {@code with_warnings} run or wait beside that. Each of {@code reasons} has {@code code}, {@code effect}
         * ({@code refused}, {@code waits} or {@code warning}), {@code message}, the number of {@code jobs}, the
         * first of them as {@code job_id} and, where there is one, the {@code command} that helps. {@code jobs}
         * has the first 20 jobs that meet one. Limits that free themselves as jobs end (full workers, concurrency,
         * rates) are no reason.
         *
         * {@snippet :
         * var answer = client.deadLetters().preview("mail", null, "Timeout", null, null, null);
         * }
         *
         * @param queue only jobs of this queue; null: not said
         * @param jobType only this job type; {@code email.*} is all types that start with {@code email.}; null:
         *     not said
         * @param errorType only jobs whose last error is of this type; null: not said
         * @param since only jobs discarded at this time or later; null: not said
         * @param until only jobs discarded before this time; null: not said
         * @param jobs these jobs instead: their ids with commas between them, 100 at most; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> preview(String queue, String jobType, String errorType, Instant since, Instant until, String jobs) {
            return client.run(Operation.whole("GET", Operation.query("/dead-letter/preview", Operation.members("queue", queue, "type", jobType, "error_type", errorType, "since", text(since), "until", text(until), "job_ids", jobs)), null));
        }

        /** The same without what may be left out. */
        public Map<String, Object> preview() {
            return preview(null, null, null, null, null, null);
        }
    }

    /** The methods of {@link Cron}. */
    abstract static class OfCron {
        final OJSClient client;

        OfCron(OJSClient client) {
            this.client = client;
        }

        /**
         * All cron entries.
         *
         * {@snippet :
         * var answer = client.cron().list();
         * }
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> list() {
            return client.run(Operation.read("GET", Operation.query("/cron", Operation.members("pages", "all")), null, Cron::entries));
        }

        /**
         * The cron entry of this name.
         *
         * {@snippet :
         * var answer = client.cron().get("digest");
         * }
         *
         * @param name the name of the entry
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> get(String name) {
            return client.run(Operation.read("GET", Operation.place("/cron/{name}", name), null, Cron::entry));
        }

        /**
         * Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
         *
         * {@snippet :
         * var answer = client.cron().enable("digest", false);
         * }
         *
         * @param name the name of the entry
         * @param enabled whether the entry enqueues jobs
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> enable(String name, boolean enabled) {
            return client.run(Operation.read("PATCH", Operation.place("/cron/{name}", name), Operation.members("enabled", enabled), Cron::entry));
        }

        /**
         * Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The
         * overlap policy holds: while the latest job of the entry goes on, {@code skip} and {@code enqueue} answer
         * with 409 {@code conflict}, and {@code cancel_previous} cancels that job.
         *
         * {@snippet :
         * var answer = client.cron().run("digest");
         * }
         *
         * @param name the name of the entry
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Job run(String name) {
            return client.run(Operation.job("POST", Operation.place("/cron/{name}/run", name), Map.of()));
        }

        /**
         * Deletes the cron entry. The jobs that it has enqueued stay.
         *
         * {@snippet :
         * client.cron().delete("digest");
         * }
         *
         * @param name the name of the entry
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public void delete(String name) {
            client.run(Operation.nothing("DELETE", Operation.place("/cron/{name}", name)));
        }
    }

    /** The methods of {@link Workers}. */
    abstract static class OfWorkers {
        final OJSClient client;

        OfWorkers(OJSClient client) {
            this.client = client;
        }

        /**
         * The workers that the server knows, with what each of them does.
         *
         * {@snippet :
         * var answer = client.workers().list("running", 1, 100);
         * }
         *
         * @param state only workers in this state; null: not said
         * @param page the number of the page. The first page is 1; null: not said
         * @param perPage the most workers on one page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> list(String state, Integer page, Integer perPage) {
            return client.run(Operation.list("GET", Operation.query("/admin/workers", Operation.members("state", state, "page", page, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> list() {
            return list(null, null, null);
        }

        /**
         * The worker with this id.
         *
         * {@snippet :
         * var answer = client.workers().get("mail-1");
         * }
         *
         * @param id the worker's id
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> get(String id) {
            return client.run(Operation.whole("GET", Operation.place("/admin/workers/{id}", id), null));
        }

        /**
         * Tells a worker to take no more jobs ({@code quiet}), to stop ({@code terminate}), or to take jobs again
         * ({@code resume}). The worker hears of it with its next heartbeat.
         *
         * {@snippet :
         * var answer = client.workers().direct("mail-1", "quiet");
         * }
         *
         * @param id the worker's id
         * @param directive what the worker shall do; one of quiet, terminate, resume
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> direct(String id, String directive) {
            return client.run(Operation.whole("POST", Operation.place("/admin/workers/{id}/{directive}", id, directive), Map.of()));
        }

        /**
         * Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
         *
         * {@snippet :
         * var answer = client.workers().remove("mail-1");
         * }
         *
         * @param id the worker's id
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> remove(String id) {
            return client.run(Operation.whole("DELETE", Operation.place("/admin/workers/{id}", id), null));
        }
    }

    /** The methods of {@link Trains}. */
    abstract static class OfTrains {
        final OJSClient client;

        OfTrains(OJSClient client) {
            this.client = client;
        }

        /**
         * The trains that have jobs, in the order of their ids, or only those in one state; the one that was held
         * first comes first.
         *
         * {@snippet :
         * var answer = client.trains().list("held");
         * }
         *
         * @param state only trains in this state: {@code running}, {@code draining} or {@code held}; null: not
         *     said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> list(String state) {
            return client.run(Operation.list("GET", Operation.query("/trains", Operation.members("state", state, "limit", 200, "pages", "all")), null, "trains", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> list() {
            return list(null);
        }

        /**
         * A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in
         * which they run.
         *
         * {@snippet :
         * var answer = client.trains().get("dest_7");
         * }
         *
         * @param id the id of the train
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> get(String id) {
            return client.run(Operation.whole("GET", Operation.place("/trains/{id}", id), null));
        }

        /**
         * Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
         *
         * {@snippet :
         * var answer = client.trains().advance("dest_7", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
         * }
         *
         * @param id the id of the train
         * @param jobId only if this job is the locomotive; null: not said
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> advance(String id, String jobId) {
            return client.run(Operation.whole("POST", Operation.place("/trains/{id}/advance", id), Operation.members("job_id", jobId, "confirm", true)));
        }

        /** The same without what may be left out. */
        public Map<String, Object> advance(String id) {
            return advance(id, null);
        }

        /**
         * Holds a train: a job of it that runs may end, and no further one starts until {@link #advance}.
         *
         * {@snippet :
         * var answer = client.trains().hold("dest_7");
         * }
         *
         * @param id the id of the train
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> hold(String id) {
            return client.run(Operation.whole("POST", Operation.place("/trains/{id}/hold", id), Map.of()));
        }
    }

    /** The methods of {@link Tenants}. */
    abstract static class OfTenants {
        final OJSClient client;

        OfTenants(OJSClient client) {
            this.client = client;
        }

        /**
         * The tenants of the server by id, with the number of their jobs and their limits.
         *
         * {@snippet :
         * var answer = client.tenants().list(2, 50);
         * }
         *
         * @param page the page, from 1; null: not said
         * @param perPage the most tenants on the page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> list(Integer page, Integer perPage) {
            return client.run(Operation.list("GET", Operation.query("/admin/tenants", Operation.members("page", page, "per_page", perPage)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> list() {
            return list(null, null);
        }

        /**
         * A tenant with its status, its limits and the number of its jobs by state.
         *
         * {@snippet :
         * var answer = client.tenants().get("acme");
         * }
         *
         * @param id the id of the tenant
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> get(String id) {
            return client.run(Operation.whole("GET", Operation.place("/admin/tenants/{id}", id), null));
        }

        /**
         * Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
         *
         * {@snippet :
         * var answer = client.tenants().put("acme", Map.of("limits", Map.of("max_concurrency", 10), "name", "Acme Ltd.", "status", "active"));
         * }
         *
         * @param id the id of the tenant
         * @param changes its members: {@code name} (for people), {@code limits} (as in {@code PUT
         *     /admin/tenants/{id}/limits}), {@code fairness_weight} (which leaves the other limits as they are) and
         *     {@code status} ({@code active} or {@code suspended})
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> put(String id, Map<String, ?> changes) {
            return client.run(Operation.whole("PUT", Operation.place("/admin/tenants/{id}", id), changes));
        }

        /**
         * Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
         *
         * {@snippet :
         * var answer = client.tenants().delete("acme");
         * }
         *
         * @param id the id of the tenant
         * @throws OJSException.InvalidStateTransition the state of the job, schema, workflow or other thing does
         *     not allow the operation; for a job, current_state in the details names it
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> delete(String id) {
            return client.run(Operation.whole("DELETE", Operation.place("/admin/tenants/{id}", id), null));
        }

        /**
         * Sets what a tenant may use: {@code max_concurrency}, {@code max_enqueue_rate}, {@code max_queue_depth}
         * and {@code max_scheduled}; and {@code fairness_weight}, its weight in shared queues. What the body
         * leaves out is not limited any more. Jobs that have more than the new limits allow stay.
         *
         * {@snippet :
         * var answer = client.tenants().setLimits("acme", Map.of("max_concurrency", 10, "max_enqueue_rate", Map.of("limit", 100, "period", "PT1S"), "max_queue_depth", 10000, "max_scheduled", 500));
         * }
         *
         * @param id the id of the tenant
         * @param limits its members: {@code max_concurrency} (jobs that are active at a time), {@code
         *     max_enqueue_rate} ({@code limit} jobs in each {@code period}, an ISO 8601 duration), {@code
         *     max_queue_depth} (jobs that wait, in all queues together), {@code max_scheduled}, and {@code
         *     fairness_weight} (jobs that it gets while a tenant of weight 1 gets one, in queues that tenants share: 1
         *     to 1,000); and {@code reason}, a text for the log of the server
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public Map<String, Object> setLimits(String id, Map<String, ?> limits) {
            return client.run(Operation.whole("PUT", Operation.place("/admin/tenants/{id}/limits", id), limits));
        }

        /**
         * Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go
         * on.
         *
         * {@snippet :
         * var answer = client.tenants().suspend("acme");
         * }
         *
         * @param id the id of the tenant
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> suspend(String id) {
            return client.run(Operation.whole("POST", Operation.place("/admin/tenants/{id}/suspend", id), Map.of()));
        }

        /**
         * Ends the suspension of a tenant: its jobs are taken and handed out again.
         *
         * {@snippet :
         * var answer = client.tenants().resume("acme");
         * }
         *
         * @param id the id of the tenant
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> resume(String id) {
            return client.run(Operation.whole("POST", Operation.place("/admin/tenants/{id}/resume", id), Map.of()));
        }

        /**
         * What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
         *
         * {@snippet :
         * var answer = client.tenants().stats("acme");
         * }
         *
         * @param id the id of the tenant, or {@code _default}
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         */
        public Map<String, Object> stats(String id) {
            return client.run(Operation.whole("GET", Operation.place("/admin/tenants/{id}/stats", id), null));
        }

        /**
         * The jobs of a tenant, newest first; with the filters of {@code GET /admin/jobs}.
         *
         * {@snippet :
         * var answer = client.tenants().jobs("acme", "mail", "available", 1, 10);
         * }
         *
         * @param id the id of the tenant, or {@code _default}
         * @param queue only this queue; null: not said
         * @param state only this state; null: not said
         * @param page the page, from 1; null: not said
         * @param perPage the most jobs on the page, 1 to 100; 20 without it; null: not said
         * @throws OJSException.NotFound there is no such job, queue, workflow or schedule (any more)
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public JobPage jobs(String id, String queue, String state, Integer page, Integer perPage) {
            return client.run(Operation.page("GET", Operation.query(Operation.place("/admin/tenants/{id}/jobs", id), Operation.members("queue", queue, "state", state, "page", page, "per_page", perPage)), null));
        }

        /** The same without what may be left out. */
        public JobPage jobs(String id) {
            return jobs(id, null, null, null, null);
        }

        /**
         * Tenants that use far more than the others do, those with the most signals first. Each tenant that has
         * jobs, or had some in the last five minutes, is compared with the others. An item has {@code tenant_id},
         * {@code signals}, {@code queue_depth}, {@code active}, {@code error_rate}, and jobs per minute; a signal
         * has {@code signal} ({@code queue_depth_ratio}, {@code enqueue_rate_ratio}, {@code active_job_ratio} or
         * {@code error_rate}), {@code value}, {@code compared_with}, {@code ratio} (null where the others have
         * none) and {@code threshold}. The default tenant is left out. Nothing is read of jobs.
         *
         * {@snippet :
         * var answer = client.tenants().noisy(20, null, null, null, 50, 10);
         * }
         *
         * @param depthFactor the signal is more waiting jobs than so many times the median of the others; 10
         *     without it; null: not said
         * @param rateFactor the signal is more jobs enqueued lately than so many times the average of the others;
         *     5 without it; null: not said
         * @param activePercent the signal is a larger share of the active jobs of all tenants, 1 to 100; 50
         *     without it; null: not said
         * @param errorFactor the signal is a larger share of failed attempts than so many times that of the
         *     others; 3 without it; null: not said
         * @param minJobs with fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than
         *     a tenth of it that are active or failed; 100 without it; null: not said
         * @param limit the most tenants in the answer, 1 to 1,000; 100 without it; null: not said
         * @throws OJSException.InvalidRequest the server found the request wrong; field in the details names the
         *     place
         */
        public List<Map<String, Object>> noisy(Integer depthFactor, Integer rateFactor, Integer activePercent, Integer errorFactor, Integer minJobs, Integer limit) {
            return client.run(Operation.list("GET", Operation.query("/admin/stats/tenants/noisy", Operation.members("depth_factor", depthFactor, "rate_factor", rateFactor, "active_percent", activePercent, "error_factor", errorFactor, "min_jobs", minJobs, "limit", limit)), null, "items", Members::of));
        }

        /** The same without what may be left out. */
        public List<Map<String, Object>> noisy() {
            return noisy(null, null, null, null, null, null);
        }
    }
}

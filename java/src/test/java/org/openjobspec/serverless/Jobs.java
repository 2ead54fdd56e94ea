package org.openjobspec.serverless;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjobspec.Job;
import org.openjobspec.Json;
import org.openjobspec.OJSClient;
import org.openjobspec.OJSServer;

/** A server, and jobs that a push endpoint has been leased. */
final class Jobs {
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    /** In this process; it ends with the tests. */
    static final String SERVER = OJSServer.start().url();
    static final OJSClient CLIENT = OJSClient.connect(SERVER);

    private Jobs() {}

    /** A leased job, and the body of its delivery. */
    record Leased(String id, String body) {
        Job now() {
            return CLIENT.getJob(id);
        }

        String state() {
            return now().state();
        }
    }

    static Leased leased(String type, Object... args) {
        return leased(CLIENT, Map.of(), type, args);
    }

    /** Enqueues a job with further members, and takes it as the sender of a push endpoint takes it. */
    static Leased leased(OJSClient by, Map<String, Object> options, String type, Object... args) {
        String queue = "push-" + NUMBERS.incrementAndGet();
        Map<String, Object> all = new LinkedHashMap<>();
        // A failed job stays where a test looks for it.
        all.put("retry", Map.of("initial_interval", "PT1H"));
        all.putAll(options);
        all.put("queue", queue);
        Object sent = by.request("POST", "/jobs", Map.of("type", type, "args", args, "options", all));
        Object fetch = Map.of("queues", List.of(queue), "count", 1, "worker_id", "push_worker_1");
        Map<?, ?> answer = (Map<?, ?>) CLIENT.request("POST", "/workers/fetch", fetch);
        Object job = ((List<?>) answer.get("jobs")).getFirst();
        return new Leased((String) ((Map<?, ?>) ((Map<?, ?>) sent).get("job")).get("id"), delivery(Json.write(job)));
    }

    static String delivery(String job) {
        return "{\"job\":" + job + ",\"worker_id\":\"push_worker_1\",\"delivery_id\":\"del_"
                + NUMBERS.incrementAndGet() + "\"}";
    }

    /** A job that no server knows. */
    static String plain(String type) {
        String id = "01234567-89ab-7cde-8000-%012d".formatted(NUMBERS.incrementAndGet());
        return Json.write(Map.of("specversion", "1.0", "id", id, "type", type, "queue", "default", "args", List.of(1),
                "attempt", 1));
    }

    static Map<String, Object> sqs(String id, String body) {
        return message(id, body, "arn:aws:sqs:eu-central-1:1:ojs-default", Map.of());
    }

    static Map<String, Object> fifo(String id, String group, String body) {
        return message(id, body, "arn:aws:sqs:eu-central-1:1:ojs-default.fifo", Map.of("MessageGroupId", group));
    }

    static Map<String, Object> message(String id, String body, String queue, Map<String, Object> attributes) {
        return Map.of("messageId", id, "body", body, "eventSourceARN", queue, "attributes", attributes);
    }

    /** The messages of a batch that SQS shall deliver again. */
    @SafeVarargs
    static List<Object> again(LambdaHandler handler, Map<String, Object>... messages) {
        List<?> failures = (List<?>) handler.handle(Map.of("Records", List.of(messages)),
                null).get("batchItemFailures");
        return failures.stream().<Object>map(failure -> ((Map<?, ?>) failure).get("itemIdentifier")).toList();
    }

    static Map<?, ?> parsed(Answer answer) {
        return (Map<?, ?>) Json.parse(answer.body());
    }

    /** A member below others. */
    static Object dig(Object value, String... names) {
        for (String name : names) value = value instanceof Map<?, ?> members ? members.get(name) : null;
        return value;
    }
}

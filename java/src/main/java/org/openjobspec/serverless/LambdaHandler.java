package org.openjobspec.serverless;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openjobspec.Json;

/**
 * Handlers as a function of AWS Lambda: SQS, function URLs, API Gateway, EventBridge, and direct invocations.
 *
 * {@snippet :
 * public final class Function implements RequestStreamHandler {
 *     private static final LambdaHandler HANDLER =
 *             new LambdaHandler(PushHandler.builder().ojsUrl("https://ojs.example.com"));
 *
 *     static {
 *         HANDLER.register("email.send", ctx -> send(ctx.arg(0, String.class)));
 *     }
 *
 *     public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
 *         HANDLER.handle(in, out, context.getRemainingTimeInMillis());
 *     }
 * }
 * }
 */
public final class LambdaHandler extends PushHandler {
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    /** A handler with settings; see {@link PushHandler#builder()}. */
    public LambdaHandler(Settings settings) {
        super(settings);
    }

    /**
     * Takes an event of any kind, which it tells by its members, and writes the answer.
     *
     * @param in the event
     * @param out gets the answer
     * @param remainingMillis what {@code Context.getRemainingTimeInMillis()} says
     */
    public void handle(InputStream in, OutputStream out, long remainingMillis) throws IOException {
        Object event = Delivery.parsed("the event", in.readAllBytes());
        Object answer = handle(Delivery.object(event, "the event must be an object"),
                Duration.ofMillis(remainingMillis));
        out.write(Json.write(answer).getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The same of an event that has been read; {@code left} is the time of the invocation, null where there is no
     * limit.
     */
    public Map<String, Object> handle(Map<String, Object> event, Duration left) {
        if (event.containsKey("Records")) return handleSqs(event, left);
        boolean http = event.containsKey("httpMethod") || part(event, "requestContext").containsKey("http");
        if (http) return handleHttp(event, left);
        if (event.containsKey("detail-type") || event.containsKey("source")) return handleEventBridge(event, left);
        return handleDirect(event, left);
    }

    /**
     * Runs the jobs of a batch of SQS and returns those that SQS shall deliver again, as {@code batchItemFailures}. The
     * event source mapping needs {@code ReportBatchItemFailures}.
     *
     * <p>A message comes again when it cannot be read, and when its outcome did not reach the server. Where the server
     * has taken note of a failure, the server decides about the next attempt. In a FIFO queue the first failure that
     * will be tried again ends the work on its message group: that message and those behind it come again, and other
     * groups go on. Jobs of other queues run side by side, as many as a worker would run.
     */
    public Map<String, Object> handleSqs(Map<String, Object> event, Duration left) {
        Deadline deadline = deadline(left);
        List<Map<String, Object>> records = new ArrayList<>();
        for (Object each : event.get("Records") instanceof List<?> found ? found : List.of()) {
            records.add(Delivery.object(each, "a record of the event must be an object"));
        }
        boolean ordered = records.stream().anyMatch(record -> group(record) != null);
        List<Boolean> done = ordered ? inOrder(records, deadline)
                : runs.each(records, record -> settled(record, deadline, false));
        List<Object> again = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            if (!done.get(i)) again.add(Map.of("itemIdentifier", String.valueOf(records.get(i).get("messageId"))));
        }
        return Map.of("batchItemFailures", again);
    }

    private List<Boolean> inOrder(List<Map<String, Object>> records, Deadline deadline) {
        Set<String> stopped = new HashSet<>();
        List<Boolean> answers = new ArrayList<>();
        for (Map<String, Object> record : records) {
            boolean done = !stopped.contains(group(record)) && settled(record, deadline, true);
            if (!done) stopped.add(group(record));
            answers.add(done);
        }
        return answers;
    }

    /** The message group of a FIFO queue; null in a standard queue, where groups order nothing. */
    private static String group(Map<String, Object> record) {
        boolean fifo = String.valueOf(record.get("eventSourceARN")).endsWith(".fifo");
        return fifo ? String.valueOf(part(record, "attributes").get("MessageGroupId")) : null;
    }

    /** Runs the job of one message; false when SQS shall deliver it again. */
    private boolean settled(Map<String, Object> record, Deadline deadline, boolean ordered) {
        if (deadline.passed()) return false;
        Delivery delivery;
        try {
            delivery = Delivery.read(String.valueOf(record.get("body")).getBytes(StandardCharsets.UTF_8));
        } catch (InvalidDeliveryException e) {
            LOG.log(System.Logger.Level.ERROR, "message {0} of SQS has no job: {1}", record.get("messageId"),
                    e.getMessage());
            return false;
        }
        String count = String.valueOf(part(record, "attributes").getOrDefault("ApproximateReceiveCount", "1"));
        if (!count.equals("1") && runs.isStale(delivery)) return true;
        Runs.Settled settled = runs.settle(delivery, deadline);
        return settled.taken() && !(ordered && settled.ended().comesAgain());
    }

    /** Answers a push delivery that came by a function URL or API Gateway (payload formats 1.0 and 2.0). */
    public Map<String, Object> handleHttp(Map<String, Object> event, Duration left) {
        Answer answer;
        try {
            String text = event.get("body") instanceof String body ? body : "";
            boolean encoded = Boolean.TRUE.equals(event.get("isBase64Encoded"));
            byte[] body = encoded ? Base64.getDecoder().decode(text) : text.getBytes(StandardCharsets.UTF_8);
            Object method = event.containsKey("httpMethod") ? event.get("httpMethod")
                    : part(part(event, "requestContext"), "http").get("method");
            answer = answer(String.valueOf(method), headers(event), body, deadline(left));
        } catch (IllegalArgumentException e) {
            answer = Answer.refusal(400, "invalid_request", "the body is not base64", null);
        }
        Map<String, Object> response = new LinkedHashMap<>();
        response.put("statusCode", answer.status());
        response.put("headers", answer.headers());
        response.put("body", answer.text());
        response.put("isBase64Encoded", false);
        return response;
    }

    private static Map<String, List<String>> headers(Map<String, Object> event) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        part(event, "multiValueHeaders").forEach((name, values) -> {
            if (values instanceof List<?> list) headers.put(name, list.stream().map(String::valueOf).toList());
        });
        part(event, "headers").forEach((name, value) -> headers.put(name, List.of(String.valueOf(value))));
        return headers;
    }

    /**
     * Runs the job in the {@code detail} of an event.
     *
     * @throws DeliveryFailedException when the job has failed and no server knows: then Lambda calls the function again
     */
    public Map<String, Object> handleEventBridge(Map<String, Object> event, Duration left) {
        return deliver(Delivery.of(event.get("detail")), 1, deadline(left));
    }

    /**
     * Runs the job that the event is, and returns {@code status}, {@code job_id}, and {@code result} or {@code error}.
     */
    public Map<String, Object> handleDirect(Map<String, Object> event, Duration left) {
        Delivery delivery = Delivery.of(event);
        return told(runs.settle(delivery, deadline(left)).ended(), delivery.job().id());
    }

    /** A member that is an object; an empty one where there is none. */
    private static Map<String, Object> part(Map<String, Object> of, String name) {
        return of.get(name) instanceof Map<?, ?> found ? Delivery.object(found, name) : Map.of();
    }
}

package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;

/** The vectors that all languages share: what goes over the wire, and which error an answer becomes. A server of this test listens. */
class VectorsTest {
    private static HttpServer server;
    private static OJSClient client;
    private static volatile byte[] received;
    private static volatile String asked;
    private static volatile Transport.Answer answer;

    @BeforeAll
    static void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            received = exchange.getRequestBody().readAllBytes();
            asked = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            exchange.getResponseHeaders().set("content-type", "application/openjobspec+json");
            exchange.sendResponseHeaders(answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
            try (var out = exchange.getResponseBody()) {
                out.write(answer.body());
            }
        });
        server.start();
        client = OJSClient.builder().url("http://127.0.0.1:" + server.getAddress().getPort()).maxSends(1).build();
    }

    @AfterAll
    static void end() {
        client.close();
        server.stop(0);
    }

    @TestFactory
    Stream<DynamicTest> requests() {
        return Vectors.each("requests", List.of("type", "args", "options", "body", "text", "why"), vector -> {
            answer = Transport.Answer.json(201, Map.of("job", Map.of("id", "x")));
            client.enqueue(request(vector));
            Map<String, Object> sent = new HashMap<>(Members.of(Json.parse(received)));
            sent.remove("id");
            assertEquals(plain(vector.get("body")), plain(sent));
            if (vector.get("text") != null) assertEquals(vector.get("text"), new String(received, StandardCharsets.UTF_8));
        });
    }

    /** A JVM cannot change its environment: the variables are given to what reads them. */
    @TestFactory
    Stream<DynamicTest> environments() {
        return Vectors.each("environments", List.of("variables", "settings", "error"), VectorsTest::environment);
    }

    private static void environment(Map<String, Object> vector) {
        Map<String, String> variables = new HashMap<>();
        Members.of(vector.get("variables")).forEach((name, value) -> variables.put(name, (String) value));
        if (vector.get("error") != null) {
            var wrong = assertThrows(OJSException.Validation.class, () -> Environment.of(variables));
            assertEquals(vector.get("error"), wrong.getMessage());
            return;
        }
        assertEquals(plain(vector.get("settings")), plain(Environment.of(variables).settings()));
    }

    @TestFactory
    Stream<DynamicTest> refusals() {
        return Vectors.each("refusals", List.of("options", "says"), vector -> {
            JobRequest request = JobRequest.of("email.send");
            Members.of(vector.get("options")).forEach(request::option);
            var error = assertThrows(OJSException.Validation.class, () -> client.enqueue(request));
            assertTrue(error.getMessage().contains(Members.text(vector, "says")), error.getMessage());
        });
    }

    @TestFactory
    Stream<DynamicTest> operations() {
        List<String> members = List.of("name", "arguments", "method", "path", "query", "body", "answer");
        List<Map<String, Object>> vectors = Vectors.of("operations.json", "operations");
        return IntStream.range(0, vectors.size()).mapToObj(place -> {
            Map<String, Object> vector = Vectors.known(vectors.get(place), members);
            return DynamicTest.dynamicTest(Members.text(vector, "name"), () -> {
                answer = new Transport.Answer(200, Json.bytes(vector.get("answer")));
                OperationCalls.ALL.get(place).accept(client);
                for (var part : inParts(asked).entrySet()) {
                    assertEquals(plain(vector.get(part.getKey())), plain(part.getValue()), part.getKey());
                }
                assertEquals(plain(vector.get("body")), plain(received.length == 0 ? null : Json.parse(received)));
            });
        });
    }

    /** The method, the decoded segments of the path below /ojs/v1, and the query of a request. */
    private static Map<String, Object> inParts(String asked) {
        String[] line = asked.split(" ");
        String[] target = line[1].split("\\?", 2);
        Map<String, Object> query = new HashMap<>();
        for (String pair : target.length < 2 ? new String[0] : target[1].split("&")) {
            String[] member = pair.split("=", 2);
            query.put(member[0], URLDecoder.decode(member[1], StandardCharsets.UTF_8));
        }
        String path = target[0].startsWith("/ojs/v1") ? target[0].substring("/ojs/v1".length()) : target[0];
        List<String> segments = Stream.of(path.substring(1).split("/"))
                .map(name -> URLDecoder.decode(name, StandardCharsets.UTF_8)).toList();
        return Map.of("method", line[0], "path", segments, "query", query);
    }

    /** The calls of operations whose methods have a form that is Java's own. */
    static void byHand(String operation, OJSClient client) {
        switch (operation) {
            case "dead_letters" -> client.deadLetters().list(DeadLetters.Filter.ofQueue("mail"), 10, 20);
            default -> throw new AssertionError("no call by hand of " + operation);
        }
    }

    @Test
    void theReferenceNamesMethodsThatExist() throws Exception {
        String page = Files.readString(Path.of("../docs/reference/operations.md"));
        Pattern method = Pattern.compile("Java `(?:([A-Za-z]+)\\(\\)\\.)?([A-Za-z]+)`");
        List<MatchResult> named = method.matcher(page).results().toList();
        assertTrue(named.size() > 40, "methods are named");
        for (MatchResult name : named) {
            Class<?> owner = OJSClient.class;
            if (name.group(1) != null) owner = owner.getMethod(name.group(1)).getReturnType();
            boolean there = Stream.of(owner.getMethods()).anyMatch(one -> one.getName().equals(name.group(2)));
            assertTrue(there, name.group());
        }
    }

    @TestFactory
    Stream<DynamicTest> detections() {
        return Vectors.each("detections", List.of("wanted", "server", "database", "calls"), VectorsTest::detection);
    }

    private static void detection(Map<String, Object> vector) {
        Map<String, Object> server = Vectors.known(vector.get("server"), List.of("value", "error"));
        Map<String, Object> database = Vectors.known(vector.get("database"), List.of("value", "error"));
        answer = server.containsKey("error")
                ? Transport.Answer.json(500, Map.of("error", Map.of("code", "backend_error", "message", "refused")))
                : new Transport.Answer(200, Json.bytes(server.get("value")));
        SameDatabase same = new SameDatabase(client, (Boolean) vector.get("wanted"));
        for (Object one : Members.list(vector, "calls")) {
            // What the core keeps and logs of it is not seen here.
            Map<String, Object> call = Vectors.known(one, List.of("shared", "asked", "lasting", "reason"));
            List<String> seen = new ArrayList<>();
            asked = "";
            boolean shared = same.ask(sql -> {
                assertTrue(sql.contains("pg_control_system"), sql);
                seen.add("database");
                if (database.containsKey("error")) throw new SQLException(Members.text(database, "error"));
                return (String) database.get("value");
            });
            if (asked.endsWith("/health")) seen.add("server");
            assertEquals(call.get("shared"), shared);
            assertEquals(call.get("asked"), seen);
        }
    }

    @TestFactory
    Stream<DynamicTest> statements() {
        List<String> members = List.of("database", "table", "in_engine", "migration", "staged", "notify");
        return Vectors.each("statements", members, vector -> {
            String database = Members.text(vector, "database");
            String table = Members.text(vector, "table");
            assertEquals(vector.get("migration"), Outbox.migration(database, table));
            boolean inEngine = (Boolean) vector.get("in_engine");
            assertEquals(vector.get("staged"), NativeOutbox.stagedQuery(database, table, inEngine));
            assertEquals(vector.get("notify"), Outbox.NOTIFY);
        });
    }

    @TestFactory
    Stream<DynamicTest> fakes() {
        return Vectors.each("fakes", List.of("jobs", "recorded", "questions"), vector -> {
            try (Fake fake = OJSTesting.fake()) {
                Members.list(vector, "jobs").forEach(job -> client.enqueue(job(Members.of(job))));
                assertEquals(plain(vector.get("recorded")), plain(Json.parse(Json.bytes(fake.requests()))));
                for (Object question : Members.list(vector, "questions")) ask(fake, question);
            }
        });
    }

    private static void ask(Fake fake, Object given) {
        Map<String, Object> question = Vectors.known(given, List.of("wanted", "found", "error"));
        Map<String, Object> wanted = new HashMap<>(Members.of(question.get("wanted")));
        String type = (String) wanted.remove("type");
        if (question.get("error") == null) {
            assertEquals(question.get("found"), (long) fake.enqueued(type, wanted).size(), wanted.toString());
            return;
        }
        var refused = assertThrows(OJSException.Validation.class, () -> fake.enqueued(type, wanted));
        assertEquals(question.get("error"), refused.getMessage());
    }

    @TestFactory
    Stream<DynamicTest> workflows() {
        return Vectors.each("workflows", List.of("workflow", "body"), vector -> {
            answer = Transport.Answer.json(201, Map.of("workflow", Map.of("id", "x")));
            client.workflow((Workflow) step(Members.of(vector.get("workflow"))));
            assertEquals(plain(vector.get("body")), plain(Json.parse(received)));
        });
    }

    @TestFactory
    Stream<DynamicTest> crons() {
        return Vectors.each("crons", List.of("cron", "body"), vector -> {
            answer = Transport.Answer.json(201, Map.of("cron", Map.of("name", "x")));
            List<String> members = List.of("name", "expression", "timezone", "job");
            Map<String, Object> cron = Vectors.known(vector.get("cron"), members);
            ZoneId zone = cron.containsKey("timezone") ? ZoneId.of(Members.text(cron, "timezone")) : null;
            client.cron().register(Members.text(cron, "name"), Members.text(cron, "expression"), zone, job(Members.of(cron.get("job"))));
            assertEquals(plain(vector.get("body")), plain(Json.parse(received)));
        });
    }

    @TestFactory
    Stream<DynamicTest> webhooks() {
        List<String> members = List.of("headers", "secrets", "body", "tolerance", "now", "reason");
        return Vectors.each("webhooks", members, vector -> {
            Map<String, List<String>> headers = new HashMap<>();
            Members.of(vector.get("headers")).forEach((name, value) -> headers.put(name, List.of((String) value)));
            List<String> secrets = Members.list(vector, "secrets").stream().map(String.class::cast).toList();
            byte[] body = Members.text(vector, "body").getBytes(StandardCharsets.UTF_8);
            Duration tolerance = Duration.ofSeconds(((Number) vector.get("tolerance")).longValue());
            Instant now = Instant.ofEpochSecond(((Number) vector.get("now")).longValue());
            Executable verify = () -> Webhooks.verify(body, headers, secrets, tolerance, now);
            if (vector.get("reason") == null) {
                verify.execute();
                return;
            }
            var refused = assertThrows(OJSException.UntrustedWebhook.class, verify);
            assertEquals(vector.get("reason"), Members.of(refused.details()).get("reason"));
        });
    }

    /** A workflow, or a step of one, as a program would write it. */
    private static Step step(Map<String, Object> tree) {
        Vectors.known(tree, List.of(
                "name", "type", "args", "options", "chain", "graph", "group", "batch", "callbacks"));
        Workflow made;
        if (tree.containsKey("chain")) made = Workflow.chain(steps(tree, "chain"));
        else if (tree.containsKey("graph")) made = Workflow.graph(nodes(Members.list(tree, "graph")));
        else if (tree.containsKey("group")) made = Workflow.group(steps(tree, "group"));
        else if (tree.containsKey("batch")) made = Workflow.batch(steps(tree, "batch"));
        else return job(tree);
        for (var callback : Members.of(tree.getOrDefault("callbacks", Map.of())).entrySet()) {
            JobRequest job = job(Members.of(callback.getValue()));
            made = switch (callback.getKey()) {
                case "on_complete" -> made.onComplete(job);
                case "on_success" -> made.onSuccess(job);
                case "on_failure" -> made.onFailure(job);
                default -> throw new AssertionError("no method for " + callback.getKey());
            };
        }
        return tree.containsKey("name") ? made.named(Members.text(tree, "name")) : made;
    }

    private static Workflow.Node[] nodes(List<?> given) {
        return given.stream().map(VectorsTest::node).toArray(Workflow.Node[]::new);
    }

    private static Workflow.Node node(Object node) {
        Map<String, Object> given = Vectors.known(node, List.of("id", "step", "after"));
        String[] after = Members.list(given, "after").stream().map(String.class::cast).toArray(String[]::new);
        return Workflow.node(Members.text(given, "id"), step(Members.of(given.get("step"))), after);
    }

    private static Step[] steps(Map<String, Object> tree, String kind) {
        return Members.list(tree, kind).stream().map(Members::of).map(VectorsTest::step).toArray(Step[]::new);
    }

    private static JobRequest job(Map<String, Object> given) {
        JobRequest request = request(Vectors.known(given, List.of("type", "args", "meta", "options")));
        if (given.containsKey("meta")) set(request, "meta", given.get("meta"));
        return request;
    }

    private static JobRequest request(Map<String, Object> given) {
        JobRequest request = JobRequest.of(Members.text(given, "type"), Members.list(given, "args"));
        Members.of(given.getOrDefault("options", Map.of())).forEach((name, value) -> set(request, name, value));
        return request;
    }

    /** 0.10 and 0.1 are the same number, whatever BigDecimal says, and so are 3 and 3.0. */
    private static Object plain(Object value) {
        return switch (value) {
            case Map<?, ?> members -> {
                Map<Object, Object> copy = new HashMap<>();
                members.forEach((name, member) -> copy.put(name, plain(member)));
                yield copy;
            }
            case List<?> items -> Stream.of(items.toArray()).map(VectorsTest::plain).toList().toString();
            case Number number -> new java.math.BigDecimal(number.toString()).stripTrailingZeros();
            case null, default -> String.valueOf(value);
        };
    }

    /** An option by its name in the vectors, through the method that a program would call. */
    private static void set(JobRequest request, String name, Object value) {
        switch (name) {
            case "queue" -> request.queue((String) value);
            case "priority" -> request.priority(((Number) value).intValue());
            case "timeout" -> request.timeout(Duration.parse("PT" + value));
            case "timeout_ms" -> request.timeout(Duration.ofMillis((Long) value));
            case "visibility_timeout_ms" -> request.visibilityTimeout(Duration.ofMillis((Long) value));
            case "delay_until" -> request.delayUntil(OffsetDateTime.parse((String) value));
            case "expires_at" -> request.expiresAt(OffsetDateTime.parse((String) value));
            case "tags" -> request.tags(texts(value));
            case "meta" -> request.meta(Members.of(value));
            case "schema" -> request.schema((String) value);
            case "version" -> request.version((String) value);
            case "retry" -> request.retry(value instanceof Number attempts
                    ? RetryPolicy.DEFAULT.withMaxAttempts(attempts.intValue()) : retry(Members.of(value)));
            case "unique" -> request.unique(unique(Members.of(value)));
            case "train" -> {
                if (value instanceof String id) request.train(id);
                else request.train(train(Members.of(value)));
            }
            default -> throw new AssertionError("no method for the option " + name);
        }
    }

    private static RetryPolicy retry(Map<String, Object> given) {
        RetryPolicy policy = RetryPolicy.DEFAULT;
        for (var member : given.entrySet()) {
            Object value = member.getValue();
            policy = switch (member.getKey()) {
                case "max_attempts" -> policy.withMaxAttempts(((Number) value).intValue());
                case "initial_interval" -> policy.withInitialInterval(Duration.parse((String) value));
                case "max_interval" -> policy.withMaxInterval(Duration.parse((String) value));
                case "backoff_coefficient" -> policy.withBackoffCoefficient(((Number) value).doubleValue());
                case "jitter" -> policy.withJitter((Boolean) value);
                case "non_retryable_errors" -> policy.withNonRetryableErrors(texts(value));
                case "on_exhaustion" -> policy.withOnExhaustion(RetryPolicy.OnExhaustion.valueOf(constant(value)));
                case "backoff_strategy" -> policy.withBackoffStrategy(RetryPolicy.BackoffStrategy.valueOf(constant(value)));
                default -> throw new AssertionError("no method for " + member.getKey());
            };
        }
        return policy;
    }

    private static UniquePolicy unique(Map<String, Object> given) {
        UniquePolicy policy = given.containsKey("keys") ? UniquePolicy.by(texts(given.get("keys"))) : UniquePolicy.DEFAULT;
        for (var member : given.entrySet()) {
            Object value = member.getValue();
            policy = switch (member.getKey()) {
                case "keys" -> policy;
                case "args_keys" -> policy.withArgsKeys(texts(value));
                case "meta_keys" -> policy.withMetaKeys(texts(value));
                case "period" -> policy.withPeriod(Duration.parse((String) value));
                case "states" -> policy.withStates(texts(value));
                case "on_conflict" -> policy.withOnConflict(UniquePolicy.OnConflict.valueOf(constant(value)));
                default -> throw new AssertionError("no method for " + member.getKey());
            };
        }
        return policy;
    }

    private static Train train(Map<String, Object> given) {
        Train train = Train.DEFAULT;
        for (var member : given.entrySet()) {
            Object value = member.getValue();
            train = switch (member.getKey()) {
                case "id" -> train.withId((String) value);
                case "on_cancelled" -> train.withOnCancelled(Train.TrainAction.valueOf(constant(value)));
                case "cancel_active" -> train.withCancelActive(Train.CancelActive.valueOf(constant(value)));
                case "on_discarded" -> train.withOnDiscarded(Train.TrainAction.valueOf(constant(value)));
                default -> throw new AssertionError("no method for " + member.getKey());
            };
        }
        return train;
    }

    private static String constant(Object value) {
        return ((String) value).toUpperCase(Locale.ROOT);
    }

    private static String[] texts(Object value) {
        return ((List<?>) value).toArray(String[]::new);
    }

    @TestFactory
    Stream<DynamicTest> answers() {
        return Vectors.each("answers", List.of("status", "answer", "error"), vector -> {
            answer = Transport.Answer.json(Members.number(vector, "status", 0), vector.get("answer"));
            List<String> members = List.of("class", "code", "message", "retryable", "status", "hint", "details");
            Map<String, Object> expected = Vectors.known(vector.get("error"), members);
            same(expected, assertThrows(OJSException.Api.class, () -> client.getJob("x")));
            // The same through a transport of the program's own.
            OJSClient injected = OJSClient.builder().transport((_, _, _) -> answer).build();
            same(expected, assertThrows(OJSException.Api.class, () -> injected.getJob("x")));
        });
    }

    private static void same(Map<String, Object> expected, OJSException.Api error) {
        int number = Members.number(expected, "class", 0);
        assertEquals(OJSException.of(number, "", OJSException.About.code("")).getClass(), error.getClass());
        assertEquals(expected.get("code"), error.code());
        assertEquals(expected.get("message"), error.getMessage());
        assertEquals(expected.get("retryable"), error.retryable());
        assertEquals(((Number) expected.get("status")).intValue(), error.status());
        assertEquals(expected.get("hint"), error.hint());
        assertEquals(plain(expected.get("details")), plain(error.details()));
    }
}

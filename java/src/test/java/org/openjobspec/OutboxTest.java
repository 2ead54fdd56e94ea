package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** What needs no database; the others are in adapters/ojs-adapter-jdbc. */
class OutboxTest {
    @Test
    void aRequestsHeadersBecomeMetadata() {
        Map<String, String> headers = new HashMap<>(Map.of("X-Request-ID", "r-1", "traceparent", "00-1-2-01", "X-OJS-Tenant", "acme", "Accept-Language", "cs-CZ;q=0.9, en"));
        assertEquals(Map.of("ojs.context.user_id", "7", "ojs.context.request_id", "r-1", "traceparent", "00-1-2-01", "tenant_id", "acme",
                "ojs.context.locale", "cs-CZ"), RequestContext.ofRequest(headers::get, 7, null));
        assertEquals("other", RequestContext.ofRequest(headers::get, null, "other").get("tenant_id"));
        headers.clear();
        headers.put("Accept-Language", "*");
        assertEquals(Map.of(), RequestContext.ofRequest(headers::get, null, null));
    }

    @Test
    void theContextEndsWithItsScopeAndGoesWithPropagatedWork() throws Exception {
        CompletableFuture<Map<String, Object>> elsewhere = new CompletableFuture<>();
        try (var outer = RequestContext.bind(Map.of("tenant_id", "a", "traceparent", ""))) {
            try (var inner = RequestContext.bind(Map.of("tenant_id", "b"))) {
                assertEquals(Map.of("tenant_id", "b"), RequestContext.current());
                Thread.ofVirtual().start(RequestContext.propagated(() -> elsewhere.complete(RequestContext.current())));
            }
            assertEquals(Map.of("tenant_id", "a"), RequestContext.current());
            JobRequest own = JobRequest.of("a").meta("tenant_id", "mine");
            assertEquals(Map.of("tenant_id", "mine"), RequestContext.completed(own).meta());
        }
        assertEquals(Map.of("tenant_id", "b"), elsewhere.get());
        assertEquals(Map.of(), RequestContext.current());
    }

    @Test
    void aWorkerBindsWhatTheJobCarries() {
        try (Bench bench = new Bench(Kind.MEMORY)) {
            List<Object> seen = Collections.synchronizedList(new ArrayList<>());
            bench.worker().use("context", RequestContext::restored).register("a", ctx -> seen.add(RequestContext.current())).start();
            bench.completed(bench.job("a").meta("tenant_id", "acme").meta("other", 1).enqueue());
            assertEquals(List.of(Map.of("tenant_id", "acme")), seen);
        }
    }

    @Test
    void argumentsAreReadByThoseWithTheKeyAlone() {
        String key = "k1:" + "0f".repeat(32);
        String url = Kind.MEMORY.url();
        try (OJSClient sealed = OJSClient.builder().url(url).encryptionKeys(key).build(); OJSClient plain = OJSClient.connect(url);
             OJSWorker worker = OJSWorker.of(sealed)) {
            assertTrue(new String(sealed.connection().encrypted(Json.bytes(JobRequest.of("a", "secret").toJson()))).contains("k1"));
            String id = sealed.enqueue("a", "secret").id();
            assertFalse(plain.getJob(id).toString().contains("secret"));
            worker.register("a", ctx -> ctx.arg(0, String.class).length()).start();
            assertEquals(6L, Support.eventually(() -> plain.getJob(id).result()));
        }
    }

    @Test
    void urlsOfJdbcBecomeThoseOfPostgres() {
        assertEquals("postgresql://app:p%40s%20s@db:5433/shop?sslmode=require",
                Relay.url("jdbc:postgresql://db:5433/shop?ApplicationName=x&sslmode=require", "app", "p@s s"));
        assertEquals("postgresql://me:x@localhost/shop", Relay.url("jdbc:postgresql:shop?user=me&password=x", null, null));
        assertEquals("postgresql://localhost/shop", Relay.url("jdbc:postgresql:///shop", null, null));
        assertEquals("postgresql://me@db/shop", Relay.url("postgresql://me@db/shop", null, null));
        assertThrows(OJSException.Validation.class, () -> Relay.url("jdbc:oracle:thin:@db", null, null));
        assertThrows(OJSException.Validation.class, () -> Relay.postgresql(null, "sqlite:app.db"));
    }

    @Test
    void urlsOfJdbcBecomeThoseOfMysql() {
        Map.of("jdbc:mysql://db:3307/shop?cachePrepStmts=true&sslMode=VERIFY_IDENTITY", "mysql://app:p%40s%20s@db:3307/shop?ssl-mode=VERIFY_IDENTITY",
                "jdbc:mariadb://db/shop?sslMode=verify-full&serverSslCert=/ca.pem", "mysql://app:p%40s%20s@db/shop?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem",
                "jdbc:mariadb://db/shop?sslMode=trust", "mysql://app:p%40s%20s@db/shop?ssl-mode=REQUIRED",
                // The one driver verifies when it is told to encrypt, the other does not.
                "jdbc:mariadb://db/shop?useSsl=true", "mysql://app:p%40s%20s@db/shop?ssl-mode=VERIFY_IDENTITY",
                "jdbc:mysql://db/shop?useSSL=true", "mysql://app:p%40s%20s@db/shop?ssl-mode=REQUIRED",
                "jdbc:mysql:///shop?useSSL=false", "mysql://app:p%40s%20s@localhost/shop?ssl-mode=DISABLED")
                .forEach((jdbc, url) -> assertEquals(url, Relay.url(jdbc, "app", "p@s s")));
        assertEquals("mysql://me:x%2B@db/shop", Relay.url("jdbc:mysql://me:x%2B@db/shop", null, null));
        assertEquals("mysql://me:x@db/shop", Relay.url("jdbc:mariadb://db/shop?user=me&password=x", null, null));
        for (String url : List.of("jdbc:mysql://one,two/shop", "jdbc:mariadb:sequential://one,two/shop", "jdbc:mariadb://db/shop?user=me&password=***")) {
            assertThrows(OJSException.Validation.class, () -> Relay.url(url, null, null), url);
        }
        assertThrows(OJSException.Validation.class, () -> Relay.mysql(null, "postgresql://db/shop"));
    }

    @Test
    void theTableIsTheSpecificationsOne() {
        String made = String.join(";", Outbox.migration("postgresql", Outbox.TABLE));
        for (String column : List.of("job_type", "job_args", "job_options", "status", "created_at", "sent_at", "error")) assertTrue(made.contains(column), made);
        assertThrows(OJSException.Validation.class, () -> Outbox.migration("oracle", Outbox.TABLE));
        assertThrows(OJSException.Validation.class, () -> Outbox.migration("sqlite", "no table"));
    }
}

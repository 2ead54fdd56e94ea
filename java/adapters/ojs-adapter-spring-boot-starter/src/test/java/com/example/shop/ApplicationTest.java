package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.jdbc.Databases.eventually;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.OJSClient;
import org.openjobspec.RequestContext;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.jdbc.OjsJdbc;
import org.openjobspec.jdbc.Wire;
import org.openjobspec.spring.OjsHandler;
import org.openjobspec.spring.OjsWorkerLifecycle;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application as a whole: requests, handlers, start and stop. */
class ApplicationTest {
    @ParameterizedTest
    @EnumSource
    void fa001ASignupIsWelcomed(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            assertEquals("1", shop.post("/signup?email=ada@example.com").body());
            eventually(() -> shop.database.queryForObject("SELECT welcomed FROM users WHERE id = 1", Integer.class) != null);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fa002AnExceptionInTheRequestTakesTheJobAlong(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            assertEquals(500, shop.post("/broken?email=ada@example.com").statusCode());
            assertEquals(0, shop.users());
            shop.post("/signup?email=bob@example.com");
            eventually(() -> shop.client.queues().stats("default").get("completed").equals(1L));
            assertEquals(0L, shop.client.queues().stats("default").get("available"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void faR001TheRequestIsKnownInItsJobsAndInTheirs(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
            String id = shop.post("/first", "X-User", "ada", "X-Request-ID", "r-1", "traceparent", trace, "X-OJS-Tenant", "acme", "Accept-Language", "cs-CZ,en;q=0.5").body();
            Map<String, Object> meta = Map.of("ojs.context.user_id", "ada", "ojs.context.request_id", "r-1", "traceparent", trace, "tenant_id", "acme",
                    "ojs.context.locale", "cs-CZ");
            String second = (String) eventually(() -> {
                try {
                    return shop.job(id).get("result");
                } catch (org.openjobspec.OJSException.NotFound e) { // on its way
                    return null;
                }
            });
            assertEquals(List.of(id), shop.arrived("nobody", 1));
            assertEquals(meta, shop.job(id).get("meta"));
            assertEquals(meta, shop.job(second).get("meta"));
            assertEquals(Map.of(), RequestContext.current());
            String without = shop.post("/first").body();
            eventually(() -> shop.arrived("nobody", 1));
            assertEquals(Map.of(), shop.client.getJob(without).meta());
        }
    }

    @ParameterizedTest
    @EnumSource
    void fa002AHandlerThatFailsTakesItsJobsAlong(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            String id = shop.client.job("step.fails").retry(org.openjobspec.RetryPolicy.attempts(1)).enqueue().id();
            eventually(() -> shop.client.getJob(id).state().equals("discarded"));
            assertEquals("after the job was enqueued", shop.client.getJob(id).error().get("message"));
            assertEquals(0L, shop.database.queryForObject("SELECT count(*) FROM ojs_outbox", Long.class));
        }
    }

    @ParameterizedTest
    @EnumSource
    void faR003TheEndFlushesTheOutboxAndStopsEverything(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind)) {
            OjsJdbc jdbc = shop.context.getBean(OjsJdbc.class);
            OjsWorkerLifecycle worker = shop.context.getBean(OjsWorkerLifecycle.class);
            OJSClient own = shop.context.getBean(OJSClient.class);
            assertTrue(jdbc.relay().running() && worker.isRunning());
            // By plain SQL: no commit of Spring's wakes the relay, which looks once an hour.
            shop.database.update("INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[\"flushed\"]', '{\"queue\":\"q\"}')");
            shop.context.close();
            assertEquals(List.of("flushed"), shop.arrived("q", 1));
            assertNull(jdbc.relay());
            assertEquals(false, worker.isRunning());
            assertThrows(org.openjobspec.OJSException.Closed.class, own::health);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fa003WhatAnEarlierProcessLeftIsSentAtTheStart(Kind kind) throws Exception {
        String url = kind.url();
        try (Shop silent = new Shop(kind, url, "memory:", List.of("ojs.outbox.relay=false", "ojs.worker.enabled=false"))) {
            silent.transaction(0, status -> silent.ojs.enqueueAfterCommit("a", "left"));
            assertNull(silent.context.getBean(OjsJdbc.class).relay());
            silent.context.close();
            try (var again = new SpringApplicationBuilder(ShopApplication.class)
                    .properties(Shop.settings(url, silent.server.url()).toArray(String[]::new)).run("--ojs.worker.enabled=false")) {
                assertEquals(List.of("left"), silent.arrived("default", 1));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void faR002WhatWaitsGoesInBatches(Kind kind) throws Exception {
        String url = kind.url();
        try (Shop silent = new Shop(kind, url, "memory:", List.of("ojs.outbox.relay=false", "ojs.worker.enabled=false")); Wire wire = new Wire(silent.server.url())) {
            silent.transaction(0, status -> {
                for (int n = 0; n < 25; n++) silent.ojs.enqueueAfterCommit("a", n);
            });
            silent.context.close();
            try (var again = new SpringApplicationBuilder(ShopApplication.class).properties(Shop.settings(url, wire.url()).toArray(String[]::new))
                    .run("--ojs.worker.enabled=false", "--ojs.outbox.batch-size=10")) {
                assertEquals(LongStream.range(0, 25).boxed().toList(), silent.arrived("default", 25));
                eventually(() -> again.getBean(OjsJdbc.class).relay().status().sent() == 25);
                assertEquals(Collections.nCopies(3, "POST /ojs/v1/jobs/batch"), wire.seen.stream().filter(line -> line.contains("/jobs")).toList());
            }
        }
    }

    /** Two for one type. */
    @Configuration(proxyBeanMethods = false)
    static class Twice {
        static class Handlers {
            @OjsHandler("step.first")
            void again() {}
        }

        @Bean
        Handlers handlers() {
            return new Handlers();
        }
    }

    @Test
    void aTypeHasOneHandler() {
        String url = Kind.SQLITE.url();
        Exception refused = assertThrows(IllegalStateException.class, () -> new SpringApplicationBuilder(ShopApplication.class, Twice.class)
                .properties(Shop.settings(url, "memory:").toArray(String[]::new)).run().close());
        assertTrue(refused.getMessage().contains("step.first"), refused.getMessage());
    }

    @Test
    void theExampleOfTheReadmeIsTheOneThatRunsHere() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        var block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme);
        assertTrue(block.find());
        assertEquals(Files.readString(Path.of("src/test/java/com/example/shop/Signup.java")), block.group(1));
    }
}

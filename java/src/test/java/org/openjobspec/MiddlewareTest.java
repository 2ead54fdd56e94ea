package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

class MiddlewareTest {
    @ParameterizedTest
    @EnumSource
    void executionOrderAndTheResultSurvives(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            OJSWorker worker = bench.worker().register("a", ctx -> ctx.metadata().get("x"));
            worker.use("second", (ctx, next) -> {
                order.add("second-before");
                next.handle(ctx);
                order.add("second-after");
                return null; // forgets the result: the handler's counts
            });
            worker.middleware().insertBefore("second", "first", (ctx, next) -> {
                order.add("first-before");
                ctx.metadata().put("x", "ok");
                Object result = next.handle(ctx);
                order.add("first-after");
                return result;
            });
            worker.start();
            assertEquals("ok", bench.completed(bench.job("a").enqueue()).result());
            assertEquals(List.of("first-before", "second-before", "second-after", "first-after"), order);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLayerMayReplaceTheResultSwallowTheFailureOrStopEarly(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSWorker worker = bench.worker().register("replace", ctx -> 1).register("swallow", ctx -> {
                throw new IllegalStateException("no");
            }).register("early", ctx -> {
                throw new AssertionError("never runs");
            }).register("twice", ctx -> 1);
            worker.use("all", (ctx, next) -> switch (ctx.type()) {
                case "replace" -> (int) next.handle(ctx) + 1;
                case "early" -> "stopped";
                case "twice" -> List.of(next.handle(ctx), next.handle(ctx));
                default -> {
                    try {
                        yield next.handle(ctx);
                    } catch (IllegalStateException e) {
                        yield "swallowed " + e.getMessage();
                    }
                }
            });
            worker.start();
            assertEquals(2L, bench.completed(bench.job("replace").enqueue()).result());
            assertEquals("swallowed no", bench.completed(bench.job("swallow").enqueue()).result());
            assertEquals("stopped", bench.completed(bench.job("early").enqueue()).result());
            Map<String, Object> error = bench.error(bench.job("twice").retry(RetryPolicy.attempts(1)).enqueue());
            assertTrue(error.get("message").toString().contains("next twice"), error.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void enqueueLayersChangeDropAndAnswer(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            List<String> order = new ArrayList<>();
            bench.client.use("outer", (request, next) -> {
                order.add("outer");
                return request.type().equals("drop") ? null : next.enqueue(request.meta("trace_id", "abc"));
            });
            bench.client.middleware().insertAfter("outer", "inner", (request, next) -> {
                order.add("inner");
                return next.enqueue(request.args(List.of(request.args(), request.meta().get("trace_id"))));
            });
            Job job = bench.job("keep", 1).enqueue();
            assertEquals(List.of(List.of(1L), "abc"), job.args());
            assertEquals("abc", job.meta().get("trace_id"));
            assertEquals(List.of("outer", "inner"), order);
            assertThrows(OJSException.NotEnqueued.class, () -> bench.client.enqueue("drop"));
            assertEquals(List.of("keep", "keep"), bench.client.enqueueBatch(List.of(JobRequest.of("keep"), JobRequest.of("drop"), JobRequest.of("keep")))
                    .stream().map(Job::type).toList());
            assertEquals(List.of(), bench.client.enqueueBatchAsync(List.of(JobRequest.of("drop"))).join());
            assertEquals("abc", bench.client.enqueueAsync("keep").join().meta().get("trace_id"));
            assertEquals(1, bench.client.bulk().enqueue(List.of(JobRequest.of("keep"), JobRequest.of("drop"))).size());
            assertThrows(OJSException.Middleware.class, () -> bench.client.use("late", (request, next) -> null));
        }
    }

    @Test
    void aChainIsArrangedByName() {
        MiddlewareChain<EnqueueMiddleware> chain = new MiddlewareChain<>(List.of());
        EnqueueMiddleware layer = (request, next) -> next.enqueue(request);
        chain.add("b", layer).add("d", layer).insertBefore("b", "a", layer).insertAfter("b", "c", layer).prepend("0", layer).add(layer).add(layer).remove("0");
        assertEquals(List.of("a", "b", "c", "d", "middleware", "middleware-2"), chain.names());
        assertEquals("there is no middleware named 'x'; there is: a, b, c, d, middleware, middleware-2",
                assertThrows(OJSException.Middleware.class, () -> chain.insertAfter("x", "y", layer)).getMessage());
        assertThrows(OJSException.Middleware.class, () -> chain.remove("x"));
        assertThrows(OJSException.Middleware.class, () -> chain.add("a", layer));
        assertThrows(OJSException.Middleware.class, () -> chain.add("", layer));
        assertThrows(OJSException.Middleware.class, () -> chain.add("z", null));
        chain.freeze();
        assertThrows(OJSException.Middleware.class, () -> chain.remove("a"));
    }
}

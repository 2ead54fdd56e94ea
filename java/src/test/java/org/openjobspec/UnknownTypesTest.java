package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/**
 * Jobs whose type has no handler: a dead letter, given back, or never asked for; and settings of a connection that
 * are checked.
 */
class UnknownTypesTest {
    private static void becomes(Kind kind, String state, UnaryOperator<OJSWorker.Builder> settings) {
        try (Bench bench = new Bench(kind)) {
            bench.keep(settings.apply(bench.builder()).build()).register("own", ctx -> null).start();
            Job other = bench.job("other").retry(RetryPolicy.attempts(1)).enqueue();
            bench.completed(bench.job("own").enqueue());
            assertEquals(state, bench.ended(other, state).state());
        }
    }

    @ParameterizedTest
    @EnumSource
    void byDefaultTheJobIsDiscarded(Kind kind) {
        becomes(kind, "discarded", builder -> builder);
    }

    @ParameterizedTest
    @EnumSource
    void withReleaseItGoesBack(Kind kind) {
        becomes(kind, "retryable", builder -> builder.unknownTypes(UnknownTypes.RELEASE));
    }

    @ParameterizedTest
    @EnumSource
    void withOnlyRegisteredTypesItStaysWhereItIs(Kind kind) {
        becomes(kind, "available", builder -> builder.onlyRegisteredTypes(true));
    }

    @Test
    void anAnswerHasALargestSize() {
        assertThrows(OJSException.Validation.class, () -> OJSClient.builder().maxResponseBytes(0));
        try (OJSClient client = OJSClient.builder().url(Support.server()).maxResponseBytes(10).proxy(Proxy.NONE).maxSends(1).build()) {
            assertTrue(assertThrows(OJSException.Connection.class, client::manifest).getMessage().contains("10"));
        }
    }
}

package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** What becomes of values: the table of docs/guide/values.md. */
class ValuesTest {
    record Order(String name, Object when) {}

    static final class Plain {
        public String name = "ada";
    }

    @ParameterizedTest
    @EnumSource
    void whatWouldBeLostIsRefusedWithItsPlaceAndWhatToPass(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Map<Object, List<String>> wrong = new java.util.LinkedHashMap<>();
            wrong.put(Map.of("when", new Date()), List.of("args[1].when: ", "java.util.Date", "toInstant()"));
            wrong.put(new Order("a", Calendar.getInstance()), List.of("args[1].when: ", "toInstant()"));
            wrong.put(List.of(1, List.of(Double.NaN)), List.of("args[1][1][0]: ", "NaN", "pass null"));
            wrong.put(Float.NEGATIVE_INFINITY, List.of("args[1]: ", "-Infinity"));
            wrong.put(Map.of("by", Map.of(1, "a")), List.of("args[1].by: ", "the key 1, of Integer", "Map<String"));
            wrong.put(Collections.singletonMap(null, 1), List.of("args[1]: ", "key null"));
            wrong.put(new EnumMap<>(Map.of(TimeUnit.DAYS, 1)), List.of("args[1]: ", "DAYS", "Map<String"));
            wrong.put(new byte[] {1}, List.of("args[1]: ", "byte[]", "Base64"));
            wrong.put(new Plain(), List.of("args[1]: ", "Plain", "pass a record, a Map"));
            wrong.put(new IllegalStateException("x"), List.of("args[1]: ", "getMessage()"));
            wrong.put(Path.of("a", "b"), List.of("args[1]: ", "toString()"));
            wrong.put(Stream.of(1), List.of("args[1]: ", "toList()"));
            wrong.put(ZonedDateTime.now(ZoneId.of("Europe/Prague")), List.of("args[1]: ", "toOffsetDateTime()"));
            wrong.put("half \ud83d", List.of("args[1]: ", "surrogate"));
            wrong.forEach((value, texts) -> {
                for (var call : List.<org.junit.jupiter.api.function.Executable>of(() -> bench.job("a", 1, value).enqueue(),
                        () -> bench.job("a", 1, value).enqueueAsync().join(), () -> bench.client.enqueueBatch(List.of(JobRequest.of("a", 1, value))))) {
                    var refused = assertThrows(OJSException.Validation.class, call);
                    assertEquals("serialization_error", refused.code());
                    texts.forEach(text -> assertTrue(refused.getMessage().contains(text), () -> text + " is not in " + refused.getMessage()));
                }
            });
            assertTrue(assertThrows(OJSException.Validation.class, () -> bench.job("a").meta("k", new Date()).enqueue()).getMessage().startsWith("meta.k: "));
            assertTrue(assertThrows(OJSException.Validation.class, () -> bench.client.enqueueBatch(List.of(JobRequest.of("a"), JobRequest.of("a", Double.NaN))))
                    .getMessage().startsWith("jobs[1].args[0]: "));
            assertEquals(0L, bench.client.listJobs(JobFilter.ALL.withQueue(bench.queue)).total());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aResultIsHeldToTheSameRule(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            bench.worker().register("a", ctx -> Map.of("at", new Date())).start();
            Map<String, Object> error = bench.error(bench.job("a").enqueue());
            assertEquals("serialization_error", error.get("code"));
            assertTrue(error.get("message").toString().contains("result.at: "), error.toString());
        }
    }

    enum Colour { RED }

    @Test
    void whatArrivesAsItWas() {
        Instant at = Instant.parse("2030-01-01T00:00:00Z");
        List<Object> given = Arrays.asList(null, true, "馬", Long.MIN_VALUE, new BigInteger("123456789012345678901234567890"), new BigDecimal("1.50"), 0.1, 2f,
                new AtomicLong(3), 'c', Colour.RED, at, OffsetDateTime.parse("2030-01-01T00:00:00+01:00"), LocalDate.of(2030, 1, 2),
                LocalDateTime.of(2030, 1, 2, 3, 0), Duration.ofMinutes(90), new UUID(0, 1), Optional.empty(), Optional.of(1), new int[] {1, 2}, Set.of("x"),
                new Order("a", List.of()));
        assertEquals("[null,true,\"馬\",-9223372036854775808,123456789012345678901234567890,1.50,0.1,2.0,3,\"c\",\"RED\",\"2030-01-01T00:00:00Z\","
                + "\"2030-01-01T00:00:00+01:00\",\"2030-01-02\",\"2030-01-02T03:00:00\",\"PT1H30M\",\"00000000-0000-0000-0000-000000000001\",null,1,[1,2],"
                + "[\"x\"],{\"name\":\"a\",\"when\":[]}]", Json.write(given));
        record Times(Instant at, OffsetDateTime offset, LocalDate day, LocalDateTime local, Duration length) {}
        Times times = new Times(at, OffsetDateTime.parse("2030-01-01T00:00:00+01:00"), LocalDate.of(2030, 1, 2), LocalDateTime.of(2030, 1, 2, 3, 0),
                Duration.ofMinutes(90));
        assertEquals(times, RecordReader.read(Json.parse(Json.write(times)), Times.class));
    }

    @Test
    void numbersThatFewReadAreRefused() {
        assertEquals("invalid_json", assertThrows(OJSException.Validation.class, () -> Json.parse("9".repeat(100_000))).code());
    }
}

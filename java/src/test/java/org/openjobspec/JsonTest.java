package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @ParameterizedTest
    @ValueSource(strings = {
        "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "12345678901234567890123456789", "0.1", "-2.50", "1E+300", "\"\"", "\"žluťoučký 馬 🐎 \u2028\"", "\"a\\\"b\\\\c\\n\\u0000\"", "[]", "{}",
        "[1,[2,[3,{\"a\":[]}]]]", "{\"b\":1,\"a\":{\"\":null}}",
    })
    void comesBackAsItWas(String text) {
        assertEquals(text, Json.write(Json.parse(text)));
    }

    @Test
    void numbersAreExact() {
        assertEquals(List.of(9223372036854775807L, new BigInteger("9223372036854775808"), new BigDecimal("0.10"), -9007199254740993L),
                Json.parse("[9223372036854775807, 9223372036854775808, 0.10, -9007199254740993]"));
        assertEquals(new BigDecimal("1e-400"), Json.parse("1e-400"));
    }

    @Test
    void blanksAndEscapes() {
        assertEquals(Map.of("a", List.of("\"\\/\b\f\n\r\té🐎", 1L)), Json.parse(" {\n\"a\" :\t[ \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\uDC0E\" , 1 ] }\r\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "nul", "truex", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\x\"", "\"\\u00g0\"", "\"\\u12\"", "\"a\nb\"", "[", "[1", "[1,]", "[1 2]", "{",
        "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "[]]", "1 2", "NaN", "'a'", "1e99999999999",
    })
    void whatIsNoJsonIsRefused(String text) {
        OJSException.Validation wrong = assertThrows(OJSException.Validation.class, () -> Json.parse(text));
        assertEquals("invalid_json", wrong.code());
    }

    @Test
    void depthHasAnEnd() {
        assertTrue(Json.write(Json.parse("[".repeat(512) + "]".repeat(512))).startsWith("[[["));
        assertThrows(OJSException.Validation.class, () -> Json.parse("[".repeat(100_000)));
        List<Object> self = new ArrayList<>();
        self.add(self);
        assertThrows(OJSException.Validation.class, () -> Json.write(self));
    }

    enum Colour { RED }

    record Point(int x, Optional<String> label) {}

    @Test
    void writesWhatProgramsHold() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("record", new Point(1, Optional.empty()));
        value.put("enum", Colour.RED);
        value.put("array", new int[] {1, 2});
        value.put("objects", new Object[] {'c', (short) 1, 1.5, 2f});
        value.put("set", Set.of("x"));
        value.put("time", Instant.EPOCH);
        value.put("length", Duration.ofDays(8).plusMillis(500));
        value.put("uuid", new UUID(0, 1));
        value.put("atomic", new AtomicLong(7));
        value.put("null", null);
        assertEquals("{\"record\":{\"x\":1,\"label\":null},\"enum\":\"RED\",\"array\":[1,2],\"objects\":[\"c\",1,1.5,2.0],\"set\":[\"x\"],"
                + "\"time\":\"1970-01-01T00:00:00Z\",\"length\":\"P8DT0.5S\",\"uuid\":\"00000000-0000-0000-0000-000000000001\",\"atomic\":7,\"null\":null}",
                Json.write(value));
    }

    @Test
    void whatHasNoFormIsRefused() {
        Map<Object, Object> nullKey = new HashMap<>();
        nullKey.put(null, 1);
        for (Object value : Arrays.asList(new Object(), Double.NaN, Float.POSITIVE_INFINITY, "\ud83d", "\udc0e\ud83d", nullKey, Thread.currentThread())) {
            OJSException.Validation wrong = assertThrows(OJSException.Validation.class, () -> Json.write(value));
            assertEquals("serialization_error", wrong.code());
        }
    }

    record All(String text, int whole, Long large, double real, boolean flag, List<Point2> points, Map<String, BigDecimal> prices, Set<Colour> colours,
               Instant at, Duration length, Optional<UUID> id, Object any, TimeUnit unit) {}

    record Point2(int x, Integer y) {}

    @Test
    void readsRecords() {
        String text = "{\"text\":\"t\",\"whole\":2147483647,\"large\":9223372036854775807,\"real\":0.5,\"flag\":true,\"points\":[{\"x\":1,\"y\":null,\"z\":3}],"
                + "\"prices\":{\"a\":1.10},\"colours\":[\"RED\"],\"at\":\"2030-01-01T00:00:00+01:00\",\"length\":\"PT1H\","
                + "\"id\":\"00000000-0000-0000-0000-000000000001\",\"any\":[1],\"unit\":\"DAYS\"}";
        assertEquals(new All("t", Integer.MAX_VALUE, Long.MAX_VALUE, 0.5, true, List.of(new Point2(1, null)), Map.of("a", new BigDecimal("1.10")),
                Set.of(Colour.RED), Instant.parse("2029-12-31T23:00:00Z"), Duration.ofHours(1), Optional.of(new UUID(0, 1)), List.of(1L), TimeUnit.DAYS),
                RecordReader.read(Json.parse(text), All.class));
        assertNull(RecordReader.read(null, Point2.class));
        for (String wrong : List.of("{\"x\":1.5}", "{\"x\":2147483648}", "{\"x\":\"1\"}", "{}", "[1]", "{\"x\":1,\"y\":true}")) {
            assertThrows(OJSException.Validation.class, () -> RecordReader.read(Json.parse(wrong), Point2.class), wrong);
        }
    }

    @Test
    void lengthsAreSpeltAsTheCoreSpellsThem() {
        Map<Duration, String> texts = Map.of(Duration.ZERO, "PT0S", Duration.ofMillis(500), "PT0.5S", Duration.ofSeconds(90), "PT1M30S", Duration.ofDays(7), "P7D",
                Duration.ofHours(25).plusSeconds(1), "P1DT1H1S");
        texts.forEach((length, text) -> assertEquals(text, Durations.text(length)));
        assertThrows(OJSException.Validation.class, () -> Durations.text(Duration.ofNanos(-1)));
    }
}

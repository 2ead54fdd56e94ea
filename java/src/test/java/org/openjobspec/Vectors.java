package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** The vectors that all languages share. */
final class Vectors {
    private Vectors() {}

    /** Plays a vector. */
    interface Check {
        void run(Map<String, Object> vector) throws Throwable;
    }

    /** Those of a kind, in a file of {@code tests/vectors}. */
    static List<Map<String, Object>> of(String file, String kind) {
        try {
            Object all = Json.parse(Files.readAllBytes(Support.ROOT.resolve("tests/vectors").resolve(file)));
            List<Map<String, Object>> vectors = Members.list(Members.of(all), kind).stream().map(Members::of).toList();
            assertFalse(vectors.isEmpty(), kind);
            return vectors;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A test for each of a kind, which have a name and at most these members. */
    static Stream<DynamicTest> each(String kind, List<String> members, Check check) {
        List<String> names = Stream.concat(Stream.of("name"), members.stream()).toList();
        return of("vectors.json", kind).stream().map(vector ->
                DynamicTest.dynamicTest(Members.text(vector, "name"), () -> check.run(known(vector, names))));
    }

    /** An object that has at most these members: nothing would play another one. */
    static Map<String, Object> known(Object value, List<String> names) {
        Map<String, Object> members = Members.of(value);
        TreeSet<String> others = new TreeSet<>(members.keySet());
        names.forEach(others::remove);
        assertEquals(new TreeSet<>(), others, "members that this test does not play");
        return members;
    }
}

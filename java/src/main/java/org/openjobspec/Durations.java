package org.openjobspec;

import java.time.Duration;

/** Lengths of time as the wire has them: ISO 8601, in the spelling of the core. */
final class Durations {
    private Durations() {}

    /** {@code P1DT2H}, {@code PT1M30S}, {@code PT0.5S}. ({@link Duration#toString} knows no days.) */
    static String text(Duration length) {
        positive("a duration", length);
        StringBuilder out = new StringBuilder("P");
        if (length.toDaysPart() > 0) out.append(length.toDaysPart()).append('D');
        Duration rest = length.minusDays(length.toDaysPart());
        if (out.length() == 1 || !rest.isZero()) out.append(rest.toString().substring(1));
        return out.toString();
    }

    /** Milliseconds; 0, which stands for the default, of null. */
    static long millis(String name, Duration length) {
        if (length == null) return 0;
        return positive(name, length).toMillis();
    }

    static Duration positive(String name, Duration length) {
        if (length.isNegative()) throw new OJSException.Validation(name + " must be zero or more, got " + length);
        return length;
    }
}

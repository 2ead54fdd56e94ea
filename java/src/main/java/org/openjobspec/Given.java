package org.openjobspec;

import java.util.List;

/** What a program gives to options and settings. */
final class Given {
    private Given() {}

    /** The value; null is refused, because it is most often a variable that was forgotten. */
    static <T> T some(String name, T value) {
        if (value == null) throw new OJSException.Validation(name + " is null: leave it out for the default");
        return value;
    }

    /** The values as a list; null is refused, also in the place of one of them. */
    static List<String> all(String name, String[] values) {
        for (int i = 0; i < some(name, values).length; i++) {
            if (values[i] == null) throw new OJSException.Validation(name + "[" + i + "] is null");
        }
        return List.of(values);
    }
}

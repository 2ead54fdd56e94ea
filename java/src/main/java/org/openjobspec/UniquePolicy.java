package org.openjobspec;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * When two jobs count as the same, and what happens to the second. What is null is decided by the server.
 *
 * @param keys of type, queue, args, meta: what is compared
 * @param argsKeys only these members of the arguments count
 * @param metaKeys only these members of the metadata count
 * @param period only jobs made within this time count
 * @param states only jobs in these states count
 * @param onConflict what to do with the second job
 */
public record UniquePolicy(List<String> keys, List<String> argsKeys, List<String> metaKeys, Duration period, List<String> states,
                           OnConflict onConflict) implements JsonForm {

    /** What to do with the second job. */
    public enum OnConflict { REJECT, REPLACE, REPLACE_EXCEPT_SCHEDULE, IGNORE }

    /** All as the server decides. */
    public static final UniquePolicy DEFAULT = new UniquePolicy(null, null, null, null, null, null);

    /** Compared by these: {@code by("type", "args")}. */
    public static UniquePolicy by(String... keys) {
        return new UniquePolicy(List.of(keys), null, null, null, null, null);
    }

    /** The same with only these members of the arguments counting. */
    public UniquePolicy withArgsKeys(String... names) {
        return new UniquePolicy(keys, List.of(names), metaKeys, period, states, onConflict);
    }

    /** The same with only these members of the metadata counting. */
    public UniquePolicy withMetaKeys(String... names) {
        return new UniquePolicy(keys, argsKeys, List.of(names), period, states, onConflict);
    }

    /** The same with only jobs counting that were made within this time. */
    public UniquePolicy withPeriod(Duration length) {
        return new UniquePolicy(keys, argsKeys, metaKeys, length, states, onConflict);
    }

    /** The same with only jobs counting that are in these states. */
    public UniquePolicy withStates(String... names) {
        return new UniquePolicy(keys, argsKeys, metaKeys, period, List.of(names), onConflict);
    }

    /** The same with this to do with the second job. */
    public UniquePolicy withOnConflict(OnConflict action) {
        return new UniquePolicy(keys, argsKeys, metaKeys, period, states, action);
    }

    @Override
    public Map<String, Object> toJson() {
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put("keys", keys);
        wire.put("args_keys", argsKeys);
        wire.put("meta_keys", metaKeys);
        wire.put("period", period == null ? null : Durations.text(period));
        wire.put("states", states);
        wire.put("on_conflict", RetryPolicy.wire(onConflict));
        wire.values().removeIf(value -> value == null);
        return wire;
    }
}

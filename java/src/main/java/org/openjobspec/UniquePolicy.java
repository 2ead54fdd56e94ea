package org.openjobspec;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

// gen:java/policy.j2:UniquePolicy (make gen; do not edit)
/**
 * When two jobs count as the same, and what happens to the second. What is null is decided by the server.
 *
 * @param keys what is compared: of type, queue, args, meta
 * @param argsKeys only these members of the arguments count
 * @param metaKeys only these members of the metadata count
 * @param period only jobs made within this time count
 * @param states only jobs in these states count
 * @param onConflict what to do with the second job
 */
public record UniquePolicy(
        List<String> keys,
        List<String> argsKeys,
        List<String> metaKeys,
        Duration period,
        List<String> states,
        OnConflict onConflict) implements JsonForm {

    /** What to do with the second job. */
    public enum OnConflict { REJECT, REPLACE, REPLACE_EXCEPT_SCHEDULE, IGNORE }

    /** All as the server decides. */
    public static final UniquePolicy DEFAULT = new UniquePolicy(null, null, null, null, null, null);

    /** The same with this {@code keys}. What is compared: of type, queue, args, meta. */
    public UniquePolicy withKeys(String... keys) {
        return new UniquePolicy(List.of(keys), argsKeys, metaKeys, period, states, onConflict);
    }

    /** The same with this {@code argsKeys}. Only these members of the arguments count. */
    public UniquePolicy withArgsKeys(String... argsKeys) {
        return new UniquePolicy(keys, List.of(argsKeys), metaKeys, period, states, onConflict);
    }

    /** The same with this {@code metaKeys}. Only these members of the metadata count. */
    public UniquePolicy withMetaKeys(String... metaKeys) {
        return new UniquePolicy(keys, argsKeys, List.of(metaKeys), period, states, onConflict);
    }

    /** The same with this {@code period}. Only jobs made within this time count. */
    public UniquePolicy withPeriod(Duration period) {
        return new UniquePolicy(keys, argsKeys, metaKeys, period, states, onConflict);
    }

    /** The same with this {@code states}. Only jobs in these states count. */
    public UniquePolicy withStates(String... states) {
        return new UniquePolicy(keys, argsKeys, metaKeys, period, List.of(states), onConflict);
    }

    /** The same with this {@code onConflict}. What to do with the second job. */
    public UniquePolicy withOnConflict(OnConflict onConflict) {
        return new UniquePolicy(keys, argsKeys, metaKeys, period, states, onConflict);
    }

    @Override
    public Map<String, Object> toJson() {
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put("keys", keys);
        wire.put("args_keys", argsKeys);
        wire.put("meta_keys", metaKeys);
        wire.put("period", period == null ? null : Durations.text(period));
        wire.put("states", states);
        wire.put("on_conflict", onConflict == null ? null : onConflict.name().toLowerCase(Locale.ROOT));
        wire.values().removeIf(value -> value == null);
        return wire;
    }
    // gen:end

    /** Compared by these: {@code by("type", "args")}. */
    public static UniquePolicy by(String... keys) {
        return DEFAULT.withKeys(keys);
    }
}

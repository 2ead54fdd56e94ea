package org.openjobspec;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Values of {@link Json} as Java types: text, numbers (exactly, or not at all), lists, sets, maps, optionals, enums by name, times, and
 * records of those by the names of their components. Unknown members are left alone; missing ones are null.
 */
final class RecordReader {
    private RecordReader() {}

    static <T> T read(Object value, Class<T> type) {
        @SuppressWarnings("unchecked") // of() gives what the type says
        T read = (T) of(value, type);
        return read;
    }

    private static Object of(Object value, Type type) {
        return switch (type) {
            case Class<?> plain -> plain(value, plain);
            case ParameterizedType generic -> generic(value, (Class<?>) generic.getRawType(), generic.getActualTypeArguments());
            default -> value; // type variables and wildcards: as it came
        };
    }

    private static Object generic(Object value, Class<?> raw, Type[] of) {
        if (raw == Optional.class) return Optional.ofNullable(of(value, of[0]));
        if (value == null) return null;
        if (raw == Map.class && value instanceof Map<?, ?> members && of[0] == String.class) {
            Map<Object, Object> read = new LinkedHashMap<>();
            members.forEach((name, member) -> read.put(name, of(member, of[1])));
            return read;
        }
        if (value instanceof List<?> items && raw == Set.class) {
            Set<Object> read = new LinkedHashSet<>();
            items.forEach(item -> read.add(of(item, of[0])));
            return read;
        }
        if (value instanceof List<?> items && raw.isAssignableFrom(List.class)) {
            List<Object> read = new ArrayList<>();
            items.forEach(item -> read.add(of(item, of[0])));
            return read;
        }
        return plain(value, raw);
    }

    private static Object plain(Object value, Class<?> type) {
        if (value == null) {
            if (type.isPrimitive()) throw mismatch("null", type);
            return null;
        }
        if (type.isInstance(value)) return value;
        try {
            Object read = switch (value) {
                case Number number -> number(new BigDecimal(number.toString()), type);
                case Boolean flag when type == boolean.class -> flag;
                case String text -> text(text, type);
                case Map<?, ?> members when type.isRecord() -> record(members, type);
                default -> null;
            };
            if (read != null) return read;
        } catch (ArithmeticException | IllegalArgumentException | java.time.DateTimeException e) {
            throw new OJSException.Validation("cannot read " + Json.write(value) + " as " + type.getSimpleName() + ": " + e.getMessage(),
                    "invalid_arguments", e);
        }
        throw mismatch(Json.write(value), type);
    }

    private static Object number(BigDecimal number, Class<?> type) {
        if (type == int.class || type == Integer.class) return number.intValueExact();
        if (type == long.class || type == Long.class) return number.longValueExact();
        if (type == double.class || type == Double.class) return number.doubleValue();
        if (type == float.class || type == Float.class) return number.floatValue();
        if (type == short.class || type == Short.class) return number.shortValueExact();
        if (type == byte.class || type == Byte.class) return number.byteValueExact();
        if (type == BigDecimal.class) return number;
        if (type == BigInteger.class) return number.toBigIntegerExact();
        return null;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // an enum's own valueOf
    private static Object text(String text, Class<?> type) {
        if (type.isEnum()) return Enum.valueOf((Class<? extends Enum>) type, text);
        if (type == Instant.class) return OffsetDateTime.parse(text).toInstant();
        if (type == OffsetDateTime.class) return OffsetDateTime.parse(text);
        if (type == LocalDate.class) return LocalDate.parse(text);
        if (type == LocalTime.class) return LocalTime.parse(text);
        if (type == LocalDateTime.class) return LocalDateTime.parse(text);
        if (type == Duration.class) return Duration.parse(text);
        if (type == UUID.class) return UUID.fromString(text);
        if (type == char.class || type == Character.class) return text.length() == 1 ? text.charAt(0) : null;
        return null;
    }

    private static Object record(Map<?, ?> members, Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++) values[i] = of(members.get(components[i].getName()), components[i].getGenericType());
        try {
            Constructor<?> constructor =
                    type.getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true); // records of a method or a private class
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            throw new OJSException.Validation("cannot make a " + type.getSimpleName() + " of " + Json.write(members) + ": " + e.getCause(),
                    "invalid_arguments", e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new OJSException.Validation("cannot make a " + type.getName() + ": " + e, "invalid_arguments", e);
        }
    }

    private static OJSException mismatch(String text, Class<?> type) {
        return new OJSException.Validation("cannot read " + text + " as " + type.getSimpleName(), "invalid_arguments");
    }
}

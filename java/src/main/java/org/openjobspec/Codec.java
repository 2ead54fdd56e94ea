package org.openjobspec;

/**
 * Reads JSON as a Java type, for {@link TypedJobHandler}. Jackson is one with {@code mapper::readValue}; {@link #RECORDS} needs no
 * library.
 */
@FunctionalInterface
public interface Codec {
    /** Records, and what they are made of: text, numbers (exactly, or not at all), lists, maps, enums, times. */
    Codec RECORDS = new Codec() {
        @Override
        public <T> T read(String json, Class<T> type) {
            return RecordReader.read(Json.parse(json), type);
        }
    };

    /** The value of a JSON text. */
    <T> T read(String json, Class<T> type) throws Exception;
}

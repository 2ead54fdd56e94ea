// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Batches of jobs and outcomes in one block of bytes: {@code include/ojs_frame.h}. */
final class Frames {
    static final int JOBS = 0x4A534A4F;
    static final int OUTCOMES = 0x4F534A4F;
    static final int VERSION = 1;
    static final int HEADER = 16;
    static final int AT_MAGIC = 0;
    static final int AT_VERSION = 4;
    static final int AT_ENTRY_SIZE = 6;
    static final int AT_COUNT = 8;
    static final int AT_TOTAL = 12;

    static final int JOB_TOKEN = 0;
    static final int JOB_ENVELOPE = 8;
    static final int JOB_ID = 16;
    static final int JOB_TYPE = 24;
    static final int JOB_QUEUE = 32;
    static final int JOB_ATTEMPT = 40;
    static final int JOB_FLAGS = 44;

    static final int OUTCOME = 32;
    static final int OUTCOME_TOKEN = 0;
    static final int OUTCOME_KIND = 8;
    static final int OUTCOME_PAYLOAD = 16;
    static final int OUTCOME_DELAY = 24;
private Frames() {}

    /** A job of a frame. */
    record Entry(long token, String id, String type, String queue, int attempt, byte[] envelope) {}

    /** The jobs of a frame; none of an empty one. */
    static Entry[] jobs(byte[] frame) {
        if (frame.length == 0) return new Entry[0];
        ByteBuffer in = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        if (in.getInt(AT_MAGIC) != JOBS) throw new IllegalStateException("not a frame of jobs");
        // Later versions may append members: the header says how long an entry is.
        int size = Short.toUnsignedInt(in.getShort(AT_ENTRY_SIZE));
        Entry[] entries = new Entry[in.getInt(AT_COUNT)];
        for (int i = 0, at = HEADER; i < entries.length; i++, at += size) {
            byte[] envelope = new byte[in.getInt(at + JOB_ENVELOPE + 4)];
            in.get(in.getInt(at + JOB_ENVELOPE), envelope);
            entries[i] = new Entry(
                    in.getLong(at + JOB_TOKEN),
                    text(frame, in, at + JOB_ID),
                    text(frame, in, at + JOB_TYPE),
                    text(frame, in, at + JOB_QUEUE),
                    in.getInt(at + JOB_ATTEMPT),
                    envelope);
        }
        return entries;
    }

    private static String text(byte[] frame, ByteBuffer in, int at) {
        return new String(frame, in.getInt(at), in.getInt(at + 4), StandardCharsets.UTF_8);
    }

    /** A frame of outcomes. */
    static byte[] outcomes(List<Outcome> outcomes) {
        int at = HEADER + outcomes.size() * OUTCOME;
        int total = at;
        for (Outcome outcome : outcomes) total += outcome.payload().length;
        ByteBuffer out = ByteBuffer.allocate(total).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(AT_MAGIC, OUTCOMES);
        out.putShort(AT_VERSION, (short) VERSION);
        out.putShort(AT_ENTRY_SIZE, (short) OUTCOME);
        out.putInt(AT_COUNT, outcomes.size());
        out.putInt(AT_TOTAL, total);
        int entry = HEADER;
        for (Outcome outcome : outcomes) {
            out.putLong(entry + OUTCOME_TOKEN, outcome.token());
            out.putInt(entry + OUTCOME_KIND, outcome.kind());
            out.putInt(entry + OUTCOME_PAYLOAD, at);
            out.putInt(entry + OUTCOME_PAYLOAD + 4, outcome.payload().length);
            out.put(at, outcome.payload());
            at += outcome.payload().length;
            out.putLong(entry + OUTCOME_DELAY, outcome.delayMs());
            entry += OUTCOME;
        }
        return out.array();
    }
}

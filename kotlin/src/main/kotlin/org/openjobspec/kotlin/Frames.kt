// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

import java.nio.ByteBuffer
import java.nio.ByteOrder

/** A job of a frame. */
internal class Entry(
    val token: Long,
    val id: String,
    val type: String,
    val queue: String,
    val attempt: Int,
    val envelope: ByteArray,
)

/** Batches of jobs and outcomes in one block of bytes: `include/ojs_frame.h`. */
internal object Frames {
    private const val JOBS = 0x4A534A4F
    private const val OUTCOMES = 0x4F534A4F
    private const val VERSION = 1
    private const val HEADER = 16
    private const val AT_MAGIC = 0
    private const val AT_VERSION = 4
    private const val AT_ENTRY_SIZE = 6
    private const val AT_COUNT = 8
    private const val AT_TOTAL = 12

    private const val JOB_TOKEN = 0
    private const val JOB_ENVELOPE = 8
    private const val JOB_ID = 16
    private const val JOB_TYPE = 24
    private const val JOB_QUEUE = 32
    private const val JOB_ATTEMPT = 40

    private const val OUTCOME = 32
    private const val OUTCOME_TOKEN = 0
    private const val OUTCOME_KIND = 8
    private const val OUTCOME_PAYLOAD = 16
    private const val OUTCOME_DELAY = 24


    /** The jobs of a frame; none of an empty one. */
    fun jobs(frame: ByteArray): List<Entry> {
        if (frame.isEmpty()) return emptyList()
        val bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN)
        check(bytes.getInt(AT_MAGIC) == JOBS) { "not a frame of jobs" }
        // Later versions may append members: the header says how long an entry is.
        val size = bytes.getShort(AT_ENTRY_SIZE).toInt() and 0xFFFF
        return List(bytes.getInt(AT_COUNT)) { index ->
            val at = HEADER + index * size
            val envelope = bytes.getInt(at + JOB_ENVELOPE)
            Entry(
                token = bytes.getLong(at + JOB_TOKEN),
                id = text(frame, bytes, at + JOB_ID),
                type = text(frame, bytes, at + JOB_TYPE),
                queue = text(frame, bytes, at + JOB_QUEUE),
                attempt = bytes.getInt(at + JOB_ATTEMPT),
                envelope = frame.copyOfRange(envelope, envelope + bytes.getInt(at + JOB_ENVELOPE + 4)),
            )
        }
    }

    private fun text(frame: ByteArray, bytes: ByteBuffer, at: Int): String =
        String(frame, bytes.getInt(at), bytes.getInt(at + 4), Charsets.UTF_8)

    /** A frame of outcomes, in this buffer where it is large enough. The core reads it in place. */
    fun outcomes(outcomes: List<Outcome>, buffer: ByteBuffer? = null): ByteBuffer {
        var at = HEADER + outcomes.size * OUTCOME
        val total = at + outcomes.sumOf { it.payload.size }
        val large = buffer?.takeIf { it.capacity() >= total } ?: ByteBuffer.allocateDirect(total * 2)
        val out = large.clear().order(ByteOrder.LITTLE_ENDIAN).limit(total)
        out.putInt(AT_MAGIC, OUTCOMES)
        out.putShort(AT_VERSION, VERSION.toShort())
        out.putShort(AT_ENTRY_SIZE, OUTCOME.toShort())
        out.putInt(AT_COUNT, outcomes.size)
        out.putInt(AT_TOTAL, total)
        outcomes.forEachIndexed { index, outcome ->
            val entry = HEADER + index * OUTCOME
            out.putLong(entry + OUTCOME_TOKEN, outcome.token)
            out.putInt(entry + OUTCOME_KIND, outcome.kind)
            out.putInt(entry + OUTCOME_PAYLOAD, at)
            out.putInt(entry + OUTCOME_PAYLOAD + 4, outcome.payload.size)
            out.put(at, outcome.payload)
            at += outcome.payload.size
            out.putLong(entry + OUTCOME_DELAY, outcome.delayMs)
        }
        return out
    }
}

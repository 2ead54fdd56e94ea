package org.openjobspec.kotlin

import com.sun.jna.Native
import com.sun.jna.Pointer
import java.lang.ref.Reference.reachabilityFence
import java.nio.ByteBuffer
import org.openjobspec.kotlin.core.CoreWorker

/**
 * The way of frames between a worker and its core: two functions of `bindings/uniffi/src/frames.rs`, called with
 * numbers alone. A call of uniffi makes objects with memory outside of the heap, and costs many times as much. What
 * fails is called again by uniffi, which says why.
 */
internal class Passage(private val core: CoreWorker) {
    private val address = core.address().toLong()
    private var room = ByteBuffer.allocateDirect(ROOM)

    /** Waits for jobs, and takes those that are there, at most [max], as a frame; empty at the end. For one thread. */
    fun pull(max: Int): ByteArray {
        while (true) {
            val length = crossing { ojs_frames_pull(address, max, addressOf(room), room.capacity().toLong()) }
            if (length < 0) return Core.call { core.pull(max.toUInt()) }
            if (length > room.capacity()) {
                room = ByteBuffer.allocateDirect(Math.toIntExact(length + length / 2))
                continue // the same frame comes again
            }
            return ByteArray(length.toInt()).also { room.get(0, it) }
        }
    }

    /** Hands in a frame of outcomes. Where one of them is wrong nothing is done. */
    fun complete(outcomes: ByteBuffer, busyMicros: Long) {
        val length = outcomes.remaining().toLong()
        val late = crossing { ojs_frames_complete(address, addressOf(outcomes), length, busyMicros) }
        if (late < 0) Core.call { core.complete(outcomes, busyMicros.toULong()) }
    }

    private inline fun crossing(call: Calls.() -> Long): Long = try {
        Calls.call()
    } finally {
        reachabilityFence(core) // it is freed when nothing refers to it
    }

    private fun addressOf(buffer: ByteBuffer) = Pointer.nativeValue(Native.getDirectBufferPointer(buffer))

    /** As uniffi finds the library, which it has loaded and checked before. */
    @Suppress("FunctionName")
    private object Calls {
        init {
            val library = System.getProperty("uniffi.component.ojs_uniffi.libraryOverride") ?: "ojs_uniffi"
            Native.register(Calls::class.java, library)
        }

        external fun ojs_frames_pull(worker: Long, max: Int, frame: Long, capacity: Long): Long

        external fun ojs_frames_complete(worker: Long, outcomes: Long, length: Long, busyMicros: Long): Long
    }

    private companion object {
        /** Most frames fit into it. */
        const val ROOM = 128 * 1024
    }
}

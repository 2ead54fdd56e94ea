package org.openjobspec.kotlin.serverless

import java.time.Duration
import java.time.Instant
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch

/**
 * The answers to push deliveries of late, bounded in number, size and time: a delivery that arrives twice gets its
 * first answer, and runs once.
 *
 * @param scope where deliveries run: one whose caller has gone still gets its answer
 * @param keep how long a signature counts
 */
internal class Deliveries(
    private val scope: CoroutineScope,
    private val keep: Duration,
    private val most: Int = MOST,
) {
    private class Known(val since: Instant) {
        val answer = CompletableDeferred<Answer>()

        /** The bytes of its answer, once there is one. */
        var size = 0
    }

    private val known = LinkedHashMap<String, Known>()
    private var bytes = 0L

    /** The answer that [run] gives the first time, for every time. */
    suspend fun once(key: String, now: Instant, run: suspend () -> Answer): Answer {
        val (delivery, isNew) = synchronized(known) {
            val first = known[key]
            if (first == null) forget(now)
            (first ?: Known(now).also { known[key] = it }) to (first == null)
        }
        if (isNew) scope.launch { answer(key, delivery, run) }
        return delivery.answer.await()
    }

    private suspend fun answer(key: String, delivery: Known, run: suspend () -> Answer) {
        try {
            val answer = run()
            synchronized(known) {
                if (known[key] === delivery) {
                    delivery.size = answer.body.size
                    bytes += delivery.size
                }
            }
            delivery.answer.complete(answer)
        } catch (e: Throwable) { // the next one with this key runs
            synchronized(known) { known.remove(key, delivery) }
            delivery.answer.completeExceptionally(e)
        }
    }

    /** Drops what is too old to have a valid signature, and the oldest of what is too much. */
    private fun forget(now: Instant) {
        val each = known.values.iterator()
        while (each.hasNext()) {
            val oldest = each.next()
            val isOld = Duration.between(oldest.since, now) > keep
            if (!isOld && known.size < most && bytes <= BYTES) return
            bytes -= oldest.size
            each.remove()
        }
    }

    companion object {
        const val MOST = 4096

        /** Bytes of all answers that are kept. */
        private const val BYTES = 8L * 1024 * 1024
    }
}

package org.openjobspec.kotlin

import java.lang.System.Logger.Level
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Semaphore
import kotlin.concurrent.thread
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import org.openjobspec.kotlin.core.CoreWorker

/**
 * A worker that has been started. One thread pulls jobs, one listens for cancellations, one hands in the outcomes of
 * those who have more to do; handlers are coroutines of one scope. A slot is free when the outcome of its job has been
 * handed in, so that jobs are taken in batches, too.
 */
internal class WorkerLoop(
    private val core: CoreWorker,
    private val client: OjsClient,
    private val calls: Map<String, JobHandler>,
    concurrency: Int,
    dispatcher: CoroutineDispatcher,
    private val listeners: Listeners,
) {
    private val scope = CoroutineScope(SupervisorJob() + dispatcher + CoroutineName("ojs-worker"))
    private val slots = Semaphore(concurrency)
    private val passage = Passage(core)
    private val completions = Completions(passage, slots::release) { error ->
        broken(error)
        slots.release(concurrency) // the thread that pulls goes on, and learns that the core is over
    }
    private val running = ConcurrentHashMap<Long, JobContext>()

    /** Cancellations of jobs that were pulled and have not begun, or that have ended. */
    private val early = ConcurrentHashMap<Long, CancelReason>()
    private val backlog = Backlog(scope, completions, ::begin)
    private val exitHook = Thread(::giveBackAtExit, "ojs-worker-exit")

    /** Completed when the worker is over and its handlers have ended or were cancelled. */
    val over = CompletableDeferred<Unit>()
    val active: Int get() = running.size

    @Volatile
    var started = false
        private set

    fun start() {
        started = true
        try {
            Runtime.getRuntime().addShutdownHook(exitHook)
        } catch (e: IllegalStateException) { // the process ends already
            core.stop(0u)
        }
        completions.start(core.id())
        // Not a daemon: a process with a worker stays.
        thread(name = "ojs-worker-${core.id()}", block = ::pull)
        thread(name = "ojs-cancel-${core.id()}", isDaemon = true, block = ::listen)
    }

    private fun pull() {
        try {
            while (true) {
                slots.acquireUninterruptibly()
                val free = 1 + slots.drainPermits()
                val frame = passage.pull(free.coerceAtMost(BATCH))
                if (frame.isEmpty()) break
                val jobs = Frames.jobs(frame)
                slots.release(free - jobs.size)
                backlog.add(jobs.map { taken(JobContext(link, it)) })
                early.clear() // all that was pulled is among the running: what is left is about jobs that have ended
            }
            while (!core.overWithin(HOUR_MS)) continue
            over.complete(Unit)
        } catch (e: Throwable) {
            broken(e)
        } finally {
            completions.close()
            // Handlers that did not listen to their cancellation, or have not heard of it yet: what they do changes
            // nothing any more.
            running.values.forEach { it.cancel(CancelReason.SHUTDOWN) }
            scope.cancel()
            try {
                Runtime.getRuntime().removeShutdownHook(exitHook)
            } catch (e: IllegalStateException) {
                // The process ends: the hook runs now.
            }
            Logs.flush()
        }
    }

    private fun broken(error: Throwable) {
        LOG.log(Level.ERROR, "the worker has ended by an error", error)
        over.completeExceptionally(error)
        core.stop(0u) // its jobs go back
    }

    private fun listen() {
        try {
            while (true) {
                val cancelled = Core.call { core.cancellations(BATCH.toUInt()) }
                if (cancelled.isEmpty()) return
                for (one in cancelled) {
                    val why = CancelReason.of(one.why.toInt()) ?: continue
                    early[one.token.toLong()] = why // before the look: a job that begins meanwhile finds it
                    running[one.token.toLong()]?.cancel(why)
                }
            }
        } catch (e: Throwable) {
            LOG.log(Level.ERROR, "handlers do not learn of cancellations any more", e)
        }
    }

    private fun taken(ctx: JobContext): JobContext {
        running[ctx.token] = ctx
        early.remove(ctx.token)?.let(ctx::cancel)
        return ctx
    }

    /** Its body begins also when it was cancelled before: every job gets an outcome. */
    private fun begin(ctx: JobContext) {
        scope.launch(start = CoroutineStart.UNDISPATCHED) {
            ctx.enter(coroutineContext.job)
            work(ctx)
        }
        ctx.left = true // before the look at what is to be handed in, which the caller makes
    }

    private suspend fun work(ctx: JobContext) {
        val began = System.nanoTime()
        var thrown: Throwable? = null
        val outcome = try {
            ctx.throwIfCancelled()
            Outcome.success(ctx, (calls[ctx.type] ?: calls.getValue("*"))(ctx))
        } catch (e: Throwable) { // a handler ends its job, not the worker
            thrown = e
            Outcome.failure(ctx, e)
        }
        running.remove(ctx.token)
        completions.add(outcome, System.nanoTime() - began)
        // Elsewhere who has begun the job hands in, soon.
        if (ctx.left || listeners.want(thrown)) completions.handIn()
        listeners.tell(ctx, thrown)
    }

    private val link = object : Link {
        override val client get() = this@WorkerLoop.client
        override val workerId get() = core.id()

        override suspend fun heartbeat(token: Long) =
            CancelReason.of(Core.call { core.heartbeat(token.toULong()) }.toInt())

        override fun progress(token: Long, report: String) = Core.call { core.progress(token.toULong(), report) }

        override suspend fun save(token: Long, step: String?, state: String): Pair<Long, CancelReason?> {
            val saved = Core.call { core.save(token.toULong(), step, state) }
            return saved.sequence.toLong() to CancelReason.of(saved.why.toInt())
        }

        override fun saved(token: Long, step: String?) = Core.call { core.saved(token.toULong(), step) }
    }

    /** At the end of the process: what still runs goes back to the queue. */
    private fun giveBackAtExit() {
        core.stop(0u)
        core.overWithin(EXIT_MS)
        Logs.flush()
    }

    private companion object {
        /** The most jobs taken at a time. */
        const val BATCH = 256
        const val HOUR_MS = 3_600_000uL

        /** What a process that ends gives its workers. */
        const val EXIT_MS = 5_000uL
    }
}

package org.openjobspec.kotlin

/**
 * Runs a job: `{ ctx -> … }`. What it returns, unless that is null or `Unit`, is the job's result; what it throws is
 * its failure.
 */
public fun interface JobHandler {
    /** Runs one attempt. */
    public suspend operator fun invoke(ctx: JobContext): Any?
}

/** A layer around every handler: `{ ctx, next -> next(ctx) }`. Without the call of next what is inside does not run. */
public fun interface ExecutionMiddleware {
    /** Runs around one attempt; may call `next` once. */
    public suspend fun handle(ctx: JobContext, next: JobHandler): Any?
}

/** Goes on inwards: the job as the server stored it. */
public fun interface Enqueue {
    /** Sends the job, or gives it to the next layer. */
    public suspend operator fun invoke(request: JobRequest): Job?
}

/** A layer around every enqueue: `{ request, next -> next(request) }`. Without the call of next the job is dropped. */
public fun interface EnqueueMiddleware {
    /** Runs around one enqueue; may call `next` once, and returns what that gave, or null. */
    public suspend fun handle(request: JobRequest, next: Enqueue): Job?
}

/**
 * Named layers around an enqueue or a handler. The first one added is the outermost. It may change until the first job.
 */
public class MiddlewareChain<L : Any> internal constructor(private val order: List<String>) {
    private val layers = ArrayList<Pair<String, L>>()
    private var frozen: List<L>? = null

    /** The names, outermost first. */
    public val names: List<String> @Synchronized get() = layers.map { it.first }

    /** Adds the innermost layer. */
    public fun add(name: String, layer: L): MiddlewareChain<L> = insert(name, layer) { layers.size }

    /** Adds the outermost layer. */
    public fun prepend(name: String, layer: L): MiddlewareChain<L> = insert(name, layer) { 0 }

    /** Adds a layer just outside another. */
    public fun insertBefore(existing: String, name: String, layer: L): MiddlewareChain<L> =
        insert(name, layer) { index(existing) }

    /** Adds a layer just inside another. */
    public fun insertAfter(existing: String, name: String, layer: L): MiddlewareChain<L> =
        insert(name, layer) { index(existing) + 1 }

    /** Takes a layer out. */
    @Synchronized
    public fun remove(name: String): MiddlewareChain<L> {
        checkOpen()
        layers.removeAt(index(name))
        return this
    }

    /** The layers, outermost first. The chain may not change from now on. */
    @Synchronized
    internal fun freeze(): List<L> = frozen ?: layers.map { it.second }.also { frozen = it }

    @Synchronized
    private fun insert(name: String, layer: L, place: () -> Int): MiddlewareChain<L> {
        checkOpen()
        if (name.isEmpty()) throw OjsException.Middleware("a middleware needs a name")
        val index = place()
        if (name in names) throw OjsException.Middleware("there is a middleware named '$name' already; remove it first")
        checkOrder(index, name)
        layers.add(index, name to layer)
        return this
    }

    private fun checkOrder(index: Int, name: String) {
        val own = order.indexOf(name)
        if (own < 0) return
        layers.forEachIndexed { at, (other, _) ->
            val its = order.indexOf(other)
            if (its >= 0 && (its < own) != (at < index)) {
                val side = if (its < own) "after" else "before"
                throw OjsException.Middleware("'$name' must stand $side '$other': the order is ${order.joinToString()}")
            }
        }
    }

    private fun index(name: String): Int {
        val index = layers.indexOfFirst { it.first == name }
        if (index >= 0) return index
        throw OjsException.Middleware(
            "there is no middleware named '$name'; there is: ${names.joinToString().ifEmpty { "none" }}",
        )
    }

    private fun checkOpen() {
        if (frozen != null) throw OjsException.Middleware("the chain is in use: change middleware before the first job")
    }
}

/** A layer may call what is inside it once. */
private class Once {
    private var called = false

    @Synchronized
    fun check() {
        if (called) throw OjsException.Middleware("a middleware called next twice")
        called = true
    }
}

/** One call out of layers, outermost first, and what is inside. */
internal fun composed(layers: List<EnqueueMiddleware>, send: Enqueue): Enqueue =
    layers.foldRight(send) { layer, inner ->
    Enqueue { request ->
        val once = Once()
        layer.handle(request) { next ->
            once.check()
            inner(next)
        }
    }
}

/** One handler out of layers, outermost first, and what is inside. */
internal fun composed(layers: List<ExecutionMiddleware>, handler: JobHandler): JobHandler {
    if (layers.isEmpty()) return handler
    // A layer that forgets to return what next gave does not lose the result.
    val innermost =
        JobHandler { ctx -> handler(ctx).also { result -> if (result != null && result != Unit) ctx.result = result } }
    return layers.foldRight(innermost) { layer, inner ->
        JobHandler { ctx ->
            val once = Once()
            layer.handle(ctx) { next ->
                once.check()
                inner(next)
            }
        }
    }
}

package org.openjobspec.kotlin

import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlinx.coroutines.withContext

/**
 * What a request hands on to the jobs that are made for it: who, which request, which trace, which tenant, which
 * language (framework adapters, section 7.1). It is an element of the coroutine's context, so it follows the coroutine
 * to every thread, and into the coroutines that it starts.
 *
 * [carry] is a layer of clients, [restore] one of workers; with both the trace goes from a request into its jobs, and
 * from a job into those that its handler makes:
 *
 * ```kotlin
 * client.use("request_context", RequestContext.carry)
 * worker.use("request_context", RequestContext.restore)
 * withContext(RequestContext.ofRequest({ name -> request.header(name) }, userId = 7)) {
 *     client.enqueue("invoice.send", 7) // meta: traceparent, ojs.context.user_id, …
 * }
 * ```
 *
 * @param meta the metadata of jobs; null and empty values are left out
 */
public class RequestContext(meta: Map<String, Any?>) : AbstractCoroutineContextElement(Key) {
    /** What jobs get in their metadata. */
    public val meta: Map<String, Any> = buildMap {
        for ((name, value) in meta) if (value != null && value != "") put(name, value)
    }

    /** A job with this metadata; what the job says itself stays. */
    public fun completed(request: JobRequest): JobRequest {
        val own = meta.filterKeys { it != RequestKeys.TENANT_ID || "tenant" !in request.options }
        return if (own.isEmpty()) request else request.copy(meta = own + request.meta)
    }

    override fun toString(): String = "RequestContext(${meta.keys.joinToString()})"

    public companion object Key : CoroutineContext.Key<RequestContext> {
        /** That of the present coroutine; null outside of one. */
        public suspend fun current(): RequestContext? = coroutineContext[Key]

        /**
         * From the headers of a request: `X-Request-ID`, `traceparent`, `X-OJS-Tenant`, and the first language of
         * `Accept-Language`.
         *
         * @param header gives a header by its name, or null
         * @param userId what authentication found
         * @param tenantId what authentication found; without it the header
         */
        public fun ofRequest(header: (String) -> String?, userId: Any? = null, tenantId: Any? = null): RequestContext {
            val locale = header("Accept-Language").orEmpty().substringBefore(',').substringBefore(';').trim()
            return RequestContext(
                mapOf(
                    RequestKeys.USER_ID to userId?.toString(),
                    RequestKeys.REQUEST_ID to header("X-Request-ID"),
                    RequestKeys.TRACEPARENT to header("traceparent"),
                    RequestKeys.TENANT_ID to (tenantId?.toString() ?: header("X-OJS-Tenant")),
                    RequestKeys.LOCALE to locale.takeIf { it != "*" },
                ),
            )
        }

        /** A layer of clients: jobs carry what the present request hands on. */
        public val carry: EnqueueMiddleware = EnqueueMiddleware { request, next ->
            next(current()?.completed(request) ?: request)
        }

        /** A layer of workers: around the handler it is as in the request that made the job. */
        public val restore: ExecutionMiddleware = ExecutionMiddleware { ctx, next ->
            withContext(RequestContext(ctx.meta.filterKeys { it in RequestKeys.all })) { next(ctx) }
        }
    }
}

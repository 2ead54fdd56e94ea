package org.openjobspec.kotlin

import java.time.ZoneId
import java.util.concurrent.ConcurrentHashMap
import org.openjobspec.kotlin.core.setJobDefaults
import org.openjobspec.kotlin.core.verifyWebhook

/** Schedules: `client.cron`. What comes back is what the server says, by the names on the wire. */
public class Cron internal constructor(client: OjsClient) : CronOperations(client) {
    /** Enqueues the job whenever the expression matches, in UTC or in a zone; replaces a schedule of the same name. */
    public suspend fun register(
        name: String,
        expression: String,
        job: JobRequest,
        zone: ZoneId? = null,
    ): Map<String, Any?> {
        val body = given("name" to name, "expression" to expression, "job_template" to job, "timezone" to zone?.id)
        return client.run("POST", "/cron", body, Reply.cron)
    }
}

/** Many jobs in one request, each with an outcome of its own: `client.bulk`. */
public class Bulk internal constructor(client: OjsClient) : BulkOperations(client) {
    /**
     * Sends jobs, each of which is stored or refused by itself; with [atomic] all are stored or none. Middleware runs
     * for each.
     */
    public suspend fun enqueue(requests: List<JobRequest>, atomic: Boolean = false): List<BulkItem> {
        val kept = client.kept(requests)
        if (kept.isEmpty()) return emptyList()
        val body = mapOf("jobs" to kept, "atomicity" to if (atomic) "atomic" else "partial")
        return client.run(
            "POST",
            "/jobs/bulk",
            body,
            { answer -> Reply.list(answer, "items").map { BulkItem(membersOf(it)) } },
        )
    }
}

private val withDefaults = ConcurrentHashMap<String, Boolean>()

/** Whether this process has said what jobs of the type have unless their enqueue says otherwise. */
internal fun hasDefaults(type: String): Boolean = withDefaults.containsKey(type)

internal fun setDefaults(type: String, options: Map<String, Any?>) {
    if (options.isEmpty()) return
    if (type == "*") {
        throw OjsException.Validation(
            "'*' stands for types without a name, and defaults belong to one type: register that type",
        )
    }
    Core.call { setJobDefaults(type, jsonText(options)) }
    withDefaults[type] = true
}

/** Requests of webhooks. */
public object Webhooks {
    /**
     * Checks that a request comes from a server that knows one of the secrets, and is not old.
     *
     * @param headers names in any case
     * @throws OjsException.UntrustedWebhook why it is not to be trusted: `reason` in the details
     */
    public fun verify(
        body: ByteArray,
        headers: Map<String, List<String>>,
        secrets: List<String>,
        tolerance: kotlin.time.Duration? = null,
        now: java.time.Instant? = null,
    ) {
        val request = given(
            "headers" to headers,
            "secrets" to secrets,
            "tolerance" to tolerance?.let { seconds("tolerance", it, zero = true) },
            "now" to now?.epochSecond,
        )
        Core.call { verifyWebhook(direct(body), jsonText(request)) }
    }
}

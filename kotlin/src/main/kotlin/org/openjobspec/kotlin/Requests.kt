package org.openjobspec.kotlin

import java.net.URLEncoder
import kotlin.time.Duration

/** How the answer of a request is read. */
internal fun interface Reply<out T> {
    fun read(answer: Any?): T

    companion object {
        val whole = Reply { membersOf(it) }
        val nothing = Reply { }
        val any = Reply { it }
        val bareJob = Reply { jobOf(it) }
        val job = Reply { jobOf(membersOf(it).need("job")) }
        val jobs = Reply { answer -> list(answer, "jobs").map(::jobOf) }
        val jobPage =
            Reply { answer ->
                JobPage(membersOf(membersOf(answer).need("pagination")) + ("jobs" to list(answer, "items")))
            }
        val result = Reply { JobResult(membersOf(it)) }
        val results = Reply { answer -> list(answer, "results").map { one -> one?.let { JobResult(membersOf(it)) } } }
        val workflow = Reply { WorkflowStatus(membersOf(membersOf(it).need("workflow"))) }
        val bulkResult = Reply { answer -> BulkResult(membersOf(answer).also { list(it, "items") }) }

        /** The entries of an answer, under the names that servers have for them. */
        val crons =
            Reply { answer -> membersOf(answer).let { it["crons"] ?: it["cron_jobs"] }.let(::itemsOf).map(::membersOf) }
        val cron = Reply { answer -> membersOf(answer).let { it.inner("cron") ?: it } }

        fun member(name: String) = Reply { membersOf(membersOf(it).need(name)) }

        fun list(name: String) = Reply { answer -> list(answer, name).map(::membersOf) }

        fun count(name: String) = Reply { membersOf(it).also { answer -> answer.need(name) }.number(name) ?: 0 }

        fun list(answer: Any?, name: String): List<Any?> = itemsOf(membersOf(answer).need(name))

        private fun jobOf(value: Any?): Job {
            val members = membersOf(value)
            if (members["id"] !is String) throw unexpected("the answer holds something that is not a job")
            return Job(members)
        }
    }
}

/** What the generated methods are made of. */
public sealed class Requests {
    internal abstract suspend fun <T> run(
        method: String,
        path: String,
        body: Any?,
        read: Reply<T>,
        wait: Duration? = null,
    ): T
}

/** A path out of segments that may hold anything. */
internal fun at(vararg segments: String): String = segments.joinToString("") { segment ->
    if (segment.isEmpty()) throw OjsException.Validation(
        "a path under /${segments[0]} needs an id or a name as text, such as job.id; got ''",
    )
    "/" + escape(segment)
}

/** A path with parameters. */
internal fun query(path: String, parameters: Map<String, Any?>): String =
    if (parameters.isEmpty()) path else path + "?" + parameters.entries.joinToString("&") { (name, value) ->
        "$name=${escape(value.toString())}"
    }

private fun escape(text: String): String = URLEncoder.encode(text, Charsets.UTF_8).replace("+", "%20")

/** Which jobs a bulk operation is about: ids, or a filter. */
internal fun target(ids: List<String>?, filter: Map<String, Any?>): Map<String, Any?> {
    if (ids != null && filter.isNotEmpty()) throw OjsException.Validation(
        "a bulk operation takes ids or a filter, not both",
    )
    if (ids == null && filter.isEmpty()) throw OjsException.Validation(
        "a bulk operation needs ids or a filter: which jobs are meant?",
    )
    return if (ids != null) mapOf("job_ids" to ids) else mapOf("filter" to filter)
}

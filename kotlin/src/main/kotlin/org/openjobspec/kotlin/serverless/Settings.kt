package org.openjobspec.kotlin.serverless

import java.time.Clock
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import org.openjobspec.kotlin.OjsClient
import org.openjobspec.kotlin.OjsException
import org.openjobspec.kotlin.OjsWorker
import org.openjobspec.kotlin.longerThanNone

/**
 * Settings of a handler. What is not given here is read from the environment, where a variable is named.
 *
 * ```kotlin
 * val handler = LambdaHandler(Settings(ojsUrl = "https://ojs.example.com"))
 * ```
 *
 * @param ojsUrl the server that has leased the jobs: outcomes of jobs from queues, checkpoints and progress go there.
 *   Without it `OJS_URL`; without both the platform alone learns what became of a job
 * @param authToken its token. Without it `OJS_AUTH_TOKEN`
 * @param encryptionKeys the keys of encrypted arguments. Without it `OJS_ENCRYPTION_KEYS`
 * @param worker the worker whose handlers, middleware and connection are used, in place of the three above. It is never
 *   started
 * @param signingSecrets the secrets of the push endpoint, two while one is being replaced. Without it
 *   `OJS_SIGNING_SECRET`, with commas between several
 * @param unsigned trusts every request: right only where the platform has checked the caller
 * @param tolerance how long ago a request may have been signed
 * @param timeout what the platform allows for one request. Without it there is no limit besides the job's own; Lambda
 *   says it itself
 * @param safetyMargin how long before that a run ends, with a failure that is tried again; at most half of the limit
 * @param clock what time it is, for tests
 * @throws OjsException.Validation settings that exclude each other, a length of time that is not longer than 0
 */
public class Settings(
    ojsUrl: String? = null,
    authToken: String? = null,
    encryptionKeys: String? = null,
    worker: OjsWorker? = null,
    signingSecrets: List<String>? = null,
    internal val unsigned: Boolean = false,
    internal val tolerance: Duration = 300.seconds,
    internal val timeout: Duration? = null,
    internal val safetyMargin: Duration = 5.seconds,
    internal val clock: Clock = Clock.systemUTC(),
) {
    internal val secrets: List<String> =
        (signingSecrets ?: System.getenv(VARIABLE).orEmpty().split(',')).map { it.trim() }.filter { it.isNotEmpty() }

    /** Whether there is a server that has leased the jobs. */
    internal val hasServer: Boolean =
        worker != null || !ojsUrl.isNullOrEmpty() || URL_VARIABLES.any { !System.getenv(it).isNullOrBlank() }

    internal val worker: OjsWorker

    init {
        if (unsigned && secrets.isNotEmpty()) {
            throw OjsException.Validation("unsigned checks no signature, and there are secrets: leave one out")
        }
        if (worker != null && listOfNotNull(ojsUrl, authToken, encryptionKeys).isNotEmpty()) {
            throw OjsException.Validation("a worker has a connection: leave ojsUrl, authToken and encryptionKeys out")
        }
        longerThanNone("tolerance", tolerance)
        longerThanNone("safetyMargin", safetyMargin)
        timeout?.let { longerThanNone("timeout", it) }
        this.worker = worker ?: OjsWorker(OjsClient(ojsUrl, authToken = authToken, encryptionKeys = encryptionKeys))
    }

    private companion object {
        /** Name the server, where no argument does. */
        val URL_VARIABLES = listOf("OJS_URL", "OJS_BACKEND_URL")
        const val VARIABLE = "OJS_SIGNING_SECRET"
    }
}

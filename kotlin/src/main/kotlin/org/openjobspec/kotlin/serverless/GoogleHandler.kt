package org.openjobspec.kotlin.serverless

import com.google.cloud.functions.CloudEventsFunction
import com.google.cloud.functions.HttpFunction
import com.google.cloud.functions.HttpRequest
import com.google.cloud.functions.HttpResponse
import io.cloudevents.CloudEvent
import kotlinx.coroutines.runBlocking

/**
 * Handlers as a function of Google Cloud: push deliveries over HTTP, and CloudEvents of Pub/Sub. A class that extends
 * it is the function, in both forms: the program that Google starts makes one object of it, by the constructor without
 * parameters.
 *
 * ```kotlin
 * class Jobs : GoogleHandler(Settings(ojsUrl = "https://ojs.example.com", timeout = 60.seconds)) {
 *     init {
 *         register("email.send") { ctx -> send(ctx.arg<String>(0)) }
 *     }
 * }
 * ```
 *
 * `timeout` is the function's own (`--timeout`). The types are those of
 * `com.google.cloud.functions:functions-framework-api`, which the program depends on.
 */
public open class GoogleHandler(settings: Settings = Settings()) :
    PushHandler(settings), HttpFunction, CloudEventsFunction {
    /** Answers a push delivery. */
    override fun service(request: HttpRequest, response: HttpResponse) {
        // One byte more than may be: the answer to that is a refusal.
        val body = request.inputStream.readNBytes(MAX_BODY + 1)
        val answer = runBlocking { answer(request.method, request.headers, body) }
        response.setStatusCode(answer.status)
        answer.headers.forEach { (name, value) ->
            if (name == "content-type") response.setContentType(value) else response.appendHeader(name, value)
        }
        response.outputStream.write(answer.body)
    }

    /**
     * Runs the job in the data of a CloudEvent of Pub/Sub, or the job that is the event's data itself, and reports its
     * outcome. The acknowledgement deadline of the subscription must be ten seconds longer than the `timeout`.
     *
     * @throws DeliveryFailedException when the job has failed and no server knows: the event comes again
     * @throws InvalidDeliveryException when there is no job in it
     */
    override fun accept(event: CloudEvent) {
        val data = event.data ?: throw InvalidDeliveryException("the event '${event.id}' has no data")
        runBlocking { handlePubSub(data.toBytes()) }
    }
}

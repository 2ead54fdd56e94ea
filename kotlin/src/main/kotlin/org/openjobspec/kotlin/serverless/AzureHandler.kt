package org.openjobspec.kotlin.serverless

import com.microsoft.azure.functions.HttpRequestMessage
import com.microsoft.azure.functions.HttpResponseMessage
import com.microsoft.azure.functions.HttpStatus
import java.util.Optional
import kotlinx.coroutines.runBlocking

/**
 * Handlers as functions of Azure: push deliveries over HTTP, messages of Service Bus and of storage queues.
 *
 * ```kotlin
 * private val handler = AzureHandler(Settings(timeout = 300.seconds)).apply {
 *     register("email.send") { ctx -> send(ctx.arg<String>(0)) }
 * }
 *
 * class Functions {
 *     @FunctionName("push")
 *     fun push(
 *         @HttpTrigger(name = "request", methods = [HttpMethod.POST], authLevel = AuthorizationLevel.ANONYMOUS)
 *         request: HttpRequestMessage<Optional<String>>,
 *     ): HttpResponseMessage = handler.handleHttp(request)
 *
 *     @FunctionName("job")
 *     fun job(
 *         @ServiceBusQueueTrigger(name = "message", queueName = "ojs", connection = "SERVICE_BUS") message: String,
 *         @BindingName("DeliveryCount") count: Int,
 *     ) = handler.handleQueue(message, count)
 * }
 * ```
 *
 * `timeout` is `functionTimeout` of `host.json`. The types are those of
 * `com.microsoft.azure.functions:azure-functions-java-library`, which the program depends on.
 */
public class AzureHandler(settings: Settings = Settings()) : PushHandler(settings) {
    /** Answers a push delivery. The body of the request is text or bytes, or an `Optional` of them. */
    public fun handleHttp(request: HttpRequestMessage<*>): HttpResponseMessage {
        val headers = request.headers.mapValues { (_, value) -> listOf(value) }
        val answer = runBlocking { answer(request.httpMethod.name, headers, bytes(request.body)) }
        val response = request.createResponseBuilder(HttpStatus.valueOf(answer.status))
        answer.headers.forEach { (name, value) -> response.header(name, value) }
        return response.body(answer.text).build()
    }

    private fun bytes(body: Any?): ByteArray =
        when (val found = if (body is Optional<*>) body.orElse(null) else body) {
            null -> ByteArray(0)
            is ByteArray -> found
            is String -> found.encodeToByteArray()
            else -> throw IllegalArgumentException(
                "the body of the request is a ${found.javaClass.name}: declare the parameter as " +
                    "HttpRequestMessage<Optional<String>>",
            )
        }

    /**
     * Runs the job in a message of Service Bus or of a storage queue, and reports its outcome. A message lock must last
     * fifteen seconds longer than the `timeout`.
     *
     * @param message the message: a job, or the body of a push delivery
     * @param count how often the queue has delivered it: the binding data `DeliveryCount` of Service Bus,
     *   `DequeueCount` of a storage queue
     * @throws DeliveryFailedException when the job has failed and no server knows: the message is abandoned, and comes
     *   again
     * @throws InvalidDeliveryException when it is no job
     */
    public fun handleQueue(message: String, count: Int) {
        runBlocking { deliver(message, count) }
    }
}

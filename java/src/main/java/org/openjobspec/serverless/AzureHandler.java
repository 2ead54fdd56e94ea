package org.openjobspec.serverless;

import com.microsoft.azure.functions.HttpRequestMessage;
import com.microsoft.azure.functions.HttpResponseMessage;
import com.microsoft.azure.functions.HttpStatus;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Handlers as functions of Azure: push deliveries over HTTP, messages of Service Bus and of storage queues.
 *
 * {@snippet :
 * public final class Functions {
 *     private static final AzureHandler HANDLER = new AzureHandler(
 *             PushHandler.builder().ojsUrl("https://ojs.example.com").timeout(Duration.ofSeconds(300)));
 *
 *     static {
 *         HANDLER.register("email.send", ctx -> send(ctx.arg(0, String.class)));
 *     }
 *
 *     @FunctionName("push")
 *     public HttpResponseMessage push(
 *             @HttpTrigger(name = "request", methods = HttpMethod.POST, authLevel = AuthorizationLevel.ANONYMOUS)
 *                     HttpRequestMessage<Optional<String>> request) {
 *         return HANDLER.handleHttp(request);
 *     }
 *
 *     @FunctionName("job")
 *     public void job(
 *             @ServiceBusQueueTrigger(name = "message", queueName = "ojs", connection = "SERVICE_BUS") String message,
 *             @BindingName("DeliveryCount") int count) {
 *         HANDLER.handleQueue(message, count);
 *     }
 * }
 * }
 *
 * <p>{@code timeout} is {@code functionTimeout} of {@code host.json}. The types are those of
 * {@code com.microsoft.azure.functions:azure-functions-java-library}, which the program depends on.
 */
public final class AzureHandler extends PushHandler {
    /** A handler with settings; see {@link PushHandler#builder()}. */
    public AzureHandler(Settings settings) {
        super(settings);
    }

    /**
     * Answers a push delivery. The body of the request is a {@code String} or {@code byte[]}, or an {@code Optional} of
     * one.
     */
    public HttpResponseMessage handleHttp(HttpRequestMessage<?> request) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        request.getHeaders().forEach((name, value) -> headers.put(name, List.of(value)));
        Answer answer = answer(request.getHttpMethod().name(), headers, bytes(request.getBody()));
        HttpResponseMessage.Builder response = request.createResponseBuilder(HttpStatus.valueOf(answer.status()));
        answer.headers().forEach(response::header);
        return response.body(answer.text()).build();
    }

    private static byte[] bytes(Object body) {
        Object found = body instanceof Optional<?> perhaps ? perhaps.orElse(null) : body;
        return switch (found) {
            case null -> new byte[0];
            case byte[] bytes -> bytes;
            case String text -> text.getBytes(StandardCharsets.UTF_8);
            default -> throw new IllegalArgumentException("the body of the request is a " + found.getClass().getName()
                    + ": declare the parameter as HttpRequestMessage<Optional<String>>");
        };
    }

    /**
     * Runs the job in a message of Service Bus or of a storage queue, and reports its outcome. A message lock must last
     * fifteen seconds longer than the {@code timeout}.
     *
     * @param message the message: a job, or the body of a push delivery
     * @param count how often the queue has delivered it: the binding data {@code DeliveryCount} of Service Bus,
     *     {@code DequeueCount} of a storage queue
     * @throws DeliveryFailedException when the job has failed and no server knows: the message is abandoned, and comes
     *     again
     * @throws InvalidDeliveryException when it is no job
     */
    public void handleQueue(String message, int count) {
        deliver(message, count);
    }
}

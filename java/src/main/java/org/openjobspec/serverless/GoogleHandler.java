package org.openjobspec.serverless;

import com.google.cloud.functions.CloudEventsFunction;
import com.google.cloud.functions.HttpFunction;
import com.google.cloud.functions.HttpRequest;
import com.google.cloud.functions.HttpResponse;
import io.cloudevents.CloudEvent;
import io.cloudevents.CloudEventData;
import java.io.IOException;

/**
 * Handlers as a function of Google Cloud: push deliveries over HTTP, and CloudEvents of Pub/Sub. A class that extends
 * it is the function, in both forms: the program that Google starts makes one object of it, by the constructor without
 * parameters.
 *
 * {@snippet :
 * public final class Jobs extends GoogleHandler {
 *     public Jobs() {
 *         super(PushHandler.builder().ojsUrl("https://ojs.example.com").timeout(Duration.ofSeconds(60)));
 *         register("email.send", ctx -> send(ctx.arg(0, String.class)));
 *     }
 * }
 * }
 *
 * <p>{@code timeout} is the function's own ({@code --timeout}). The types are those of
 * {@code com.google.cloud.functions:functions-framework-api}, which the program depends on. The invoker must be 1.4.1
 * or later: 1.4.0 answers 200 when a function for CloudEvents throws, and the event does not come again.
 */
public class GoogleHandler extends PushHandler implements HttpFunction, CloudEventsFunction {
    /** A handler with settings; see {@link PushHandler#builder()}. */
    public GoogleHandler(Settings settings) {
        super(settings);
    }

    /** Answers a push delivery. */
    @Override
    public void service(HttpRequest request, HttpResponse response) throws IOException {
        byte[] body = request.getInputStream().readNBytes(MAX_BODY + 1);
        Answer answer = answer(request.getMethod(), request.getHeaders(), body);
        response.setStatusCode(answer.status());
        answer.headers().forEach((name, value) -> {
            if (name.equals("content-type")) {
                response.setContentType(value);
            } else {
                response.appendHeader(name, value);
            }
        });
        response.getOutputStream().write(answer.body());
    }

    /**
     * Runs the job in the data of a CloudEvent of Pub/Sub, or the job that is the event's data itself, and reports its
     * outcome. The acknowledgement deadline of the subscription must be ten seconds longer than the {@code timeout}.
     *
     * @throws DeliveryFailedException when the job has failed and no server knows: the event comes again
     * @throws InvalidDeliveryException when there is no job in it
     */
    @Override
    public void accept(CloudEvent event) {
        CloudEventData data = event.getData();
        if (data == null) throw new InvalidDeliveryException("the event '" + event.getId() + "' has no data");
        handlePubSub(data.toBytes());
    }
}

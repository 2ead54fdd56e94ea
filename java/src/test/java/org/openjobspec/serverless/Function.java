package org.openjobspec.serverless;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/** A function as the guide shows it, for AWS's runtime client. */
public final class Function implements RequestStreamHandler {
    private static final LambdaHandler HANDLER = new LambdaHandler(PushHandler.builder());

    static {
        HANDLER.register("email.send", ctx -> Map.of("sent_to", ctx.arg(0, String.class)));
        HANDLER.register("email.fail", _ -> {
            throw new IOException("no mail today");
        });
    }

    @Override
    public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        HANDLER.handle(in, out, context.getRemainingTimeInMillis());
    }
}

package org.openjobspec;

/** A layer around every handler: {@code (ctx, next) -> next.handle(ctx)}. Without the call of next what is inside does not run. */
@FunctionalInterface
public interface ExecutionMiddleware {
    /** Runs around one attempt; may call {@code next} once. */
    Object handle(JobContext ctx, JobHandler next) throws Exception;

    /** One handler out of layers, outermost first, and what is inside. */
    static JobHandler compose(Iterable<ExecutionMiddleware> layers, JobHandler handler) {
        // A layer that forgets to return what next gave does not lose the result.
        JobHandler call = ctx -> {
            Object result = handler.handle(ctx);
            if (result != null) ctx.setResult(result);
            return result;
        };
        boolean any = false;
        java.util.ArrayDeque<ExecutionMiddleware> inwards = new java.util.ArrayDeque<>();
        for (ExecutionMiddleware layer : layers) inwards.push(layer);
        for (ExecutionMiddleware layer : inwards) {
            JobHandler inner = call;
            any = true;
            call = ctx -> {
                Once once = new Once();
                return layer.handle(ctx, next -> {
                    once.check();
                    return inner.handle(next);
                });
            };
        }
        return any ? call : handler;
    }
}

package org.openjobspec;

/** A layer around every enqueue: {@code (request, next) -> next.enqueue(request)}. Without the call of next the job is dropped. */
@FunctionalInterface
public interface EnqueueMiddleware {
    /** What is inside a layer. */
    @FunctionalInterface
    interface Next {
        /** Goes on inwards; the job as the server stored it. */
        Job enqueue(JobRequest request);
    }

    /** Runs around one enqueue; may call {@code next} once, and returns what that gave, or null. */
    Job handle(JobRequest request, Next next);

    /** One call out of layers, outermost first, and what is inside. */
    static Next compose(Iterable<EnqueueMiddleware> layers, Next send) {
        Next call = send;
        java.util.ArrayDeque<EnqueueMiddleware> inwards = new java.util.ArrayDeque<>();
        for (EnqueueMiddleware layer : layers) inwards.push(layer);
        for (EnqueueMiddleware layer : inwards) {
            Next inner = call;
            call = request -> {
                Once once = new Once();
                return layer.handle(request, next -> {
                    once.check();
                    return inner.enqueue(next);
                });
            };
        }
        return call;
    }
}

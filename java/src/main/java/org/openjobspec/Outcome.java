package org.openjobspec;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** From what a handler did to what the core gets. */
record Outcome(long token, int kind, byte[] payload, long delayMs) {
    // gen:java/outcomes.j2 (make gen; do not edit)
    /** Done; the payload is the result as JSON text, or empty. */
    static final int COMPLETED = 0;
    /** Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace. */
    static final int FAILED = 1;
    /** Given back without counting an attempt; no payload. */
    static final int RELEASED = 2;
    /** To run again after the delay, without counting a failure; no payload. */
    static final int SNOOZED = 3;
    // gen:end

    private static final byte[] NOTHING = {};
    /** The server keeps no more frames. */
    private static final int FRAMES = 50;

    /** The handler returned. */
    static Outcome success(JobContext ctx, Object returned) {
        Object result = returned != null ? returned : ctx.result();
        if (result == null) return new Outcome(ctx.token(), COMPLETED, NOTHING, 0);
        try {
            return new Outcome(ctx.token(), COMPLETED, Json.bytes("result", result), 0);
        } catch (OJSException.Validation e) {
            return failed(ctx, e, "serialization_error", "the handler's " + e.getMessage(), false, null);
        } catch (Throwable e) { // an object with odd ideas about being looked at
            return failed(ctx, e, "serialization_error", text(e), false, null);
        }
    }

    /** The job fails before a handler of it has run, or because its handler does not end. */
    static Outcome refused(String code, String type, String message, boolean retryable) {
        Object about = Map.of("code", code, "type", type, "message", clean(message), "retryable", retryable);
        return new Outcome(0, FAILED, Json.bytes(about), 0);
    }

    /** The path of the plain protocol by which the outcome is reported. */
    String path() {
        return path(kind == COMPLETED);
    }

    static String path(boolean completed) {
        return completed ? "/workers/ack" : "/workers/nack";
    }

    /** How the plain protocol reports it: the members beside those that name the job. */
    Map<String, Object> members() {
        if (kind == COMPLETED) return payload.length == 0 ? Map.of() : Operation.members("result", Json.parse(payload));
        if (kind == FAILED) return Map.of("error", Json.parse(payload));
        boolean snoozed = kind == SNOOZED;
        String code = snoozed ? "snooze" : "released";
        // Servers without delay_ms read the delay from the details.
        Object details = snoozed ? Map.of("snooze_ms", delayMs) : null;
        Object error = Operation.members("code", code, "type", code, "message", "given back by the handler",
                "retryable", true, "details", details);
        return Operation.members("requeue", true, "error", error, "delay_ms", snoozed ? delayMs : null);
    }

    /** The handler threw: anything. */
    static Outcome failure(JobContext ctx, Throwable thrown) {
        return switch (thrown) {
            case SnoozeException snooze -> new Outcome(ctx.token(), SNOOZED, NOTHING, snooze.delay().toMillis());
            case ReleaseException _ -> new Outcome(ctx.token(), RELEASED, NOTHING, 0);
            case JobCancelledException e when ctx.cancelled() -> released(ctx, e);
            case InterruptedException e when ctx.cancelled() -> released(ctx, e);
            case JobCancelledException e -> failed(ctx, e, "cancelled", text(e), false, null);
            case NonRetryableException e -> failed(ctx, e, e.code(), text(e), false, e.details());
            default -> failed(ctx, thrown, "handler_error", text(thrown), true, null);
        };
    }

    /** It stopped because it was told to: the core knows why. */
    private static Outcome released(JobContext ctx, Exception ignored) {
        return new Outcome(ctx.token(), RELEASED, NOTHING, 0);
    }

    /** What is sent instead of an outcome that the core cannot read. */
    static Outcome unreadable(long token, OJSException refusal) {
        return failed(token, refusal, "serialization_error", "the handler's result was not accepted: " + refusal.getMessage(), false, null);
    }

    private static Outcome failed(JobContext ctx, Throwable thrown, String code, String message, boolean retryable, Map<String, ?> details) {
        return failed(ctx.token(), thrown, code, message, retryable, details);
    }

    private static Outcome failed(long token, Throwable thrown, String code, String message, boolean retryable, Map<String, ?> details) {
        List<String> frames = frames(thrown);
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("code", clean(code));
        about.put("type", thrown.getClass().getSimpleName());
        about.put("message", clean(message));
        about.put("retryable", retryable);
        about.put("backtrace", frames);
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("error_class", thrown.getClass().getName());
        more.put("stack", clean(stack(thrown, frames)));
        about.put("details", more);
        byte[] plain = Json.bytes(about);
        if (details == null) return new Outcome(token, FAILED, plain, 0);
        try {
            more.putAll(details);
            return new Outcome(token, FAILED, Json.bytes(about), 0);
        } catch (Throwable e) { // details without a JSON form: the failure itself counts
            return new Outcome(token, FAILED, plain, 0);
        }
    }

    private static String text(Throwable thrown) {
        try {
            String message = thrown.getMessage();
            return message == null || message.isEmpty() ? thrown.getClass().getSimpleName() : message;
        } catch (Throwable e) {
            return "a " + thrown.getClass().getName() + " whose message cannot be read";
        }
    }

    private static List<String> frames(Throwable thrown) {
        StackTraceElement[] trace = thrown.getStackTrace();
        List<String> frames = new ArrayList<>();
        for (StackTraceElement frame : Arrays.asList(trace).subList(0, Math.min(trace.length, FRAMES))) frames.add(frame.toString());
        return frames;
    }

    private static String stack(Throwable thrown, List<String> frames) {
        StringBuilder out = new StringBuilder(thrown.getClass().getName()).append(": ").append(text(thrown));
        for (String frame : frames) out.append("\n\tat ").append(frame);
        Throwable cause = thrown.getCause();
        for (int depth = 0; cause != null && depth < 5; depth++, cause = cause.getCause()) {
            out.append("\nCaused by: ").append(cause.getClass().getName()).append(": ").append(text(cause));
            StackTraceElement[] trace = cause.getStackTrace();
            if (trace.length > 0) out.append("\n\tat ").append(trace[0]);
        }
        return out.toString();
    }

    /** Text that UTF-8 has a form for. */
    private static String clean(String text) {
        return new String(Native.utf8(text), java.nio.charset.StandardCharsets.UTF_8);
    }
}

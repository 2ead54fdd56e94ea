package org.openjobspec;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a context asks of the server, where no worker runs its job. */
final class ServerLink implements JobContext.Link {
    /** Members of the document that the server keeps for a job, where steps were run: the same in all languages. */
    private static final String STATE = "$ojs.state";
    private static final String STEPS = "$ojs.steps";
    /** The longest name of a step, in bytes. */
    private static final int LONGEST = 255;
    /** The least time between two reports of progress, in nanoseconds. */
    private static final long PAUSE = 250_000_000;
    private static final System.Logger LOG = System.getLogger("org.openjobspec");

    private final Job job;
    private final Map<String, Object> lease;
    private final OJSClient client;
    private final OJSClient producer;
    private Object state;
    private Map<String, Object> steps;
    private Map<String, Object> report;
    private long reported = System.nanoTime() - PAUSE;

    /** {@code producer} is what the handler enqueues with; {@code server} is whether it leads to the job's server. */
    ServerLink(Job job, Map<String, Object> lease, OJSClient producer, boolean server) {
        this.job = job;
        this.lease = lease;
        this.producer = producer;
        this.client = server ? producer : null;
        Map<String, Object> checkpoint = Members.object(job.members(), "checkpoint", Map.of());
        state = checkpoint.get("state");
        steps = Map.of();
        if (state instanceof Map<?, ?> document && document.get(STEPS) instanceof Map<?, ?> kept) {
            state = document.get(STATE);
            steps = Members.of(kept);
        }
    }

    /** The run is over: its last report of progress is sent before the platform may freeze the process. */
    synchronized void close() {
        if (report != null) sendReport();
    }

    /** What the handler enqueues with. */
    @Override
    public OJSClient client() {
        return producer;
    }

    @Override
    public String workerId() {
        return lease.get("worker_id") instanceof String id ? id : null;
    }

    @Override
    public CancelReason heartbeat(long token) {
        Object worker = lease.get("worker_id");
        if (client == null || worker == null) return null;
        try {
            Object fence = lease.get("lease_token");
            Object tokens = fence == null ? null : Map.of(job.id(), fence);
            Object beat = Operation.members("worker_id", worker, "state", "running",
                    "active_jobs", List.of(job.id()), "lease_tokens", tokens);
            Map<String, Object> answer = Members.of(client.request("POST", "/workers/heartbeat", beat));
            if (Members.list(answer, "cancelled_jobs").contains(job.id())) return CancelReason.CANCELLED;
            boolean says = answer.containsKey("jobs_extended");
            return says && !Members.list(answer, "jobs_extended").contains(job.id()) ? CancelReason.LEASE_LOST : null;
        } catch (OJSException e) {
            LOG.log(System.Logger.Level.WARNING, "the heartbeat of job {0} was not taken: {1}", job.id(),
                    e.getMessage());
            return null;
        }
    }

    @Override
    public synchronized void progress(long token, byte[] text) {
        if (client == null) return;
        report = Members.of(Json.parse(text));
        if (System.nanoTime() - reported >= PAUSE) sendReport();
    }

    private void sendReport() {
        Map<String, Object> said = report;
        report = null;
        reported = System.nanoTime();
        try {
            put("progress", said);
        } catch (OJSException e) { // the job does not depend on it
            LOG.log(System.Logger.Level.DEBUG, "a report of progress of job {0} was not taken: {1}", job.id(),
                    e.getMessage());
        }
    }

    @Override
    public synchronized JobContext.Saved save(long token, String step, byte[] text) {
        if (client == null) {
            String message = "checkpoints are kept by the server: give the function its URL, ojsUrl or OJS_URL";
            throw new OJSException.Validation(message);
        }
        Object value = Json.parse(text);
        Map<String, Object> next = new LinkedHashMap<>(steps);
        if (step.isEmpty()) {
            if (value == null) throw new OJSException.Validation("a checkpoint must not be null: delete it instead");
        } else {
            checkName(step);
            next.put(step, value);
        }
        Object kept = step.isEmpty() ? value : state;
        try {
            Object answer = put("checkpoint", Map.of("state", document(kept, next)));
            state = kept;
            steps = next;
            return new JobContext.Saved(Members.number(Members.of(answer), "sequence", 0), null);
        } catch (OJSException.Conflict e) {
            return new JobContext.Saved(0, lost(e));
        }
    }

    private static void checkName(String step) {
        if (Native.utf8(step).length <= LONGEST) return;
        throw new OJSException.Validation("the name of a step has 1 to " + LONGEST + " bytes");
    }

    private static CancelReason lost(OJSException.Conflict e) {
        Object state = e.details() instanceof Map<?, ?> details ? details.get("current_state") : null;
        return "cancelled".equals(state) ? CancelReason.CANCELLED : CancelReason.LEASE_LOST;
    }

    /** A document of the handler that looks like one with steps is put into one, or it would be read as one. */
    private static Object document(Object state, Map<String, Object> steps) {
        Map<?, ?> members = state instanceof Map<?, ?> found ? found : Map.of();
        boolean reserved = members.containsKey(STATE) || members.containsKey(STEPS);
        if (state != null && steps.isEmpty() && !reserved) return state;
        Map<String, Object> whole = new LinkedHashMap<>();
        if (state != null) whole.put(STATE, state);
        whole.put(STEPS, steps);
        return whole;
    }

    @Override
    public synchronized byte[] saved(long token, String step) {
        if (step.isEmpty()) return state == null ? null : Json.bytes(state);
        return steps.containsKey(step) ? Json.bytes(steps.get(step)) : null;
    }

    private Object put(String what, Map<String, Object> members) {
        Map<String, Object> body = new HashMap<>(members);
        body.putAll(lease);
        return client.request("PUT", Operation.at("jobs", job.id(), what), body);
    }
}

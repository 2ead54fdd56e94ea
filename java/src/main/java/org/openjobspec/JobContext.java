package org.openjobspec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** One run of one job. */
public final class JobContext {
    /** What a context can ask of the worker that runs it. */
    interface Link {
        /** Extends the lease of a token; why the handler should stop, or null. */
        CancelReason heartbeat(long token);

        /** The worker's client; null where there is none. */
        default OJSClient client() {
            return null;
        }

        /** The worker's name on the server; null where no worker runs the job. */
        default String workerId() {
            return null;
        }

        /** Reports how far a job has come. */
        default void progress(long token, byte[] report) {}

        /** Saves the checkpoint, or the result of a step unless {@code step} is empty. */
        default Saved save(long token, String step, byte[] state) {
            return new Saved(0, null);
        }

        /** The checkpoint, or the result of a step; null when there is none. */
        default byte[] saved(long token, String step) {
            return null;
        }
    }

    /** What became of a save: its sequence, or why the handler should stop. */
    record Saved(long sequence, CancelReason reason) {}

    private final Link link;
    private final Frames.Entry entry;
    private final CompletableFuture<CancelReason> cancellation = new CompletableFuture<>();
    private Job job;
    private Map<String, Object> metadata;
    private Object result;
    private Thread runner;

    JobContext(Link link, Frames.Entry entry) {
        this.link = link;
        this.entry = entry;
    }

    /** The job id: the same in every attempt and redelivery. */
    public String id() {
        return entry.id();
    }

    /** The job type. */
    public String type() {
        return entry.type();
    }

    /** The queue it came from. */
    public String queue() {
        return entry.queue();
    }

    /** 1 on the first run. */
    public int attempt() {
        return entry.attempt();
    }

    /** The whole job; its JSON is read when it is asked for. */
    public synchronized Job job() {
        if (job == null) job = Job.of(Json.parse(entry.envelope()));
        return job;
    }

    /** The arguments. */
    public List<Object> args() {
        return job().args();
    }

    /** One argument as a number, text, list, map or record: {@code ctx.arg(0, Email.class)}. */
    public <T> T arg(int index, Class<T> type) {
        List<Object> args = args();
        if (index >= args.size()) {
            throw new OJSException.Validation("the job has " + args.size() + " arguments, there is no number " + index);
        }
        return RecordReader.read(args.get(index), type);
    }

    /** The metadata. */
    public Map<String, Object> meta() {
        return job().meta();
    }

    /** Results of the steps before, in a workflow. */
    public List<Object> parentResults() {
        return job().parentResults();
    }

    /** The workflow it belongs to; null when it belongs to none. */
    public String workflowId() {
        return job().workflowId();
    }

    /** Its place in its train; null when it runs in none. */
    public JobTrain train() {
        return job().train();
    }

    /** The worker's name on the server; null where no worker runs the job. */
    public String workerId() {
        return link.workerId();
    }

    /** The tenant that the job belongs to; null when it names none. */
    public String tenant() {
        return meta().get("tenant_id") instanceof String tenant ? tenant : null;
    }

    /** The worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees. */
    public OJSClient client() {
        OJSClient client = link.client();
        if (client == null) throw new OJSException.Validation("this context belongs to no worker, and has no client");
        return tenant() == null ? client : client.ofTenant(tenant());
    }

    byte[] envelope() {
        return entry.envelope();
    }

    /** Arguments of another version in the place of its own. */
    synchronized void changed(List<?> args, String version) {
        Map<String, Object> changed = new LinkedHashMap<>(job().members());
        changed.put("args", args);
        changed.put("version", version);
        job = Job.of(Json.parse(Json.bytes(changed)));
    }

    /** A place for middleware to leave things for the layers inside; gone after this run. */
    public synchronized Map<String, Object> metadata() {
        if (metadata == null) metadata = new LinkedHashMap<>();
        return metadata;
    }

    /** Sets the job's result; what the handler returns, unless it is null, wins. */
    public synchronized void setResult(Object value) {
        result = value;
    }

    synchronized Object result() {
        return result;
    }

    // --- stopping early ---

    /** Whether the handler should stop. Its thread is interrupted at that moment, too. */
    public boolean cancelled() {
        return cancellation.isDone();
    }

    /** Why the handler should stop; null when it should not. */
    public CancelReason cancelReason() {
        return cancellation.getNow(null);
    }

    /** Throws {@link JobCancelledException} when the handler should stop. */
    public void throwIfCancelled() {
        if (cancelled()) throw new JobCancelledException(cancelReason());
    }

    /** Calls back once when the handler should stop, at once when it should already; on a thread of the worker. */
    public void onCancel(Consumer<CancelReason> action) {
        cancellation.thenAccept(action);
    }

    /** Extends the lease now; the worker does so every few seconds by itself. False when the handler should stop. */
    public boolean heartbeat() {
        CancelReason reason = link.heartbeat(entry.token());
        if (reason != null) cancel(reason);
        return !cancelled();
    }

    /**
     * Says how far the run has come: a fraction from 0 to 1, and a sentence for people, which may be null. Returns at
     * once; of many reports the latest is sent, a few a second at most. One that is lost does not harm the job.
     */
    public void progress(double fraction, String message) {
        progress(fraction, message, null);
    }

    /** The same with data of the application, at most 4,096 bytes as JSON. */
    public void progress(double fraction, String message, Object data) {
        if (!Double.isFinite(fraction)) return;
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("progress", fraction);
        if (message != null) report.put("message", message);
        if (data != null) report.put("data", data);
        link.progress(entry.token(), Json.bytes(report));
    }

    /**
     * Saves the checkpoint of the job in place of the one before, and returns its sequence: it is on the server's
     * disk then, and every later attempt begins with it. At most 1 MiB as JSON.
     *
     * @throws JobCancelledException when the lease is lost
     */
    public long checkpoint(Object state) {
        return save("", state);
    }

    /** What this run, or an attempt before it, has saved, in the forms of JSON; null when there is nothing. */
    public Object loadCheckpoint() {
        byte[] text = link.saved(entry.token(), "");
        return text == null ? null : Json.parse(text);
    }

    /** Whether there is a checkpoint to go on from. */
    public boolean hasCheckpoint() {
        return link.saved(entry.token(), "") != null;
    }

    /**
     * Runs a step once across all attempts of the job, and returns its result, in the forms of JSON. It is saved with
     * the checkpoint: later attempts get it and do not run the step. A crash between the end of the step and the
     * server's answer runs it again.
     *
     * @throws Exception what the step throws; it is not saved
     */
    public Object step(String name, java.util.concurrent.Callable<?> run) throws Exception {
        byte[] known = link.saved(entry.token(), name);
        if (known != null) return Json.parse(known);
        byte[] result = Json.bytes(run.call());
        saved(link.save(entry.token(), name, result));
        return Json.parse(result);
    }

    private long save(String step, Object value) {
        return saved(link.save(entry.token(), step, Json.bytes(value)));
    }

    private long saved(Saved saved) {
        if (saved.reason() == null) return saved.sequence();
        cancel(saved.reason());
        throw new JobCancelledException(saved.reason());
    }

    // --- for the worker ---

    long token() {
        return entry.token();
    }

    void cancel(CancelReason reason) {
        if (!cancellation.complete(reason)) return;
        synchronized (this) {
            if (runner != null && runner != Thread.currentThread()) runner.interrupt();
        }
    }

    /** The handler begins on this thread. */
    synchronized void enter() {
        runner = Thread.currentThread();
        if (cancelled()) runner.interrupt(); // told before there was a thread to interrupt
    }

    /** It has ended: this thread is not interrupted for this job any more, and it takes no interrupt along. */
    synchronized void leave() {
        runner = null;
        if (cancelled()) Thread.interrupted();
    }

    @Override
    public String toString() {
        return "JobContext[" + type() + " " + id() + ", attempt " + attempt() + "]";
    }
}

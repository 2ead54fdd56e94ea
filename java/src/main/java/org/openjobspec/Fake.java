package org.openjobspec;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** What was enqueued while it is active: {@link OJSTesting#fake()}. */
public final class Fake implements AutoCloseable {
    private static final AtomicInteger ENGINES = new AtomicInteger();

    private final List<OJSWorker> inline;
    private final Consumer<Fake> end;
    private final List<Job> requests = new CopyOnWriteArrayList<>();
    private final ThreadLocal<Boolean> draining = ThreadLocal.withInitial(() -> false);
    private NativeClient engine = engine();

    Fake(List<OJSWorker> inline, Consumer<Fake> end) {
        this.inline = inline;
        this.end = end;
    }

    private static NativeClient engine() {
        return new NativeClient("memory:ojs-testing-" + ENGINES.incrementAndGet(), NativeClient.Options.DEFAULT);
    }

    /** Takes the place of a connection. */
    byte[] request(String method, String path, byte[] body) {
        byte[] answer = engineNow().call(method, path, body);
        List<?> sent = NativeOutbox.recorded(method, path, body);
        sent.forEach(job -> requests.add(Job.of(job)));
        if (!sent.isEmpty() && !inline.isEmpty() && !draining.get()) drain(inline.toArray(OJSWorker[]::new));
        return answer;
    }

    private synchronized NativeClient engineNow() {
        return engine;
    }

    /** Every job as it goes over the wire, oldest first: {@code type}, {@code args}, {@code options}. */
    public List<Job> requests() {
        return List.copyOf(requests);
    }

    /** Those of this type; of all types, when it is null. */
    public List<Job> enqueued(String type) {
        return enqueued(type, Map.of());
    }

    /**
     * Those of this type (of all, when it is null) that match: {@code args}, {@code id} and {@code schema} are equal,
     * {@code meta} is a part of the job's, and other members are options by their names on the wire:
     * {@code Map.of("timeout", "5m")}. An option that does not exist is an {@link OJSException.Validation}.
     */
    public List<Job> enqueued(String type, Map<String, ?> wanted) {
        List<Job> jobs = requests();
        Map<String, Object> asked = new HashMap<>(wanted);
        asked.put("type", type);
        return NativeOutbox.matching(jobs, asked).stream().map(place -> jobs.get(((Long) place).intValue())).toList();
    }

    /** Those of this type for which this is true. */
    public List<Job> enqueued(String type, Predicate<Job> wanted) {
        return enqueued(type).stream().filter(wanted).toList();
    }

    /** Fails unless such a job was enqueued. Returns them. */
    public List<Job> assertEnqueued(String type) {
        return assertEnqueued(type, Map.of());
    }

    /** Fails unless a job was enqueued that matches, as in {@link #enqueued(String, Map)}. Returns them. */
    public List<Job> assertEnqueued(String type, Map<String, ?> wanted) {
        List<Job> found = enqueued(type, wanted);
        if (found.isEmpty()) throw wrong("at least one " + asked(type, wanted), 0);
        return found;
    }

    /** Fails unless a job with these arguments was enqueued. Returns them. */
    public List<Job> assertEnqueuedWith(String type, Object... args) {
        return assertEnqueued(type, Map.of("args", args));
    }

    /** Fails unless so many jobs of this type were enqueued. Returns them. */
    public List<Job> assertEnqueued(String type, int count) {
        List<Job> found = enqueued(type);
        if (found.size() != count) throw wrong(count + " of " + asked(type, Map.of()), found.size());
        return found;
    }

    /** Fails when a job of this type was enqueued. */
    public void assertNotEnqueued(String type) {
        assertNotEnqueued(type, Map.of());
    }

    /** Fails when a job was enqueued that matches, as in {@link #enqueued(String, Map)}. */
    public void assertNotEnqueued(String type, Map<String, ?> wanted) {
        int found = enqueued(type, wanted).size();
        if (found > 0) throw wrong("no " + asked(type, wanted), found);
    }

    private static String asked(String type, Map<String, ?> wanted) {
        return (type == null ? "job" : "'" + type + "'") + (wanted.isEmpty() ? "" : " with " + Json.write(wanted));
    }

    private AssertionError wrong(String wanted, int found) {
        String all = String.join(", ", requests.stream().map(job -> job.type() + Json.write(job.args())).toList());
        return new AssertionError("expected " + wanted + ", found " + found + "; enqueued were: " + (all.isEmpty() ? "none" : all));
    }

    /** Forgets all jobs. */
    public synchronized void clear() {
        requests.clear();
        engine.close();
        engine = engine();
    }

    /**
     * Runs the handlers of the workers on everything that is available, jobs enqueued on the way included; returns how many ran.
     * What a handler throws is thrown here, after its job was marked as failed.
     */
    public int drain(OJSWorker... workers) {
        boolean before = draining.get();
        draining.set(true);
        try {
            int ran = 0;
            for (OJSWorker worker : workers) {
                for (Job job; (job = next(worker)) != null; ran++) perform(worker, job);
            }
            return ran;
        } finally {
            draining.set(before);
        }
    }

    private Job next(OJSWorker worker) {
        Object answer = call("POST", "/workers/fetch", Operation.members("queues", worker.queues(), "count", 1, "worker_id", "drain"));
        List<Object> jobs = Operation.items(answer, "jobs");
        return jobs.isEmpty() ? null : Job.of(jobs.getFirst());
    }

    private void perform(OJSWorker worker, Job job) {
        Frames.Entry entry = new Frames.Entry(0, job.id(), job.type(), job.queue(), job.attempt(), Json.bytes(job));
        JobContext ctx = new JobContext(unattended(worker), entry);
        Outcome outcome;
        Throwable thrown = null;
        try {
            Map<String, JobHandler> calls = worker.calls();
            JobHandler call = calls.getOrDefault(job.type(), calls.get("*"));
            if (call == null) throw new UnknownType(job.type(), calls.keySet());
            outcome = Outcome.success(ctx, call.handle(ctx));
        } catch (Throwable e) {
            thrown = e;
            outcome = Outcome.failure(ctx, e);
        }
        report(job, outcome);
        if (thrown instanceof UnknownType unknown) throw unknown.explained();
        if (thrown != null && outcome.kind() == Outcome.FAILED) Fake.<RuntimeException>rethrow(thrown);
    }

    /** A job's link when the worker does not run. */
    private static JobContext.Link unattended(OJSWorker worker) {
        return new JobContext.Link() {
            @Override
            public CancelReason heartbeat(long token) {
                return null;
            }

            @Override
            public OJSClient client() {
                return worker.client();
            }
        };
    }

    /** A job that none of the handlers is for: most often its type is misspelt. */
    private static final class UnknownType extends JobRunner.NoHandler {
        private final String registered;

        UnknownType(String type, Set<String> known) {
            super(type);
            registered = String.join(", ", new TreeSet<>(known));
        }

        OJSException explained() {
            return new OJSException.Validation(getMessage() + " Registered are: " + registered + "; '*' stands for every other type.", code());
        }
    }

    /** What the handler threw, as it was: a test wants to see it, checked or not. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void rethrow(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private void report(Job job, Outcome outcome) {
        Map<String, Object> about = Operation.members("job_id", job.id(), "lease_token", job.get("lease_token"), "worker_id", "drain");
        about.putAll(outcome.members());
        call("POST", outcome.path(), about);
    }

    private Object call(String method, String path, Object body) {
        return Json.parse(engineNow().call(method, path, Json.bytes(body)));
    }

    /** Ends it: clients reach their servers again. */
    @Override
    public void close() {
        end.accept(this);
        engineNow().close();
    }
}

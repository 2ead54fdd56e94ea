package org.openjobspec;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A description of jobs that belong together, to be sent by {@link OJSClient#workflow}. May be a step of another one.
 *
 * @param type {@code chain}, {@code group}, {@code batch} or {@code graph}
 * @param name its name, or null
 * @param steps what belongs to it
 * @param callbacks jobs that run when a batch is over, by their names on the wire
 * @param options for the workflow as a whole, by their names on the wire
 */
public record Workflow(String type, String name, List<Step> steps, Map<String, JobRequest> callbacks, Map<String, Object> options)
        implements Step {

    /** Checks that there is something to do, and that nodes are in a graph and nowhere else. */
    public Workflow {
        if (steps.isEmpty()) throw new OJSException.Validation("a workflow needs at least one job", "invalid_payload");
        for (Step step : steps) {
            if (step instanceof Node && !type.equals("graph")) {
                throw refused("a node is a step of a graph: pass it to Workflow.graph(…)");
            }
            if (!(step instanceof Node) && type.equals("graph")) {
                throw refused("a graph is made of nodes: Workflow.node(id, step, after…)");
            }
        }
    }

    /**
     * A step of a graph, made by {@link Workflow#node}.
     *
     * @param id its name in the graph
     * @param step a job, or a workflow inside the graph
     * @param after the nodes that must have completed before it begins
     */
    public record Node(String id, Step step, List<String> after) implements Step {
        /** Checks that it is no node inside a node. */
        public Node {
            if (step instanceof Node) throw refused("a node holds a job or a workflow, not a node");
            after = List.copyOf(after);
        }

        @Override
        public Map<String, Object> toJson() {
            Map<String, Object> wire = new LinkedHashMap<>(step.toJson());
            wire.put("id", id);
            if (!after.isEmpty()) wire.put("depends_on", after);
            return wire;
        }
    }

    /** One after the other; every step sees the results of those before it as {@link JobContext#parentResults()}. */
    public static Workflow chain(Step... steps) {
        return of("chain", steps);
    }

    /** All at the same time, in no order. */
    public static Workflow group(Step... jobs) {
        return of("group", jobs);
    }

    /** All at the same time; {@link #onComplete}, {@link #onSuccess} and {@link #onFailure} say what runs then. */
    public static Workflow batch(Step... jobs) {
        return of("batch", jobs);
    }

    /**
     * Each node runs as soon as those before it have completed, and sees their results as
     * {@link JobContext#parentResults()}.
     */
    public static Workflow graph(Node... nodes) {
        return of("graph", nodes);
    }

    /** A step of a graph, named {@code id} there, that begins when the nodes of {@code after} have completed. */
    public static Node node(String id, Step step, String... after) {
        return new Node(id, step, List.of(after));
    }

    private static OJSException.Validation refused(String why) {
        return new OJSException.Validation(why, "invalid_payload");
    }

    private static Workflow of(String type, Step[] steps) {
        return new Workflow(type, null, List.of(steps), Map.of(), Map.of());
    }

    /** The same with a name. */
    public Workflow named(String wanted) {
        return new Workflow(type, wanted, steps, callbacks, options);
    }

    /** The same with a job that runs when all jobs of the batch are over. */
    public Workflow onComplete(JobRequest job) {
        return callback("on_complete", job);
    }

    /** The same with a job that runs when all jobs of the batch have succeeded. */
    public Workflow onSuccess(JobRequest job) {
        return callback("on_success", job);
    }

    /** The same with a job that runs when any job of the batch has failed. */
    public Workflow onFailure(JobRequest job) {
        return callback("on_failure", job);
    }

    private Workflow callback(String event, JobRequest job) {
        if (!type.equals("batch")) throw new OJSException.Validation("a " + type + " has no callbacks; only a batch has", "invalid_payload");
        return new Workflow(type, name, steps, with(callbacks, event, job), options);
    }

    /** The same with an option for the workflow as a whole, by its name on the wire. */
    public Workflow option(String option, Object value) {
        return new Workflow(type, name, steps, callbacks, with(options, option, value));
    }

    private static <T> Map<String, T> with(Map<String, T> map, String name, T value) {
        Map<String, T> more = new LinkedHashMap<>(map);
        more.put(name, value);
        return more;
    }

    @Override
    public Map<String, Object> toJson() {
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put("type", type);
        if (name != null) wire.put("name", name);
        String list = type.equals("chain") || type.equals("graph") ? "steps" : "jobs";
        wire.put(list, steps.stream().map(Step::toJson).toList());
        Map<String, Object> wanted = new LinkedHashMap<>();
        callbacks.forEach((event, job) -> wanted.put(event, job.toJson()));
        if (!wanted.isEmpty()) wire.put("callbacks", wanted);
        if (!options.isEmpty()) wire.put("options", options);
        return wire;
    }
}

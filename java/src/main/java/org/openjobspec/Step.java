package org.openjobspec;

import java.util.Map;

/** Part of a workflow: a job, or a workflow of its own. */
public sealed interface Step permits JobRequest, Workflow, Workflow.Node {
    /** The form on the wire. */
    Map<String, Object> toJson();
}

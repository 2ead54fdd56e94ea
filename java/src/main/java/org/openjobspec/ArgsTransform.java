package org.openjobspec;

import java.util.List;

/** Changes the arguments of one version of a job type into those of another: {@link OJSWorker#transform}. */
@FunctionalInterface
public interface ArgsTransform {
    /** The arguments of the new version, in the form of {@link Json}. What it throws ends the job. */
    List<?> apply(List<Object> args) throws Exception;
}

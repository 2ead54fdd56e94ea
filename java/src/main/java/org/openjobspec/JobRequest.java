package org.openjobspec;

import java.util.Arrays;
import java.util.List;

/** A job to be. Enqueue middleware gets it and may change everything but its type. */
public final class JobRequest extends JobOptions<JobRequest> implements Step {
    private JobRequest(String type, List<?> args) {
        super(type, args);
    }

    /** A job of this type with these arguments. */
    public static JobRequest of(String type, Object... args) {
        return new JobRequest(type, Arrays.asList(args));
    }

    /** The same with the arguments in a list. */
    public static JobRequest of(String type, List<?> args) {
        return new JobRequest(type, args);
    }

    @Override
    JobRequest self() {
        return this;
    }
}

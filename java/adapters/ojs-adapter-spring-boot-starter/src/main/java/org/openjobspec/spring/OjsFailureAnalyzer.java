package org.openjobspec.spring;

import org.openjobspec.OJSException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/** Says why an application did not start when it was for its jobs: one sentence in place of the exceptions of beans. */
public final class OjsFailureAnalyzer implements FailureAnalyzer {
    private static final String SETTING = "Change the setting below 'ojs.' or the handler that the description names.";
    private static final String LIBRARY = "Add the dependency org.openjobspec:ojs with your platform's classifier.";

    @Override
    public FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof OJSException ours) {
                return new FailureAnalysis(ours.getMessage(), ours.hint() == null ? SETTING : ours.hint(), failure);
            }
            if (isWithoutEngine(cause)) return new FailureAnalysis(cause.getMessage(), LIBRARY, failure);
        }
        return null;
    }

    private static boolean isWithoutEngine(Throwable cause) {
        String message = cause.getMessage();
        return cause instanceof UnsatisfiedLinkError && message != null && message.contains("/org/openjobspec/native/");
    }
}

package org.openjobspec;

/** Workers, as an operator sees them: {@link OJSClient#workers()}. Answers have the names of the wire. */
public final class Workers extends Operations.OfWorkers {
    Workers(OJSClient client) {
        super(client);
    }
}

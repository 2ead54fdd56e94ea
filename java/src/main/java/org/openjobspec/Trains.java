package org.openjobspec;

/** Job trains: {@link OJSClient#trains()}. What comes back is what the server says, by the names on the wire. */
public final class Trains extends Operations.OfTrains {
    Trains(OJSClient client) {
        super(client);
    }
}

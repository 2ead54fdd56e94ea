package org.openjobspec;

/** Tenants: {@link OJSClient#tenants()}. What comes back is what the server says, by the names on the wire. */
public final class Tenants extends Operations.OfTenants {
    Tenants(OJSClient client) {
        super(client);
    }
}

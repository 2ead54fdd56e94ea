package org.openjobspec;

/**
 * What a relay has done since it was started.
 *
 * @param leading whether this one sends now; among many relays of one table, one does, and none while there is nothing to send
 * @param sent jobs that the server took
 * @param deduplicated jobs that the server had already
 * @param refused answers of the server that a job is wrong
 * @param parked jobs given up after that
 * @param heldUp rounds in which the server could not be reached or was busy
 * @param error the latest trouble; null when there is none
 */
public record RelayStatus(boolean leading, long sent, long deduplicated, long refused, long parked, long heldUp, String error) {
    static RelayStatus of(Object value) {
        if (value == null) return new RelayStatus(false, 0, 0, 0, 0, 0, null);
        var members = Members.of(value);
        return new RelayStatus(Boolean.TRUE.equals(members.get("leading")), Members.number(members, "sent", 0), Members.number(members, "deduplicated", 0),
                Members.number(members, "refused", 0), Members.number(members, "parked", 0), Members.number(members, "held_up", 0), Members.text(members, "error"));
    }
}

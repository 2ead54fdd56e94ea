// Made from xtask/records.toml by make gen; do not edit.
package org.openjobspec;

import java.util.Map;

/**
 * Where a job stands in its train. The server decides all of it.
 *
 * @param id the train's id
 * @param position the job's number in the train, from 1, in the order in which jobs joined it
 * @param role {@code locomotive}: the one job of the train that may run; {@code car}: it waits; {@code left}: its turn is over
 * @param ahead how many jobs of the train run before it
 * @param state the state of the train: {@code running}, {@code draining} (a cancelled job still runs) or {@code held}
 * @param epoch a number that grows with every delivery of a job of this train. A resource that remembers the largest one can refuse what the handler of an earlier delivery still sends: a fencing token. Only the locomotive has it
 */
public record JobTrain(String id, int position, String role, int ahead, String state, long epoch) {
    static JobTrain of(Object value) {
        Map<String, Object> members = Members.of(value);
        return new JobTrain(
                Members.text(members, "id"),
                Members.number(members, "position", 0),
                Members.text(members, "role"),
                Members.number(members, "ahead", 0),
                Members.text(members, "state"),
                Members.whole(members, "epoch"));
    }
}

package org.openjobspec.serverless;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.openjobspec.Json;

/** The vectors of all languages: what the server sends for a job that is too large for a queue, and what runs. */
class ReferenceTest {
    private static final Path VECTORS = Path.of("..", "tests", "vectors", "serverless_reference.json");

    @Test
    @SuppressWarnings("unchecked") // the reader makes such maps and lists
    void referencesAreThoseOfTheVectors() throws IOException {
        Map<String, Object> vectors = (Map<String, Object>) Json.parse(Files.readAllBytes(VECTORS));
        for (Map<String, Object> vector : (List<Map<String, Object>>) vectors.get("cases")) {
            String name = (String) vector.get("name");
            Delivery delivery = Delivery.of(vector.get("message"));
            Map<String, Object> checkpoint = (Map<String, Object>) vector.get("checkpoint");
            assertFalse(delivery.isWhole(), name);
            assertEquals(checkpoint != null, delivery.refersToCheckpoint(), name);
            Delivery whole = delivery.completed((Map<String, Object>) vector.get("job"), checkpoint);
            assertEquals(vector.get("runs"), whole.job().members(), name);
            assertEquals(delivery.lease(), whole.lease(), name);
        }
    }
}

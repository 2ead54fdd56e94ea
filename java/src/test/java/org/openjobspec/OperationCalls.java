// Made from xtask/operations by make gen; do not edit.
package org.openjobspec;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The calls of the vectors in tests/vectors/operations.json, in their order. Those of methods that are written by hand are in VectorsTest. */
final class OperationCalls {
    private OperationCalls() {}

    static final List<Consumer<OJSClient>> ALL = List.of(
            client -> client.bulk().cancel(Bulk.Target.where(new Bulk.Filter("reports", null, null, null, null, null, null)), false),
            client -> client.bulk().retry(Bulk.Target.ids(List.of("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f")), true),
            client -> client.bulk().delete(Bulk.Target.where(new Bulk.Filter(null, "email.*", List.of("completed", "cancelled"), null, null, null, null)), false),
            client -> client.getJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.listJobs(new JobFilter("mail", "email.*", List.of("available"), null, null, null, false, 2, 50)),
            client -> client.cancelJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.setPriority("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", 5),
            client -> client.activateJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.retryJob("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.result("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.results(List.of("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10")),
            client -> client.getWorkflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.cancelWorkflow("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.listWorkflows("running", null, 50),
            client -> client.queues().list(),
            client -> client.queues().stats("mail"),
            client -> client.queues().pause("mail"),
            client -> client.queues().resume("mail"),
            client -> client.queues().create("mail", Map.of("concurrency", 20, "rate_limit", Map.of("limit", 100, "period", "PT1M"))),
            client -> client.queues().get("mail"),
            client -> client.queues().get("mail/eu west?ü"),
            client -> client.queues().configure("mail", Map.of("max_size", 1000)),
            client -> client.queues().delete("mail", "move", "letters"),
            client -> client.queues().drain("mail"),
            client -> client.queues().purge("reports", List.of("completed", "cancelled"), "PT1H"),
            client -> client.rateLimits().list(),
            client -> client.rateLimits().get("stripe"),
            client -> client.rateLimits().override("stripe", Map.of("concurrency", 2), Instant.parse("2031-01-01T00:00:00Z")),
            client -> VectorsTest.byHand("dead_letters", client),
            client -> client.deadLetters().get("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.deadLetters().retry("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.deadLetters().discard("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.deadLetters().retryAll(new DeadLetters.Filter("mail", null, "Timeout", Instant.parse("2031-01-01T00:00:00Z"), null)),
            client -> client.deadLetters().discardAll(new DeadLetters.Filter(null, "email.*", null, null, Instant.parse("2031-01-01T00:00:00Z"))),
            client -> client.deadLetters().stats(),
            client -> client.cron().list(),
            client -> client.cron().get("digest"),
            client -> client.cron().enable("digest", false),
            client -> client.cron().delete("digest"),
            client -> client.workers().list("running", 1, 100),
            client -> client.workers().get("mail-1"),
            client -> client.workers().direct("mail-1", "quiet"),
            client -> client.workers().remove("mail-1"),
            client -> client.health(),
            client -> client.manifest(),
            client -> client.serverStats(),
            client -> client.statsHistory("1h", "mail", Instant.parse("2031-01-01T00:00:00Z"), null),
            client -> client.maintenance(),
            client -> client.setMaintenance(true, "moving the database", Duration.parse("PT30M")),
            client -> client.audit(),
            client -> client.serverConfig(),
            client -> client.listSchemas(),
            client -> client.registerSchema("email.send", "1.0.0", Map.of("items", Map.of("type", "string"), "minItems", 1), "strict"),
            client -> client.getSchema("email.send"),
            client -> client.getSchemaVersion("email.send", "1.0.0"),
            client -> client.listSchemaVersions("email.send"),
            client -> client.setSchemaMode("email.send", "1.0.0", "strict"),
            client -> client.deleteSchema("email.send", "1.0.0"),
            client -> client.listWebhooks(),
            client -> client.createWebhook(Map.of("events", List.of("job.completed", "job.failed"), "secret", "whsec_test_secret", "url", "https://example.com/hooks/ojs")),
            client -> client.getWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.updateWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", Map.of("events", List.of("job.*"))),
            client -> client.deleteWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.testWebhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.rotateWebhookSecret("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.listWebhookDeliveries(null, "dead", null),
            client -> client.getWebhookDelivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
            client -> client.retryWebhookDelivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"));
}

package org.openjobspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Support.Bench;
import org.openjobspec.Support.Kind;

/** Tenants: clients of one, jobs of one, and what a handler's jobs inherit. */
class TenantsTest {
    private static Object tenant(Job job) {
        return job.meta().get("tenant_id");
    }

    @ParameterizedTest
    @EnumSource
    void aClientOfATenantSeesAndMakesWhatBelongsToIt(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            OJSClient acme = bench.client.ofTenant("acme");
            Job job = acme.job("tenants.mail").queue(bench.queue).enqueue();
            assertEquals("acme", tenant(job));
            assertEquals(job.id(), acme.getJob(job.id()).id());
            assertThrows(OJSException.NotFound.class, () -> bench.client.ofTenant("globex").getJob(job.id()));
            assertNull(tenant(bench.job("tenants.mail").enqueue()));
            assertThrows(OJSException.class, () -> acme.job("tenants.mail").tenant("globex").enqueue());
            acme.close();
            assertEquals(job.id(), bench.client.getJob(job.id()).id(), "the connection stays open");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aJobNamesItsTenant(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            Job job = bench.job("tenants.mail").tenant("acme").meta("a", 1).enqueue();
            assertEquals(List.of("acme", 1L), List.of(tenant(job), ((Number) job.meta().get("a")).longValue()));
            PendingJob one = bench.job("tenants.mail").tenant("a b");
            String wrong = assertThrows(OJSException.Validation.class, one::enqueue).getMessage();
            assertTrue(wrong.contains("tenant must be letters"), wrong);
            PendingJob two = bench.job("tenants.mail").tenant("acme").meta("tenant_id", "globex");
            assertTrue(assertThrows(OJSException.Validation.class, two::enqueue).getMessage().contains("say it once"));
            assertThrows(OJSException.Validation.class, () -> bench.client.ofTenant("_other"));
            assertThrows(OJSException.Validation.class, () -> OJSClient.builder().url("memory:").tenant("a b").build());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAHandlerEnqueuesBelongsToTheTenantOfItsJob(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            String later = bench.queue + "-later";
            JobRequest step = JobRequest.of("tenants.step").queue(later);
            bench.worker().register("tenants.parent", ctx -> {
                Job child = ctx.client().job("tenants.child").queue(later).enqueue();
                WorkflowStatus flow = ctx.client().workflow(Workflow.chain(step, step));
                return List.of(String.valueOf(ctx.tenant()), child.id(), flow.id());
            }).start();
            List<?> ours = (List<?>) bench.completed(bench.job("tenants.parent").tenant("acme").enqueue()).result();
            List<?> plain = (List<?>) bench.completed(bench.job("tenants.parent").enqueue()).result();
            assertEquals(List.of("acme", "null"), List.of(ours.get(0), plain.get(0)));
            assertEquals("acme", tenant(bench.client.getJob(ours.get(1).toString())));
            assertNull(tenant(bench.client.getJob(plain.get(1).toString())));
            OJSClient acme = bench.client.ofTenant("acme");
            assertEquals(ours.get(2), acme.getWorkflow(ours.get(2).toString()).id());
            assertThrows(OJSException.class, () -> acme.getWorkflow(plain.get(2).toString()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void operatorsDirectTenants(Kind kind) {
        try (Bench bench = new Bench(kind)) {
            String id = "direct-" + bench.queue;
            Tenants tenants = bench.client.tenants();
            tenants.put(id, Map.of("name", "Acme Ltd.", "limits", Map.of("max_concurrency", 10)));
            tenants.setLimits(id, Map.of("max_queue_depth", 1));
            OJSClient tenant = bench.client.ofTenant(id);
            Job job = tenant.job("tenants.mail").queue(bench.queue).enqueue();
            assertEquals(429, assertThrows(OJSException.class, () -> tenant.enqueue("tenants.mail")).status());
            assertEquals(job.id(), tenants.jobs(id, null, "available", null, null).jobs().getFirst().id());
            assertEquals("suspended", tenants.suspend(id).get("status"));
            tenants.resume(id);
            assertEquals("active", tenants.get(id).get("status"));
            assertEquals(403, assertThrows(OJSException.class, () -> tenant.tenants().list()).status());
            tenant.cancelJob(job.id());
            tenants.delete(id);
            assertThrows(OJSException.class, () -> tenants.get(id));
        }
    }

    @Test
    void theSettingOfAClientCountsForAllOfItsRequests() {
        try (OJSClient acme = OJSClient.builder().url(Support.server()).tenant("acme").build();
                OJSClient globex = OJSClient.builder().url(Support.server()).tenant("globex").build()) {
            Job job = acme.job("tenants.mail").queue(Support.unique("queue")).enqueue();
            assertEquals("acme", tenant(job));
            assertThrows(OJSException.NotFound.class, () -> globex.getJob(job.id()));
        }
    }

    @Test
    void aTransportOfTheProgramsOwnGetsTheTenantInTheMetadata() {
        AtomicReference<Map<String, Object>> sent = new AtomicReference<>();
        Transport recorder = (_, _, body) -> {
            sent.set(Members.of(Json.parse(body)));
            return Transport.Answer.json(201, Map.of("job", Map.of("id", "test-id")));
        };
        try (OJSClient client = OJSClient.builder().transport(recorder).tenant("acme").build()) {
            client.enqueue("tenants.mail");
            assertEquals(Map.of("tenant_id", "acme"), sent.get().get("meta"));
            client.ofTenant("globex").job("tenants.mail").priority(3).enqueue();
            assertEquals(Map.of("tenant_id", "globex"), sent.get().get("meta"));
            client.job("tenants.mail").tenant("initech").enqueue();
            assertEquals(Map.of("tenant_id", "initech"), sent.get().get("meta"));
            assertNull(sent.get().get("options"));
        }
    }

    @Test
    void aFakeKnowsTenants() {
        try (Fake fake = OJSTesting.fake();
                OJSClient client = OJSClient.builder().url("memory:").tenant("acme").build()) {
            OJSWorker worker = OJSWorker.of(client).register("tenants.parent", ctx -> {
                ctx.client().job("tenants.child").queue("later").enqueue();
                return null;
            });
            client.enqueue("tenants.parent");
            assertEquals(1, fake.drain(worker));
            assertEquals("acme", fake.requests().getLast().meta().get("tenant_id"));
        }
    }
}

package com.example.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.openjobspec.jdbc.Databases.eventually;
import static org.springframework.transaction.TransactionDefinition.PROPAGATION_REQUIRED;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjobspec.Job;
import org.openjobspec.JobRequest;
import org.openjobspec.OJSClient;
import org.openjobspec.UniquePolicy;
import org.openjobspec.jdbc.Databases;
import org.openjobspec.jdbc.Databases.Kind;
import org.openjobspec.jdbc.OjsJdbc;

/** Encrypted jobs of transactions (interactions, sections 14 and 15). */
class EncryptionTest {
    private static final String SECRET = "4111-1111-1111-1111";
    private static final String KEYS = "ojs.encryption-keys=k-1:" + "ab".repeat(32);

    @ParameterizedTest
    @EnumSource
    void ei012Ei013TheChainHasRunAndItsEndIsEncryptedWhenTheRowIsWritten(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind, KEYS)) {
            List<Object> audited = new ArrayList<>();
            shop.context.getBean(OJSClient.class).use("audit", (request, next) -> {
                audited.addAll(request.args());
                return next.enqueue(request);
            });
            shop.transaction(PROPAGATION_REQUIRED, status -> {
                Job job = shop.ojs.enqueueAfterCommit(JobRequest.of("card.charge", SECRET).queue("q").priority(7));
                assertEquals(List.of(SECRET), job.args(), "what the caller gets");
                Map<String, Object> row = shop.database.queryForMap("SELECT job_args, job_options FROM ojs_outbox");
                assertFalse(row.toString().contains(SECRET), row.toString());
                assertTrue(row.toString().contains("priority"), "what the relay looks at is in the clear: " + row);
            });
            assertEquals(List.of(SECRET), audited, "the application's middleware comes before encryption");
            Map<String, Object> sent = Databases.arrived(shop.client, "q", 1).getFirst();
            assertFalse(sent.toString().contains(SECRET), sent.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void ei001UniqueKeysAreThoseOfThePlainArguments(Kind kind) throws Exception {
        try (Shop shop = new Shop(kind, KEYS)) {
            UniquePolicy unique = UniquePolicy.by("type", "args").withOnConflict(UniquePolicy.OnConflict.IGNORE);
            List<String> ids = new ArrayList<>();
            shop.transaction(PROPAGATION_REQUIRED, status -> {
                for (String card : List.of(SECRET, SECRET, "another")) ids.add(shop.ojs.enqueueAfterCommit(JobRequest.of("card.charge", card).queue("q").unique(unique)).id());
            });
            eventually(() -> shop.context.getBean(OjsJdbc.class).relay().status().sent() == 3);
            assertEquals(List.of(ids.get(0), ids.get(2)), Databases.arrived(shop.client, "q", 2).stream().map(job -> job.get("id")).toList());
        }
    }
}

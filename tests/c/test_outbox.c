// Calls what belongs to the outbox rightly and wrongly: rows, relays, transports of a program's own, encryption. Compiled and run as
// test_ojs.c is. Prints "N passed, N failed".
#include "ojs.h"

#include "check.h"

#include <pthread.h>

static const char *KEYS = "k-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

static void rows(void) {
    ojs_buf *row = NULL;
    ojs_slice job = S("{\"type\":\"email.welcome\",\"args\":[7],\"options\":{\"queue\":\"mail\"}}");
    OK(ojs_outbox_stage(job, S("postgresql"), S("ojs_outbox"), S("numeric_dollar"), &row));
    CHECK(contains(ojs_buf_slice(row), "INSERT INTO ojs_outbox") && contains(ojs_buf_slice(row), "$4") && contains(ojs_buf_slice(row), "\"id\":\""));
    ojs_buf_free(row);
    OK(ojs_outbox_stage_in_engine(job, S("qmark"), &row));
    CHECK(contains(ojs_buf_slice(row), "INSERT INTO ojs_jobs") && contains(ojs_buf_slice(row), "\"mail\""));
    ojs_buf_free(row);
    OK(ojs_outbox_migration(S("sqlite"), S("shop_outbox"), &row));
    CHECK(contains(ojs_buf_slice(row), "shop_outbox"));
    ojs_buf_free(row);
    CHECK(contains(ojs_outbox_identity(), "ojs_jobs"));
    CHECK(contains(ojs_outbox_notify(), "NOTIFY ojs_ready"));
    OK(ojs_outbox_staged_query(S("mysql"), S("shop_outbox"), false, &row));
    CHECK(contains(ojs_buf_slice(row), "FROM shop_outbox"));
    ojs_buf_free(row);
    OK(ojs_outbox_same_database(S("{\"state\": null, \"event\": \"begin\", \"value\": null}"), &row));
    CHECK(contains(ojs_buf_slice(row), "\"next\":\"database\"") && contains(ojs_buf_slice(row), "pg_control_system"));
    ojs_buf_free(row);
    FAILS(OJS_CLASS_VALIDATION, "'end'", ojs_outbox_same_database(S("{\"event\": \"end\"}"), &row));
    OK(ojs_fake_recorded(S("POST"), S("/jobs"), job, &row));
    CHECK(contains(ojs_buf_slice(row), "\"type\""));
    OK(ojs_fake_matching(ojs_buf_slice(row), S("{\"queue\": \"no such queue\"}"), NULL)); // thrown away
    ojs_buf_free(row);
    OK(ojs_outbox_stage(job, S("sqlite"), S("ojs_outbox"), S("qmark"), NULL)); // thrown away

    FAILS(OJS_CLASS_VALIDATION, "oracle", ojs_outbox_stage(job, S("oracle"), S("ojs_outbox"), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "paramstyle 'named'", ojs_outbox_stage(job, S("sqlite"), S("ojs_outbox"), S("named"), &row));
    FAILS(OJS_CLASS_VALIDATION, "'a b'", ojs_outbox_stage(job, S("sqlite"), S("a b"), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "type", ojs_outbox_stage(S("{}"), S("sqlite"), S("ojs_outbox"), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "NULL", ojs_outbox_stage(null_with_length(), S("sqlite"), S("ojs_outbox"), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "table is not UTF-8", ojs_outbox_stage(job, S("sqlite"), invalid_utf8(), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_outbox_stage_in_engine(invalid_utf8(), S("qmark"), &row));
    FAILS(OJS_CLASS_VALIDATION, "oracle", ojs_outbox_migration(S("oracle"), S("ojs_outbox"), &row));
    CHECK(row == NULL);
}

// --- a server of the program's own, behind a mailbox ---

struct responder {
    ojs_transport *transport;
    int answered;
    bool saw_encrypted;
};

static void *answer(void *user_data) {
    struct responder *responder = (struct responder *)user_data;
    for (;;) {
        ojs_request request;
        ojs_error *error = ojs_transport_pull(responder->transport, 60000, &request);
        if (error) { // closed
            ojs_error_free(error);
            return NULL;
        }
        if (request.ticket == 0) continue;
        ojs_slice body = ojs_buf_slice(request.body);
        if (contains(ojs_buf_slice(request.path), "/outbox")) {
            // A database that is empty: no rows for any statement.
            ojs_error_free(ojs_transport_reply(responder->transport, request.ticket, 200, S("[[]]")));
        } else if (contains(body, "fail.please")) {
            ojs_error_free(ojs_transport_fail(responder->transport, request.ticket, S("the cable is out")));
        } else {
            if (contains(body, "ojs_encoded") && !contains(body, "secret")) responder->saw_encrypted = true;
            ojs_error_free(ojs_transport_reply(responder->transport, request.ticket, 201, S("{\"job\":{\"id\":\"own\",\"type\":\"a\"}}")));
        }
        responder->answered++;
        ojs_buf_free(request.method);
        ojs_buf_free(request.path);
        ojs_buf_free(request.body);
    }
}

static void transports(void) {
    struct responder responder = {NULL, 0, false};
    OK(ojs_transport_new(&responder.transport));
    ojs_request request;
    OK(ojs_transport_pull(responder.transport, 0, &request));
    CHECK(request.ticket == 0 && request.method == NULL && request.path == NULL && request.body == NULL);
    FAILS(OJS_CLASS_VALIDATION, "out is NULL", ojs_transport_pull(responder.transport, 0, NULL));
    FAILS(OJS_CLASS_VALIDATION, "transport is NULL", ojs_transport_pull(NULL, 0, &request));
    OK(ojs_transport_reply(responder.transport, 99, 200, none())); // no request has this ticket
    FAILS(OJS_CLASS_VALIDATION, "UTF-8", ojs_transport_fail(responder.transport, 99, invalid_utf8()));
    FAILS(OJS_CLASS_VALIDATION, "transport is NULL", ojs_transport_reply(NULL, 1, 200, none()));

    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, answer, &responder) == 0);
    ojs_client *client = NULL;
    OK(ojs_client_over(responder.transport, &client));
    ojs_buf *body = NULL;
    OK(ojs_client_enqueue(client, S("a"), S("[1]"), none(), &body));
    CHECK(contains(ojs_buf_slice(body), "\"own\""));
    ojs_buf_free(body);
    FAILS(OJS_CLASS_CONNECTION, "the cable is out", ojs_client_enqueue(client, S("fail.please"), none(), none(), &body));

    // A relay that asks the program for its database.
    ojs_relay_options options;
    ojs_relay_options_init(&options);
    options.host = responder.transport;
    options.migrate = true;
    options.poll_interval_ms = 5;
    ojs_relay *relay = NULL;
    int before = responder.answered;
    OK(ojs_relay_start(client, &options, &relay));
    ojs_relay_wake(relay);
    OK(ojs_relay_status(relay, &body));
    CHECK(contains(ojs_buf_slice(body), "\"sent\":0"));
    ojs_buf_free(body);
    OK(ojs_relay_stop(relay, 10000));
    OK(ojs_relay_stop(relay, 0));
    OK(ojs_relay_status(relay, &body));
    CHECK(equals(ojs_buf_slice(body), "null"));
    ojs_buf_free(body);
    ojs_relay_wake(relay);
    ojs_relay_free(relay);
    OK(ojs_relay_start(client, &options, &relay));
    ojs_relay_free(relay); // ends it

    ojs_transport_close(responder.transport);
    ojs_transport_close(responder.transport);
    pthread_join(thread, NULL);
    CHECK(responder.answered > before);
    FAILS(OJS_CLASS_CLOSED, "closed", ojs_client_enqueue(client, S("a"), none(), none(), &body));
    CHECK(body == NULL);
    ojs_client_free(client);
    ojs_transport_free(responder.transport);
    ojs_transport_free(NULL);
    ojs_transport_close(NULL);
}

static void relays(void) {
    ojs_client *client = NULL;
    OK(ojs_client_new(S("memory:c-relays"), NULL, &client));
    ojs_relay_options options;
    ojs_relay_options_init(&options);
    ojs_relay *relay = NULL;
    FAILS(OJS_CLASS_VALIDATION, "url or host", ojs_relay_start(client, &options, &relay));
    options.url = S("mysql://x");
    FAILS(OJS_CLASS_VALIDATION, "", ojs_relay_start(client, &options, &relay));
    options.url = S("postgres://127.0.0.1:1/none");
    options.table = S("no table");
    FAILS(OJS_CLASS_VALIDATION, "no table", ojs_relay_start(client, &options, &relay));
    options.size = 0;
    FAILS(OJS_CLASS_VALIDATION, "ojs_relay_options_init", ojs_relay_start(client, &options, &relay));
    ojs_relay_options_init(&options);
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_relay_start(NULL, &options, &relay));
    CHECK(relay == NULL);
    FAILS(OJS_CLASS_VALIDATION, "relay is NULL", ojs_relay_stop(NULL, 0));
    FAILS(OJS_CLASS_VALIDATION, "relay is NULL", ojs_relay_status(NULL, NULL));
    ojs_relay_wake(NULL);
    ojs_relay_free(NULL);
    ojs_relay_options_init(NULL);
    ojs_client_free(client);
}

static void encryption(void) {
    ojs_client_options options;
    ojs_client_options_init(&options);
    options.encryption_keys = S(KEYS);
    ojs_client *client = NULL;
    OK(ojs_client_new(S("memory:c-encryption"), &options, &client));
    ojs_buf *body = NULL;
    OK(ojs_client_enqueue(client, S("card.charge"), S("[\"secret\"]"), none(), &body));
    CHECK(contains(ojs_buf_slice(body), "ojs_encoded") && !contains(ojs_buf_slice(body), "secret"));
    ojs_buf_free(body);
    OK(ojs_outbox_encrypted(client, S("{\"type\":\"a\",\"args\":[\"secret\"]}"), &body));
    CHECK(contains(ojs_buf_slice(body), "ojs_encoded") && !contains(ojs_buf_slice(body), "secret"));
    ojs_buf *clear = NULL;
    OK(ojs_client_decrypted(client, ojs_buf_slice(body), &clear));
    CHECK(contains(ojs_buf_slice(clear), "secret") && !contains(ojs_buf_slice(clear), "ojs_encoded"));
    ojs_buf_free(clear);
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_decrypted(NULL, ojs_buf_slice(body), &clear));
    ojs_buf_free(body);
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_outbox_encrypted(NULL, S("{}"), &body));
    ojs_client_free(client);
    options.encryption_keys = S("k-1:short");
    FAILS(OJS_CLASS_VALIDATION, "32 bytes", ojs_client_new(S("memory:"), &options, &client));
    options.encryption_keys = invalid_utf8();
    FAILS(OJS_CLASS_VALIDATION, "UTF-8", ojs_client_new(S("memory:"), &options, &client));
    CHECK(client == NULL);
}

int main(void) {
    rows();
    relays();
    transports();
    encryption();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

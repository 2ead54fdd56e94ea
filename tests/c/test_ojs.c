// Calls every function of ojs.h rightly and wrongly: NULL, empty, invalid UTF-8, after close, twice, in the wrong order.
// Compiled as C and as C++, run under ASan, LSan and valgrind by scripts/c.sh. Prints "N passed, N failed".
#define _POSIX_C_SOURCE 200809L // mkstemp
#include "ojs.h"
#include "ojs.h" // twice: the guard works
#include "ojs_frame.h"

#include "check.h"

#include <unistd.h>

static void put32(uint8_t *at, uint32_t number) {
    for (int n = 0; n < 4; n++) at[n] = (uint8_t)(number >> (8 * n));
}

static void put64(uint8_t *at, uint64_t number) {
    for (int n = 0; n < 8; n++) at[n] = (uint8_t)(number >> (8 * n));
}

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t *at) {
    return (uint64_t)get32(at) | (uint64_t)get32(at + 4) << 32;
}

static ojs_client *client_of(const char *url) {
    ojs_client *client = NULL;
    OK(ojs_client_new(S(url), NULL, &client));
    CHECK(client != NULL);
    return client;
}

static void versions(void) {
    CHECK(ojs_abi_version() == OJS_ABI);
    CHECK(strlen(ojs_version()) >= 5);
    OK(ojs_abi_check(OJS_ABI));
    FAILS(OJS_CLASS_VALIDATION, "install them together", ojs_abi_check(OJS_ABI + 1));
    FAILS(OJS_CLASS_VALIDATION, "compiled for version 0.0", ojs_abi_check(0));
    FAILS(OJS_CLASS_VALIDATION, "compiled for version 2.0", ojs_abi_check(2u << 16));
}

static void nothing(void) {
    CHECK(ojs_error_class(NULL) == OJS_CLASS_NONE && ojs_error_status(NULL) == 0 && !ojs_error_retryable(NULL));
    CHECK(ojs_error_code(NULL).len == 0 && ojs_error_message(NULL).len == 0 && ojs_error_json(NULL).len == 0);
    CHECK(ojs_buf_slice(NULL).len == 0 && ojs_server_url(NULL).len == 0 && ojs_worker_id(NULL).len == 0);
    CHECK(ojs_frame_count(NULL) == 0 && ojs_worker_held(NULL) == 0 && ojs_worker_phase(NULL) == OJS_PHASE_NEW);
    CHECK(ojs_worker_cancelled(NULL, 0) == OJS_CANCEL_LEASE_LOST && ojs_answer_cancelled(NULL) == OJS_CANCEL_NONE);
    ojs_error_free(NULL);
    ojs_buf_free(NULL);
    ojs_client_free(NULL);
    ojs_worker_free(NULL);
    ojs_server_free(NULL);
    ojs_worker_unblock(NULL);
    ojs_client_options_init(NULL);
    ojs_worker_options_init(NULL);

    ojs_buf *buf = (ojs_buf *)&passed;
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_call(NULL, S("GET"), S("/health"), none(), &buf));
    CHECK(buf == NULL); // written on failure, too
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_enqueue(NULL, S("a"), none(), none(), NULL));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_close(NULL));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_worker_new(NULL, NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_start(NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_pull(NULL, 1, 0, &buf, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_cancellations(NULL, 1, 0, NULL, NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_succeed(NULL, 1, none(), NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_fail(NULL, 1, none(), S("x"), true, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_release(NULL, 1, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_snooze(NULL, 1, 1, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_complete(NULL, none(), 0, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_heartbeat(NULL, 1, NULL));
    FAILS(OJS_CLASS_VALIDATION, "ring is NULL", ojs_worker_set_doorbell(NULL, NULL, NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_rearm(NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_quiet(NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_resume(NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_stop(NULL, 0));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_wait(NULL, 0, NULL));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_run(NULL, 1, NULL, NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "answer is NULL", ojs_answer_result(NULL, none()));
    FAILS(OJS_CLASS_VALIDATION, "answer is NULL", ojs_answer_fail(NULL, none(), S("x"), true));
    FAILS(OJS_CLASS_VALIDATION, "a failure is", ojs_answer_failure(NULL, none()));
    FAILS(OJS_CLASS_VALIDATION, "answer is NULL", ojs_answer_release(NULL));
    FAILS(OJS_CLASS_VALIDATION, "answer is NULL", ojs_answer_snooze(NULL, 0));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_answer_heartbeat(NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "server is NULL", ojs_server_stop(NULL));
    FAILS(OJS_CLASS_VALIDATION, "frame is NULL", ojs_frame_job(NULL, 0, NULL));
}

static void wrong_settings(void) {
    ojs_client *client = (ojs_client *)&passed;
    FAILS(OJS_CLASS_VALIDATION, "url is empty", ojs_client_new(none(), NULL, &client));
    CHECK(client == NULL);
    FAILS(OJS_CLASS_VALIDATION, "url is NULL, but its length is 3", ojs_client_new(null_with_length(), NULL, &client));
    FAILS(OJS_CLASS_VALIDATION, "url is not UTF-8", ojs_client_new(invalid_utf8(), NULL, &client));

    ojs_client_options options;
    memset(&options, 0, sizeof options);
    FAILS(OJS_CLASS_VALIDATION, "call ojs_client_options_init() first", ojs_client_new(S("memory:"), &options, &client));
    ojs_client_options_init(&options);
    CHECK(options.size == sizeof options);
    ojs_slice headers[] = {S("x-a"), S("1"), S("x-b")};
    options.headers = headers;
    options.header_slices = 3;
    FAILS(OJS_CLASS_VALIDATION, "header_slices is odd", ojs_client_new(S("memory:"), &options, &client));
    options.headers = NULL;
    FAILS(OJS_CLASS_VALIDATION, "headers is NULL", ojs_client_new(S("memory:"), &options, &client));
    options.header_slices = 0;
    options.size = 8; // an older, shorter structure
    options.auth_token = invalid_utf8();
    OK(ojs_client_new(S("memory:"), &options, &client));
    ojs_client_free(client);
    options.size = sizeof options;
    FAILS(OJS_CLASS_VALIDATION, "auth_token is not UTF-8", ojs_client_new(S("memory:"), &options, &client));
    CHECK(client == NULL);

    FAILS(OJS_CLASS_VALIDATION, "cannot connect to 'ftp://x'", ojs_client_new(S("ftp://x"), NULL, &client));
    FAILS(OJS_CLASS_VALIDATION, "write sqlite:jobs.db", ojs_client_new(S("jobs.db"), NULL, &client));
    CHECK(client == NULL);

    client = client_of("memory:c-settings");
    ojs_worker *worker = (ojs_worker *)&passed;
    ojs_worker_options settings;
    memset(&settings, 0, sizeof settings);
    FAILS(OJS_CLASS_VALIDATION, "call ojs_worker_options_init() first", ojs_worker_new(client, &settings, &worker));
    CHECK(worker == NULL);
    ojs_worker_options_init(&settings);
    ojs_slice queues[] = {invalid_utf8()};
    settings.queues = queues;
    settings.queue_count = 1;
    FAILS(OJS_CLASS_VALIDATION, "queues is not UTF-8", ojs_worker_new(client, &settings, &worker));
    ojs_client_free(client);
}

static void calls(const char *url) {
    ojs_client_options options;
    ojs_client_options_init(&options);
    ojs_slice headers[] = {S("x-test"), S("1")};
    options.headers = headers;
    options.header_slices = 2;
    options.timeout_ms = 60000;
    options.connect_timeout_ms = 60000;
    options.max_sends = 2;
    ojs_client *client = NULL;
    OK(ojs_client_new(S(url), &options, &client));

    ojs_buf *answer = NULL;
    OK(ojs_client_enqueue(client, S("email.send"), S("[\"\xe9\xa6\xac\", 12345678901234567890]"), S("{\"queue\":\"mail\"}"), &answer));
    CHECK(contains(ojs_buf_slice(answer), "12345678901234567890") && contains(ojs_buf_slice(answer), "\"queue\":\"mail\""));
    ojs_buf_free(answer);
    OK(ojs_client_enqueue(client, S("email.send"), none(), none(), NULL)); // thrown away
    OK(ojs_client_call(client, S("GET"), S("/ojs/manifest"), none(), &answer));
    CHECK(contains(ojs_buf_slice(answer), "specversion"));
    ojs_buf_free(answer);
    OK(ojs_client_call(client, S("POST"), S("/jobs/batch"), S("{\"jobs\":[{\"type\":\"a\",\"args\":[]}]}"), &answer));
    ojs_buf_free(answer);

    ojs_error *error = ojs_client_call(client, S("GET"), S("/jobs/missing"), none(), &answer);
    CHECK(answer == NULL && ojs_error_class(error) == OJS_CLASS_NOT_FOUND && ojs_error_status(error) == 404);
    CHECK(equals(ojs_error_code(error), "not_found") && !ojs_error_retryable(error));
    CHECK(contains(ojs_error_json(error), "\"code\":\"not_found\""));
    ojs_error_free(error);
    FAILS(OJS_CLASS_INVALID_REQUEST, "", ojs_client_enqueue(client, S("Not A Type"), none(), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "args must be a JSON array", ojs_client_enqueue(client, S("a"), S("{}"), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "args must be a JSON array", ojs_client_enqueue(client, S("a"), S("[1"), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "args is not UTF-8", ojs_client_enqueue(client, S("a"), invalid_utf8(), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "options must be a JSON object", ojs_client_enqueue(client, S("a"), none(), S("[]"), &answer));
    FAILS(OJS_CLASS_VALIDATION, "type is not UTF-8", ojs_client_enqueue(client, invalid_utf8(), none(), none(), &answer));
    FAILS(OJS_CLASS_NOT_FOUND, "gone", ojs_error_of(404, S("{\"error\":{\"code\":\"not_found\",\"message\":\"gone\"}}")));
    FAILS(OJS_CLASS_CONNECTION, "502", ojs_error_of(502, S("<html>")));
    FAILS(OJS_CLASS_DUPLICATE, "twice", ojs_error_of(0, S("{\"code\":\"duplicate\",\"message\":\"twice\"}")));
    FAILS(OJS_CLASS_VALIDATION, "UTF-8", ojs_error_of(0, invalid_utf8()));
    FAILS(OJS_CLASS_VALIDATION, "path that begins with /", ojs_client_call(client, S("GET"), S("health"), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "a call is a method", ojs_client_call(client, none(), S("/health"), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "is no method", ojs_client_call(client, S("G T"), S("/health"), none(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "body is not UTF-8", ojs_client_call(client, S("POST"), S("/jobs"), invalid_utf8(), &answer));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_call(client, S("POST"), S("/jobs"), S("{"), &answer));
    CHECK(answer == NULL);

    OK(ojs_client_close(client));
    OK(ojs_client_close(client));
    FAILS(OJS_CLASS_CLOSED, "closed", ojs_client_call(client, S("GET"), S("/health"), none(), &answer));
    ojs_worker *worker = NULL;
    OK(ojs_worker_new(client, NULL, &worker));
    FAILS(OJS_CLASS_CLOSED, "closed", ojs_worker_start(worker));
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// --- asynchronous calls: the main thread waits on a worker's pull, which the callback unblocks ---

struct waiting {
    ojs_worker *bell;
    int calls;
    bool good;
};

static void done(void *user_data, ojs_error *error, ojs_buf *body) {
    struct waiting *waiting = (struct waiting *)user_data;
    waiting->good = waiting->calls == 0 ? error == NULL && contains(ojs_buf_slice(body), "status")
                                        : body == NULL && ojs_error_class(error) == OJS_CLASS_NOT_FOUND;
    ojs_error_free(error);
    ojs_buf_free(body);
    ojs_worker_unblock(waiting->bell);
    // This is the last access: another thread that sees it may free the worker and leave the frame that `waiting` is in.
    __atomic_add_fetch(&waiting->calls, 1, __ATOMIC_SEQ_CST);
}

static void asynchronous(const char *url) {
    ojs_client *client = client_of(url);
    ojs_worker *bell = NULL;
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    ojs_slice queue = S("c-nothing-here");
    options.queues = &queue;
    options.queue_count = 1;
    OK(ojs_worker_new(client, &options, &bell));
    ojs_buf *early = NULL;
    FAILS(OJS_CLASS_VALIDATION, "has not been started", ojs_worker_pull(bell, 1, 0, &early, NULL));
    ojs_cancellation unheard;
    size_t none_heard = 9;
    FAILS(OJS_CLASS_VALIDATION, "has not been started", ojs_worker_cancellations(bell, 1, 0, &unheard, &none_heard, NULL));
    CHECK(none_heard == 0);
    FAILS(OJS_CLASS_VALIDATION, "has not been started", ojs_worker_stop(bell, 0));
    OK(ojs_worker_start(bell));
    FAILS(OJS_CLASS_VALIDATION, "started once", ojs_worker_start(bell));
    CHECK(ojs_worker_id(bell).len > 0 && ojs_worker_phase(bell) == OJS_PHASE_RUNNING);
    struct waiting waiting = {bell, 0, false};
    const char *paths[] = {"/health", "/jobs/missing"};
    for (int n = 0; n < 2; n++) {
        OK(ojs_client_call_async(client, S("GET"), S(paths[n]), none(), done, &waiting));
        ojs_buf *frame = NULL;
        ojs_pull status = OJS_PULL_JOBS;
        // An unblock that came before the pull is not remembered: look again until the callback has run.
        while (__atomic_load_n(&waiting.calls, __ATOMIC_SEQ_CST) == n) OK(ojs_worker_pull(bell, 1, 50, &frame, &status));
        CHECK(frame == NULL && waiting.good);
    }
    waiting.calls = 0;
    OK(ojs_client_call_waiting(client, S("GET"), S("/health"), none(), 1000, done, &waiting));
    ojs_pull nothing_came = OJS_PULL_JOBS;
    while (__atomic_load_n(&waiting.calls, __ATOMIC_SEQ_CST) == 0) OK(ojs_worker_pull(bell, 1, 50, &early, &nothing_came));
    CHECK(waiting.good);
    waiting.calls = 2;
    FAILS(OJS_CLASS_VALIDATION, "done is NULL", ojs_client_call_waiting(client, S("GET"), S("/health"), none(), 0, NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_call_waiting(NULL, S("GET"), S("/health"), none(), 0, done, &waiting));
    FAILS(OJS_CLASS_VALIDATION, "done is NULL", ojs_client_call_async(client, S("GET"), S("/health"), none(), NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_call_async(NULL, S("GET"), S("/health"), none(), done, NULL));
    CHECK(waiting.calls == 2);
    ojs_worker_free(bell); // stops it
    ojs_client_free(client);
}

// --- pull style ---

static int rings, destroyed;

static void ring(void *user_data) { __atomic_add_fetch((int *)user_data, 1, __ATOMIC_SEQ_CST); }

static void destroy(void *user_data) {
    (void)user_data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void enqueue(ojs_client *client, const char *type, const char *options) {
    OK(ojs_client_enqueue(client, S(type), S("[1]"), S(options), NULL));
}

static size_t outcome(uint8_t *frame, size_t index, size_t at, uint64_t token, uint32_t kind, const char *payload, uint64_t delay) {
    uint8_t *entry = frame + OJS_FRAME_HEADER + index * OJS_FRAME_OUTCOME;
    memset(entry, 0, OJS_FRAME_OUTCOME);
    put64(entry + OJS_FRAME_OUTCOME_TOKEN, token);
    put32(entry + OJS_FRAME_OUTCOME_KIND, kind);
    put32(entry + OJS_FRAME_OUTCOME_PAYLOAD, (uint32_t)at);
    put32(entry + OJS_FRAME_OUTCOME_PAYLOAD + 4, (uint32_t)strlen(payload));
    put64(entry + OJS_FRAME_OUTCOME_DELAY, delay);
    memcpy(frame + at, payload, strlen(payload));
    return at + strlen(payload);
}

static void same_as_offsets(const ojs_buf *frame, size_t index, const ojs_job *job) {
    const uint8_t *bytes = ojs_buf_slice(frame).ptr;
    CHECK(get32(bytes + OJS_FRAME_AT_MAGIC) == OJS_FRAME_JOBS && get32(bytes + OJS_FRAME_AT_TOTAL) == ojs_buf_slice(frame).len);
    CHECK((get32(bytes + OJS_FRAME_AT_VERSION) & 0xffff) == OJS_FRAME_VERSION && get32(bytes + OJS_FRAME_AT_ENTRY_SIZE - 2) >> 16 == OJS_FRAME_JOB);
    const uint8_t *entry = bytes + OJS_FRAME_HEADER + index * OJS_FRAME_JOB;
    CHECK(get64(entry + OJS_FRAME_JOB_TOKEN) == job->token && get32(entry + OJS_FRAME_JOB_ATTEMPT) == job->attempt);
    CHECK(bytes + get32(entry + OJS_FRAME_JOB_ENVELOPE) == job->envelope.ptr && get32(entry + OJS_FRAME_JOB_ENVELOPE + 4) == job->envelope.len);
    CHECK(bytes + get32(entry + OJS_FRAME_JOB_ID) == job->id.ptr && bytes + get32(entry + OJS_FRAME_JOB_TYPE) == job->job_type.ptr);
    CHECK(bytes + get32(entry + OJS_FRAME_JOB_QUEUE) == job->queue.ptr);
    CHECK(((get32(entry + OJS_FRAME_JOB_FLAGS) & OJS_FRAME_FLAG_DEADLINE) != 0) == job->has_deadline);
    CHECK(get64(entry + OJS_FRAME_JOB_DEADLINE) == job->deadline_ms);
}

static void pulls(const char *url) {
    ojs_client *client = client_of(url);
    ojs_worker *worker = NULL;
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    ojs_slice queue = S("c-pull"), types[] = {S("c.one"), S("c.two")};
    options.queues = &queue;
    options.queue_count = 1;
    options.types = types;
    options.type_count = 2;
    options.concurrency = 8;
    options.worker_id = S("c-worker");
    options.heartbeat_ms = 1000;
    options.visibility_ms = 30000;
    options.grace_ms = 5000;
    options.poll_ms = 100;
    ojs_slice labels[] = {S("c"), S("test")};
    options.labels = labels;
    options.label_count = 2;
    OK(ojs_worker_new(client, &options, &worker));
    rings = destroyed = 0;
    OK(ojs_worker_set_doorbell(worker, ring, &rings, destroy));
    OK(ojs_worker_set_doorbell(worker, ring, &rings, destroy)); // the first one stays
    CHECK(destroyed == 1);
    OK(ojs_worker_start(worker));
    CHECK(equals(ojs_worker_id(worker), "c-worker"));
    ojs_buf *frame = NULL;
    ojs_pull status = OJS_PULL_CLOSED;
    FAILS(OJS_CLASS_VALIDATION, "frame is NULL or max is 0", ojs_worker_pull(worker, 0, 0, &frame, &status));
    FAILS(OJS_CLASS_VALIDATION, "frame is NULL or max is 0", ojs_worker_pull(worker, 1, 0, NULL, &status));
    OK(ojs_worker_pull(worker, 8, 0, &frame, &status));
    CHECK(frame == NULL && status == OJS_PULL_TIMED_OUT);

    for (int n = 0; n < 5; n++) enqueue(client, n % 2 ? "c.one" : "c.two", "{\"queue\":\"c-pull\",\"timeout_ms\":60000}");
    uint64_t tokens[5] = {0, 0, 0, 0, 0};
    size_t got = 0;
    while (got < 5) {
        OK(ojs_worker_rearm(worker));
        OK(ojs_worker_pull(worker, 2, 60000, &frame, &status));
        CHECK(status == OJS_PULL_JOBS && ojs_frame_count(frame) >= 1 && ojs_frame_count(frame) <= 2);
        if (status != OJS_PULL_JOBS) break;
        for (size_t index = 0; index < ojs_frame_count(frame) && got < 5; index++) {
            ojs_job job;
            OK(ojs_frame_job(frame, index, &job));
            CHECK(job.attempt == 1 && job.has_deadline && job.deadline_ms <= 60000 && job.id.len == 36 && equals(job.queue, "c-pull"));
            CHECK(contains(job.envelope, "\"args\":[1]"));
            same_as_offsets(frame, index, &job);
            tokens[got++] = job.token;
        }
        ojs_job job;
        FAILS(OJS_CLASS_VALIDATION, "no job 9", ojs_frame_job(frame, 9, &job));
        CHECK(job.token == 0 && job.id.ptr == NULL);
        ojs_buf_free(frame);
    }
    CHECK(__atomic_load_n(&rings, __ATOMIC_SEQ_CST) >= 1 && ojs_worker_held(worker) == 5);
    ojs_cancel verdict = OJS_CANCEL_SHUTDOWN;
    OK(ojs_worker_heartbeat(worker, tokens[0], &verdict));
    CHECK(verdict == OJS_CANCEL_NONE && ojs_worker_cancelled(worker, tokens[0]) == OJS_CANCEL_NONE);
    OK(ojs_worker_heartbeat(worker, 12345, &verdict));
    CHECK(verdict == OJS_CANCEL_LEASE_LOST && ojs_worker_cancelled(worker, 12345) == OJS_CANCEL_LEASE_LOST);

    bool stale = true;
    FAILS(OJS_CLASS_VALIDATION, "the result is not JSON", ojs_worker_succeed(worker, tokens[0], S("{"), &stale));
    FAILS(OJS_CLASS_VALIDATION, "the result is not JSON", ojs_worker_succeed(worker, tokens[0], invalid_utf8(), &stale));
    FAILS(OJS_CLASS_VALIDATION, "message is empty", ojs_worker_fail(worker, tokens[0], none(), none(), true, &stale));
    CHECK(!stale);
    OK(ojs_worker_succeed(worker, tokens[0], S("{\"n\":12345678901234567890}"), &stale));
    CHECK(!stale);
    OK(ojs_worker_succeed(worker, tokens[0], none(), &stale)); // twice
    CHECK(stale);
    OK(ojs_worker_fail(worker, tokens[1], S("declined"), S("no"), false, &stale));
    CHECK(!stale);

    uint8_t outcomes[512];
    size_t at = OJS_FRAME_HEADER + 3 * OJS_FRAME_OUTCOME;
    at = outcome(outcomes, 0, at, tokens[2], OJS_FRAME_COMPLETED, "[1]", 0);
    at = outcome(outcomes, 1, at, tokens[3], OJS_FRAME_FAILED, "{\"message\":\"m\",\"retryable\":false}", 0);
    at = outcome(outcomes, 2, at, tokens[0], OJS_FRAME_SNOOZED, "", 1000); // answered before
    put32(outcomes + OJS_FRAME_AT_MAGIC, OJS_FRAME_OUTCOMES);
    put32(outcomes + OJS_FRAME_AT_VERSION, OJS_FRAME_VERSION | OJS_FRAME_OUTCOME << 16);
    put32(outcomes + OJS_FRAME_AT_COUNT, 3);
    put32(outcomes + OJS_FRAME_AT_TOTAL, (uint32_t)at);
    ojs_slice packed = {outcomes, at};
    uint32_t late = 9;
    ojs_slice cut = {outcomes, at - 1};
    FAILS(OJS_CLASS_VALIDATION, "the frame says", ojs_worker_complete(worker, cut, 0, &late));
    FAILS(OJS_CLASS_VALIDATION, "ends too early", ojs_worker_complete(worker, none(), 0, &late));
    FAILS(OJS_CLASS_VALIDATION, "not a frame of outcomes", ojs_worker_complete(worker, S("OJSJ............"), 0, &late));
    FAILS(OJS_CLASS_VALIDATION, "outcomes is NULL", ojs_worker_complete(worker, null_with_length(), 0, &late));
    OK(ojs_worker_complete(worker, packed, 1000, &late));
    CHECK(late == 1 && ojs_worker_held(worker) == 1);
    OK(ojs_worker_release(worker, tokens[4], &stale));
    OK(ojs_worker_snooze(worker, tokens[4], 10, &stale));
    CHECK(stale);

    OK(ojs_worker_quiet(worker));
    OK(ojs_worker_resume(worker));
    bool over = true;
    OK(ojs_worker_wait(worker, 1, &over));
    CHECK(!over);
    OK(ojs_worker_stop(worker, 0));
    OK(ojs_worker_wait(worker, -1, &over));
    CHECK(over && ojs_worker_phase(worker) == OJS_PHASE_STOPPED);
    // What came in while it stopped has been given back.
    do OK(ojs_worker_pull(worker, 8, -1, &frame, &status));
    while (status == OJS_PULL_JOBS);
    CHECK(status == OJS_PULL_CLOSED && frame == NULL);
    OK(ojs_worker_stop(worker, 0));
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// --- versions and tenants: what a worker declares, which changes a job goes through, and a client of one tenant ---

static void versions_of_jobs(const char *url) {
    ojs_client *client = client_of(url), *acme = NULL;
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_of_tenant(NULL, S("acme"), &acme));
    FAILS(OJS_CLASS_VALIDATION, "tenant must be letters", ojs_client_of_tenant(client, S("a b"), &acme));
    FAILS(OJS_CLASS_VALIDATION, "tenant is not UTF-8", ojs_client_of_tenant(client, invalid_utf8(), &acme));
    CHECK(acme == NULL);
    OK(ojs_client_of_tenant(client, S("acme"), &acme));

    ojs_slice type = S("c.versions"), queue = S("c-versions");
    ojs_slice said = S("{\"version\":\"3.1\",\"transforms\":[[\"2\",\"3.0\"],[\"1\",\"2\"]]}");
    ojs_worker *worker = NULL;
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    options.queues = &queue;
    options.queue_count = 1;
    options.types = &type;
    options.type_count = 1;
    options.versions = S("{\"c.versions\":{\"version\":\"x\"}}");
    FAILS(OJS_CLASS_VALIDATION, "must be a version such as 2 or 2.1", ojs_worker_new(acme, &options, &worker));
    options.versions = S("{\"c.versions\":{\"version\":\"3.1\",\"transforms\":[[\"2\",\"3.0\"],[\"1\",\"2\"]]}}");
    OK(ojs_worker_new(acme, &options, &worker));
    OK(ojs_worker_start(worker));
    enqueue(acme, "c.versions", "{\"queue\":\"c-versions\",\"version\":\"9\"}"); // no worker runs it
    enqueue(acme, "c.versions", "{\"queue\":\"c-versions\",\"version\":\"1.0\"}");

    ojs_buf *frame = NULL, *changes = NULL;
    ojs_pull status = OJS_PULL_CLOSED;
    OK(ojs_worker_pull(worker, 1, 60000, &frame, &status));
    ojs_job job;
    OK(ojs_frame_job(frame, 0, &job));
    CHECK(contains(job.envelope, "\"version\":\"1.0\"") && contains(job.envelope, "\"tenant_id\":\"acme\""));
    OK(ojs_version_changes(type, said, job.envelope, &changes));
    CHECK(equals(ojs_buf_slice(changes), "[1,0]"));
    ojs_buf_free(changes);
    FAILS(OJS_CLASS_VALIDATION, "in versions >=3.0 <4.0", ojs_version_changes(type, said, S("{\"version\":9}"), &changes));
    FAILS(OJS_CLASS_VALIDATION, "versions must be JSON", ojs_version_changes(type, S("{"), job.envelope, &changes));
    FAILS(OJS_CLASS_VALIDATION, "job_type is not UTF-8", ojs_version_changes(invalid_utf8(), said, job.envelope, &changes));
    CHECK(changes == NULL);
    OK(ojs_worker_succeed(worker, job.token, none(), NULL));
    ojs_buf_free(frame);
    OK(ojs_worker_stop(worker, 0));
    ojs_worker_free(worker);
    OK(ojs_client_close(acme));
    ojs_client_free(acme);
    enqueue(client, "c.versions", "{\"queue\":\"c-versions\"}"); // the connection is still open
    ojs_client_free(client);
}

// --- cancellations: a job is cancelled on the server, the worker's next heartbeat hears of it, a waiting thread is told ---

static void cancellations(const char *url) {
    ojs_client *client = client_of(url);
    ojs_worker *worker = NULL;
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    ojs_slice queue = S("c-cancel");
    options.queues = &queue;
    options.queue_count = 1;
    options.heartbeat_ms = 50;
    OK(ojs_worker_new(client, &options, &worker));
    OK(ojs_worker_start(worker));
    ojs_cancellation list[2];
    size_t count = 9;
    ojs_pull status = OJS_PULL_CLOSED;
    FAILS(OJS_CLASS_VALIDATION, "list or count is NULL, or max is 0", ojs_worker_cancellations(worker, 0, 0, list, &count, &status));
    FAILS(OJS_CLASS_VALIDATION, "list or count is NULL, or max is 0", ojs_worker_cancellations(worker, 1, 0, NULL, &count, &status));
    FAILS(OJS_CLASS_VALIDATION, "list or count is NULL, or max is 0", ojs_worker_cancellations(worker, 1, 0, list, NULL, &status));
    OK(ojs_worker_cancellations(worker, 2, 1, list, &count, &status));
    CHECK(count == 0 && status == OJS_PULL_TIMED_OUT);

    enqueue(client, "c.long", "{\"queue\":\"c-cancel\"}");
    ojs_buf *frame = NULL;
    OK(ojs_worker_pull(worker, 1, 60000, &frame, &status));
    ojs_job job;
    memset(&job, 0, sizeof job);
    OK(ojs_frame_job(frame, 0, &job));
    char path[64];
    snprintf(path, sizeof path, "/jobs/%.*s", (int)job.id.len, (const char *)job.id.ptr);
    OK(ojs_client_call(client, S("DELETE"), S(path), none(), NULL));
    OK(ojs_worker_cancellations(worker, 2, 60000, list, &count, &status));
    CHECK(count == 1 && status == OJS_PULL_JOBS && list[0].token == job.token && list[0].why == OJS_CANCEL_CANCELLED);
    CHECK(ojs_worker_cancelled(worker, job.token) == OJS_CANCEL_CANCELLED);
    OK(ojs_worker_cancellations(worker, 2, 0, list, &count, &status));
    CHECK(count == 0 && status == OJS_PULL_TIMED_OUT); // once
    OK(ojs_worker_release(worker, job.token, NULL));
    ojs_buf_free(frame);

    OK(ojs_worker_stop(worker, 0));
    OK(ojs_worker_cancellations(worker, 2, -1, list, &count, &status));
    CHECK(count == 0 && status == OJS_PULL_CLOSED);
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// --- callback style ---

struct story {
    ojs_worker *worker;
    int ran, destroyed, released, snoozed;
};

static void handle(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    struct story *story = (struct story *)user_data;
    int ran = __atomic_add_fetch(&story->ran, 1, __ATOMIC_SEQ_CST);
    if (equals(job->job_type, "c.result")) {
        FAILS(OJS_CLASS_VALIDATION, "the result is not JSON", ojs_answer_result(answer, S("nope")));
        OK(ojs_answer_result(answer, S("{\"ok\":true}")));
    } else if (equals(job->job_type, "c.fail")) {
        FAILS(OJS_CLASS_VALIDATION, "message is empty", ojs_answer_fail(answer, none(), none(), true));
        OK(ojs_answer_fail(answer, S("broken"), S("it broke"), false));
    } else if (equals(job->job_type, "c.failure")) {
        OK(ojs_answer_failure(answer, S("{\"message\":\"details\",\"retryable\":false,\"details\":{\"a\":1}}")));
    } else if (equals(job->job_type, "c.release") && __atomic_add_fetch(&story->released, 1, __ATOMIC_SEQ_CST) == 1) {
        OK(ojs_answer_release(answer));
    } else if (equals(job->job_type, "c.snooze") && __atomic_add_fetch(&story->snoozed, 1, __ATOMIC_SEQ_CST) == 1) {
        ojs_cancel verdict = OJS_CANCEL_SHUTDOWN;
        OK(ojs_answer_heartbeat(answer, &verdict));
        CHECK(verdict == OJS_CANCEL_NONE && ojs_answer_cancelled(answer) == OJS_CANCEL_NONE);
        OK(ojs_answer_snooze(answer, 1));
    }
    if (ran >= 7) OK(ojs_worker_stop(story->worker, -1));
}

static void ended(void *user_data) { ((struct story *)user_data)->destroyed++; }

static void state_is(ojs_client *client, const char *id, const char *state) {
    char path[64];
    snprintf(path, sizeof path, "/jobs/%.36s", id);
    ojs_buf *answer = NULL;
    OK(ojs_client_call(client, S("GET"), S(path), none(), &answer));
    if (!contains(ojs_buf_slice(answer), state)) printf("%.*s\n", (int)ojs_buf_slice(answer).len, (const char *)ojs_buf_slice(answer).ptr);
    CHECK(contains(ojs_buf_slice(answer), state));
    ojs_buf_free(answer);
}

static void callbacks(const char *url) {
    ojs_client *client = client_of(url);
    const char *types[] = {"c.result", "c.fail", "c.failure", "c.release", "c.snooze"};
    char ids[5][40];
    for (int n = 0; n < 5; n++) {
        ojs_buf *answer = NULL;
        OK(ojs_client_enqueue(client, S(types[n]), none(), S("{\"queue\":\"c-callbacks\"}"), &answer));
        ojs_slice text = ojs_buf_slice(answer);
        for (size_t at = 0; at + 42 < text.len; at++) {
            if (memcmp(text.ptr + at, "\"id\":\"", 6) == 0) {
                memcpy(ids[n], text.ptr + at + 6, 36);
                break;
            }
        }
        ojs_buf_free(answer);
    }
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    ojs_slice queue = S("c-callbacks");
    options.queues = &queue;
    options.queue_count = 1;
    options.concurrency = 1; // one after the other, in the order of arrival
    struct story story = {NULL, 0, 0, 0, 0};
    OK(ojs_worker_new(client, &options, &story.worker));
    FAILS(OJS_CLASS_VALIDATION, "handler is NULL", ojs_worker_run(story.worker, 1, NULL, &story, ended));
    CHECK(story.destroyed == 1);
    OK(ojs_worker_run(story.worker, 0, handle, &story, ended));
    CHECK(story.destroyed == 2 && story.ran == 7);
    FAILS(OJS_CLASS_VALIDATION, "started once", ojs_worker_run(story.worker, 1, handle, &story, ended));
    CHECK(story.destroyed == 3);
    state_is(client, ids[0], "\"result\":{\"ok\":true}");
    state_is(client, ids[1], "\"code\":\"broken\"");
    state_is(client, ids[2], "\"a\":1");
    for (int n = 3; n < 5; n++) state_is(client, ids[n], "\"state\":\"completed\"");
    ojs_worker_free(story.worker);
    OK(ojs_client_close(client));
    ojs_client_free(client);
}

// Operations without a function of their own are calls.
static void push_endpoints(const char *url) {
    ojs_client *client = client_of(url);
    ojs_buf *out = NULL;
    ojs_slice endpoint = S("{\"endpoint\":\"https://192.0.43.8/jobs\",\"job_types\":[\"never.pushed\"]}");
    OK(ojs_client_call(client, S("POST"), S("/push/endpoints"), endpoint, &out));
    CHECK(contains(ojs_buf_slice(out), "\"id\":\"push_"));
    char path[80] = "/push/endpoints/";
    ojs_slice text = ojs_buf_slice(out);
    for (size_t at = 0; at + 41 < text.len; at++) {
        if (memcmp(text.ptr + at, "\"push_", 6) == 0) {
            memcpy(path + 16, text.ptr + at + 1, 41);
            break;
        }
    }
    ojs_buf_free(out);
    OK(ojs_client_call(client, S("GET"), S("/push/endpoints"), none(), &out));
    CHECK(contains(ojs_buf_slice(out), path + 16));
    ojs_buf_free(out);
    OK(ojs_client_call(client, S("PATCH"), S(path), S("{\"active\":false}"), &out));
    CHECK(contains(ojs_buf_slice(out), "\"active\":false"));
    ojs_buf_free(out);
    OK(ojs_client_call(client, S("DELETE"), S(path), none(), NULL));
    FAILS(OJS_CLASS_NOT_FOUND, "", ojs_client_call(client, S("GET"), S(path), none(), NULL));
    ojs_client_free(client);
}

static void logs(void) {
    ojs_logs_level(5);
    ojs_client *client = client_of("memory:c-logs");
    OK(ojs_client_call(client, S("GET"), S("/health"), none(), NULL));
    ojs_client_free(client);
    ojs_buf *records = NULL;
    OK(ojs_logs_pull(10, 0, &records));
    CHECK(contains(ojs_buf_slice(records), "\"records\":["));
    ojs_buf_free(records);
    OK(ojs_logs_pull(10, 0, NULL));
    ojs_logs_level(0);
}

// "secret", as `ojs keys add` would have written it down.
static const char KEYS[] = "{\"keys\":[{\"name\":\"shop\",\"roles\":[\"producer\"],\"created_at\":\"2026-01-01T00:00:00Z\","
                           "\"sha256\":\"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\"}]}";

static void servers_with_keys(void) {
    ojs_server *server = NULL;
    OK(ojs_server_start_with(NULL, &server));
    CHECK(contains(ojs_server_url(server), "http://127.0.0.1:"));
    ojs_server_free(server);

    ojs_server_options options;
    memset(&options, 0, sizeof options);
    ojs_server_options_init(NULL);
    FAILS(OJS_CLASS_VALIDATION, "call ojs_server_options_init() first", ojs_server_start_with(&options, &server));
    ojs_server_options_init(&options);
    CHECK(options.size == sizeof options && options.insecure && !options.test_mode);
    options.insecure = false;
    options.listen = S("0.0.0.0:0");
    FAILS(OJS_CLASS_VALIDATION, "no keys are asked for", ojs_server_start_with(&options, &server));
    options.listen = none();
    options.keys = S("/no/such/keys.json");
    FAILS(OJS_CLASS_VALIDATION, "/no/such/keys.json", ojs_server_start_with(&options, &server));
    options.keys = invalid_utf8();
    FAILS(OJS_CLASS_VALIDATION, "keys is not UTF-8", ojs_server_start_with(&options, &server));

    char path[] = "/tmp/ojs-c-keys-XXXXXX";
    int file = mkstemp(path);
    CHECK(write(file, KEYS, sizeof KEYS - 1) == (ssize_t)(sizeof KEYS - 1) && close(file) == 0);
    options.keys = S(path);
    OK(ojs_server_start_with(&options, &server));
    char url[64];
    snprintf(url, sizeof url, "%.*s", (int)ojs_server_url(server).len, (const char *)ojs_server_url(server).ptr);
    ojs_client *stranger = client_of(url);
    FAILS(OJS_CLASS_AUTHENTICATION, "", ojs_client_enqueue(stranger, S("a"), S("[]"), none(), NULL));
    ojs_client_free(stranger);
    ojs_client_options known;
    ojs_client_options_init(&known);
    known.auth_token = S("secret");
    ojs_client *client = NULL;
    OK(ojs_client_new(S(url), &known, &client));
    OK(ojs_client_enqueue(client, S("a"), S("[]"), none(), NULL));
    ojs_client_free(client);
    ojs_server_free(server);
    CHECK(unlink(path) == 0);
}

int main(void) {
    versions();
    nothing();
    wrong_settings();
    logs();
    servers_with_keys();
    ojs_server *server = (ojs_server *)&passed;
    FAILS(OJS_CLASS_VALIDATION, "", ojs_server_start(S("ftp:x"), S("127.0.0.1:0"), false, &server));
    CHECK(server == NULL);
    FAILS(OJS_CLASS_VALIDATION, "cannot listen", ojs_server_start(S("memory:"), S("nowhere"), false, &server));
    FAILS(OJS_CLASS_VALIDATION, "store is not UTF-8", ojs_server_start(invalid_utf8(), S("127.0.0.1:0"), false, &server));
    OK(ojs_server_start(S("memory:"), S("127.0.0.1:0"), false, &server));
    char url[64];
    snprintf(url, sizeof url, "%.*s", (int)ojs_server_url(server).len, (const char *)ojs_server_url(server).ptr);
    const char *urls[] = {url, "memory:c-tests"};
    for (int n = 0; n < 2; n++) {
        calls(urls[n]);
        asynchronous(urls[n]);
        pulls(urls[n]);
        versions_of_jobs(urls[n]);
        cancellations(urls[n]);
        callbacks(urls[n]);
        push_endpoints(urls[n]);
    }
    OK(ojs_server_stop(server));
    OK(ojs_server_stop(server));
    ojs_server_free(server);
    OK(ojs_server_start(S("memory:"), S("127.0.0.1:0"), false, &server));
    ojs_server_free(server); // stops it
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

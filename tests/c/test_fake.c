// The fake: a client whose jobs stay in this process and are recorded, for tests of code that enqueues.
//
//     test_fake
//
// Compiled as C and as C++, run under ASan, LSan and valgrind by scripts/c.sh. Prints "N passed, N failed".
#include "ojs.h"

#include "check.h"

// The code under test.
static void sign_up(const ojs_client *client, const char *args) {
    ojs_buf *job = NULL;
    OK(ojs_client_enqueue(client, S("email.welcome"), S(args), S("{\"queue\":\"mail\"}"), &job));
    ojs_buf_free(job);
}

static bool enqueued(const ojs_fake *fake, const char *wanted, const char *places) {
    ojs_buf *jobs = NULL, *found = NULL;
    OK(ojs_fake_enqueued(fake, &jobs));
    OK(ojs_fake_matching(ojs_buf_slice(jobs), S(wanted), &found));
    bool are = equals(ojs_buf_slice(found), places);
    if (!are) printf("%s: %.*s\n", wanted, (int)ojs_buf_slice(found).len, (const char *)ojs_buf_slice(found).ptr);
    ojs_buf_free(found);
    ojs_buf_free(jobs);
    return are;
}

static void records(void) {
    ojs_fake *fake = NULL, *other = NULL;
    ojs_client *client = NULL;
    ojs_buf *answer = NULL;
    OK(ojs_fake_new(&fake));
    OK(ojs_fake_new(&other));
    OK(ojs_fake_client(fake, &client));
    sign_up(client, "[\"ada@example.com\"]");
    OK(ojs_client_call(client, S("POST"), S("/jobs/batch"),
            S("{\"jobs\":[{\"type\":\"a\",\"args\":[1]},{\"type\":\"b\",\"args\":[2]}]}"), &answer));
    ojs_buf_free(answer);
    // What the engine refuses in production is refused here, and not recorded.
    FAILS(OJS_CLASS_INVALID_REQUEST, "Email Send", ojs_client_enqueue(client, S("Email Send"), none(), none(), &answer));

    CHECK(enqueued(fake, "{\"type\":\"email.welcome\",\"args\":[\"ada@example.com\"],\"queue\":\"mail\"}", "[0]"));
    CHECK(enqueued(fake, "{\"type\":\"b\"}", "[2]"));
    CHECK(enqueued(fake, "{\"type\":\"email.welcome\",\"queue\":\"default\"}", "[]"));
    CHECK(enqueued(fake, "{}", "[0,1,2]"));
    CHECK(enqueued(other, "{}", "[]"));

    // A worker on the same client gets the jobs.
    OK(ojs_client_call(client, S("POST"), S("/workers/fetch"),
            S("{\"queues\":[\"mail\"],\"count\":9,\"worker_id\":\"w\"}"), &answer));
    CHECK(contains(ojs_buf_slice(answer), "ada@example.com"));
    ojs_buf_free(answer);
    ojs_fake_free(other);
    ojs_fake_free(fake);
    sign_up(client, "[\"grace@example.com\"]");
    ojs_client_free(client);
}

static void nothing(void) {
    ojs_client *client = NULL;
    ojs_buf *jobs = NULL;
    FAILS(OJS_CLASS_VALIDATION, "fake is NULL", ojs_fake_client(NULL, &client));
    FAILS(OJS_CLASS_VALIDATION, "fake is NULL", ojs_fake_enqueued(NULL, &jobs));
    OK(ojs_fake_new(NULL));
    ojs_fake_free(NULL);
}

int main(void) {
    records();
    nothing();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

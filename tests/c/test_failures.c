// Failed attempts of jobs: lines on stderr until the program collects log records, and log records from then on.
//
// Compiled as C and as C++, run under ASan, LSan and valgrind by scripts/c.sh. Prints "N passed, N failed".
#define _POSIX_C_SOURCE 200809L // fileno
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static void fails_always(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    (void)user_data;
    (void)job;
    OK(ojs_answer_fail(answer, S("smtp_down"), S("no such address"), true));
}

static void *run_worker(void *worker) {
    OK(ojs_worker_run((const ojs_worker *)worker, 1, fails_always, NULL, NULL));
    return NULL;
}

// The id in `{"job":{"specversion":"1.0","id":"…",…}}`.
static void id_of(const ojs_buf *answer, char id[40]) {
    const char mark[] = "\"id\":\"";
    ojs_slice text = ojs_buf_slice(answer);
    for (size_t at = 0; at + sizeof mark + 36 <= text.len; at++) {
        if (memcmp(text.ptr + at, mark, sizeof mark - 1) != 0) continue;
        snprintf(id, 40, "%.36s", (const char *)text.ptr + at + sizeof mark - 1);
        return;
    }
    CHECK(!"the answer has no id");
}

// Works a job whose only attempt fails.
static void one_failure(void) {
    ojs_client *client = NULL;
    ojs_worker *worker = NULL;
    ojs_buf *answer = NULL;
    OK(ojs_client_new(S("memory:"), NULL, &client));
    OK(ojs_client_enqueue(client, S("mail.send"), S("[\"planted-5ecret\"]"), S("{\"retry\":{\"max_attempts\":1}}"), &answer));
    OK(ojs_worker_new(client, NULL, &worker));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_worker, worker) == 0);
    char id[40] = "", path[96];
    id_of(answer, id);
    snprintf(path, sizeof path, "/jobs/%s/result?wait=true&timeout=25", id);
    OK(ojs_client_call(client, S("GET"), S(path), none(), NULL));
    OK(ojs_worker_stop(worker, -1));
    pthread_join(thread, NULL);
    ojs_buf_free(answer);
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// What is written to stderr meanwhile; as much as fits.
static void stderr_of(void (*body)(void), char *text, size_t size) {
    fflush(stderr);
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    CHECK(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    body();
    fflush(stderr);
    CHECK(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void records_are(bool wanted) {
    ojs_buf *records = NULL;
    OK(ojs_logs_pull(10, 0, &records));
    CHECK(contains(ojs_buf_slice(records), "job failed for good type=mail.send") == wanted);
    ojs_buf_free(records);
}

int main(void) {
    static char text[20000];
    OK(ojs_abi_check(OJS_ABI));
    stderr_of(one_failure, text, sizeof text);
    CHECK(contains(S(text), "ERROR ojs::worker: job failed for good type=mail.send id="));
    CHECK(contains(S(text), " queue=default attempt=1 of 1 "));
    CHECK(contains(S(text), "(smtp_down): no such address\n"));
    CHECK(!contains(S(text), "planted-5ecret"));

    // A program that collects records shows them itself, and one that wants none has said so.
    ojs_logs_level(2);
    stderr_of(one_failure, text, sizeof text);
    CHECK(equals(S(text), ""));
    records_are(true);
    ojs_logs_level(0);
    stderr_of(one_failure, text, sizeof text);
    CHECK(equals(S(text), ""));
    records_are(false);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

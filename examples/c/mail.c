// Sends a job and works it, in one process, on a file:
//
//     cc mail.c $(pkg-config --cflags --libs ojs) -o mail && ./mail sqlite:jobs.db
#include <ojs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ojs_slice text(const char *string) {
    ojs_slice slice = {(const uint8_t *)string, strlen(string)};
    return slice;
}

// Every function that can fail returns an error; here any of them ends the program.
static void must(ojs_error *error) {
    if (error == NULL) return;
    ojs_slice message = ojs_error_message(error);
    fprintf(stderr, "mail: %.*s\n", (int)message.len, (const char *)message.ptr);
    exit(1);
}

// Runs on a thread of the library. The job's arguments are in its envelope, as JSON.
static void send_email(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    ojs_worker *worker = (ojs_worker *)user_data;
    printf("%.*s, attempt %u\n", (int)job->job_type.len, (const char *)job->job_type.ptr, (unsigned)job->attempt);
    must(ojs_answer_result(answer, text("{\"sent\":true}")));
    must(ojs_worker_stop(worker, -1)); // one is enough for an example
}

int main(int count, char **arguments) {
    ojs_client *client;
    ojs_worker *worker;
    must(ojs_abi_check(OJS_ABI));
    must(ojs_client_new(text(count > 1 ? arguments[1] : "memory:"), NULL, &client));
    must(ojs_client_enqueue(client, text("email.send"), text("[\"ada@example.com\"]"), text("{}"), NULL));
    must(ojs_worker_new(client, NULL, &worker));
    must(ojs_worker_run(worker, 2, send_email, worker, NULL)); // until it is stopped
    ojs_worker_free(worker);
    must(ojs_client_close(client));
    ojs_client_free(client);
    return 0;
}

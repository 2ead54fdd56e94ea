// Handlers that do nothing, through the C interface: what the boundary costs without a language behind it. Prints one line of JSON.
//
//     noop URL JOBS PAYLOAD CONCURRENCY
#define _POSIX_C_SOURCE 200809L

#include "ojs.h"
#include "ojs_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 256, REQUEST = 1000 };

static void check(ojs_error *error) {
    if (!error) return;
    ojs_slice message = ojs_error_message(error);
    fprintf(stderr, "%.*s\n", (int)message.len, (const char *)message.ptr);
    exit(1);
}

static ojs_slice text(const char *bytes, size_t len) {
    ojs_slice slice = {(const uint8_t *)bytes, len};
    return slice;
}

static double clock_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fill(const ojs_client *client, long jobs, size_t payload) {
    char *body = (char *)malloc(REQUEST * (payload + 64) + 32);
    char *filler = (char *)malloc(payload + 1);
    memset(filler, 'x', payload);
    filler[payload] = 0;
    for (long sent = 0; sent < jobs;) {
        size_t len = (size_t)sprintf(body, "{\"jobs\":[");
        for (int n = 0; n < REQUEST && sent < jobs; n++, sent++) {
            len += (size_t)sprintf(body + len, "%s{\"type\":\"bench.noop\",\"args\":[%ld,\"%s\"]}", n ? "," : "", sent, filler);
        }
        len += (size_t)sprintf(body + len, "]}");
        check(ojs_client_call(client, text("POST", 4), text("/jobs/batch", 11), text(body, len), NULL));
    }
    free(filler);
    free(body);
}

static void put(uint8_t *at, uint64_t number, int bytes) {
    for (int n = 0; n < bytes; n++) at[n] = (uint8_t)(number >> (8 * n));
}

// The first argument: the text behind `"args":[`.
static long number_of(ojs_slice envelope) {
    static const char mark[] = "\"args\":[";
    for (size_t at = 0; at + sizeof mark < envelope.len; at++) {
        if (memcmp(envelope.ptr + at, mark, sizeof mark - 1) == 0) return strtol((const char *)envelope.ptr + at + sizeof mark - 1, NULL, 10);
    }
    return -1;
}

// Runs the jobs of a frame and answers them in one.
static long run(const ojs_worker *worker, const ojs_buf *frame, unsigned char *runs, long jobs) {
    static uint8_t outcomes[OJS_FRAME_HEADER + BATCH * OJS_FRAME_OUTCOME];
    size_t count = ojs_frame_count(frame), total = OJS_FRAME_HEADER + count * OJS_FRAME_OUTCOME;
    memset(outcomes, 0, total);
    put(outcomes + OJS_FRAME_AT_MAGIC, OJS_FRAME_OUTCOMES, 4);
    put(outcomes + OJS_FRAME_AT_VERSION, OJS_FRAME_VERSION, 2);
    put(outcomes + OJS_FRAME_AT_ENTRY_SIZE, OJS_FRAME_OUTCOME, 2);
    put(outcomes + OJS_FRAME_AT_COUNT, count, 4);
    put(outcomes + OJS_FRAME_AT_TOTAL, total, 4);
    for (size_t n = 0; n < count; n++) {
        ojs_job job;
        check(ojs_frame_job(frame, n, &job));
        long number = number_of(job.envelope);
        if (number >= 0 && number < jobs) runs[number]++;
        put(outcomes + OJS_FRAME_HEADER + n * OJS_FRAME_OUTCOME + OJS_FRAME_OUTCOME_TOKEN, job.token, 8);
    }
    check(ojs_worker_complete(worker, text((const char *)outcomes, total), 1, NULL));
    return (long)count;
}

int main(int count, char **words) {
    if (count != 5) {
        fputs("noop URL JOBS PAYLOAD CONCURRENCY\n", stderr);
        return 2;
    }
    long jobs = strtol(words[2], NULL, 10);
    ojs_client *client = NULL;
    check(ojs_client_new(text(words[1], strlen(words[1])), NULL, &client));
    fill(client, jobs, strtoul(words[3], NULL, 10));

    ojs_worker_options options;
    ojs_worker_options_init(&options);
    options.concurrency = (uint32_t)strtoul(words[4], NULL, 10);
    ojs_worker *worker = NULL;
    check(ojs_worker_new(client, &options, &worker));
    unsigned char *runs = (unsigned char *)calloc((size_t)jobs, 1);
    double began = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    check(ojs_worker_start(worker));
    for (long ran = 0; ran < jobs;) {
        ojs_buf *frame = NULL;
        ojs_pull status;
        check(ojs_worker_pull(worker, BATCH, -1, &frame, &status));
        if (status != OJS_PULL_JOBS) break;
        ran += run(worker, frame, runs, jobs);
        ojs_buf_free(frame);
    }
    double seconds = clock_of(CLOCK_MONOTONIC) - began;
    cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    bool over = false;
    check(ojs_worker_stop(worker, -1));
    check(ojs_worker_wait(worker, -1, &over));
    ojs_worker_free(worker);
    check(ojs_client_close(client));
    ojs_client_free(client);
    for (long n = 0; n < jobs; n++) {
        if (runs[n] != 1) {
            fprintf(stderr, "job %ld ran %d times\n", n, runs[n]);
            return 1;
        }
    }
    free(runs);
    printf("{\"jobs_per_second\": %.0f, \"cpu_us\": %.3f}\n", (double)jobs / seconds, cpu * 1e6 / (double)jobs);
    return 0;
}

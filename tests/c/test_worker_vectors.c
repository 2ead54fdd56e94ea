// The vectors of workers, through the C interface: what is reported for every outcome, and the requests of whole lives.
// tests/vectors/judge.py is the server, and tells which requests came.
//
//     test_worker_vectors tests/vectors/vectors.json tests/vectors/judge.py
//
// Prints "N passed, N failed".
#define _POSIX_C_SOURCE 200809L

#include "json.h"

#include "check.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, BEAT_MS = 20 };

// --- the server ---

typedef struct {
    pid_t process;
    int input;
    char url[64];
    ojs_client *client;
} judge_t;

static judge_t judge_start(const char *script) {
    judge_t judge;
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) exit(2);
    judge.process = fork();
    if (judge.process == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execlp("python3", "python3", script, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    judge.input = to[1];
    FILE *output = fdopen(from[0], "r");
    if (!output || fscanf(output, "listening on %63s", judge.url) != 1) {
        puts("judge.py did not start");
        exit(2);
    }
    fclose(output);
    ojs_client_options options;
    ojs_client_options_init(&options);
    options.max_sends = 1;
    options.timeout_ms = 60000;
    judge.client = NULL;
    OK(ojs_client_new(S(judge.url), &options, &judge.client));
    return judge;
}

static void judge_end(judge_t *judge) {
    OK(ojs_client_close(judge->client));
    ojs_client_free(judge->client);
    close(judge->input);
    waitpid(judge->process, NULL, 0);
}

// Counts the verdicts: all of them, or the one with this name.
static void verdicts(const judge_t *judge, const char *path, value_t wanted) {
    ojs_buf *answer = NULL;
    OK(ojs_client_call(judge->client, S("GET"), S(path), none(), &answer));
    ojs_slice text = ojs_buf_slice(answer);
    if (text.len == 0) return;
    json_t json = json_parse((const char *)text.ptr, text.len);
    value_t all = root_of(&json), verdict = first(all);
    CHECK(size_of(all) >= 14);
    for (size_t n = 0; n < size_of(all); n++, verdict = next(verdict)) {
        ojs_slice name = raw(member(verdict, "name")), found = raw(member(verdict, "found"));
        if (there(wanted) && !same(member(verdict, "name"), wanted)) continue;
        if (same(member(verdict, "found"), member(verdict, "expected"))) {
            passed++;
            continue;
        }
        failed++;
        printf("FAILED %.*s: %.*s\n", (int)name.len, (const char *)name.ptr, (int)found.len, (const char *)found.ptr);
    }
    free(json.tokens);
    ojs_buf_free(answer);
}

// --- outcomes ---

static void pause_a_moment(void) {
    const struct timespec moment = {0, 2000000};
    nanosleep(&moment, NULL);
}

static void fails_with(const ojs_answer *answer, value_t does) {
    text_t failure = {NULL, 0};
    value_t code = member(does, "code"), details = member(does, "details");
    push_text(&failure, "{\"retryable\":false,\"message\":");
    push_value(&failure, member(does, "refuse"));
    push_text(&failure, ",\"code\":");
    if (there(code)) push_value(&failure, code);
    else push_text(&failure, "\"non_retryable\"");
    if (there(details)) push_text(&failure, ",\"details\":");
    if (there(details)) push_value(&failure, details);
    push_text(&failure, "}");
    OK(ojs_answer_failure(answer, slice_of(&failure)));
    free(failure.at);
}

static void returns(const ojs_answer *answer, value_t value) {
    if (!there(value)) return;
    text_t result = {NULL, 0};
    push_value(&result, value);
    OK(ojs_answer_result(answer, slice_of(&result)));
    free(result.at);
}

// The handler that does what its argument says.
static void does(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    (void)user_data;
    json_t envelope = json_parse((const char *)job->envelope.ptr, job->envelope.len);
    value_t what = first(member(root_of(&envelope), "args"));
    if (there(member(what, "fail"))) {
        text_t message = unescaped(member(what, "fail"));
        OK(ojs_answer_fail(answer, none(), slice_of(&message), true));
        free(message.at);
    } else if (there(member(what, "refuse"))) {
        fails_with(answer, what);
    } else if (there(member(what, "snooze_ms"))) {
        OK(ojs_answer_snooze(answer, (uint64_t)number(member(what, "snooze_ms"))));
    } else if (there(member(what, "unserializable"))) {
        FAILS(OJS_CLASS_VALIDATION, "", ojs_answer_result(answer, S("{\"half\":")));
        OK(ojs_answer_fail(answer, S("serialization_error"), S("JSON has no form for it"), false));
    } else if (there(member(what, "wait")) || there(member(what, "wait_and_return"))) {
        while (ojs_answer_cancelled(answer) == OJS_CANCEL_NONE) pause_a_moment();
        if (there(member(what, "wait"))) OK(ojs_answer_release(answer));
        returns(answer, member(what, "wait_and_return"));
    } else {
        returns(answer, member(what, "return"));
    }
    free(envelope.tokens);
}

static void *run_outcomes(void *worker) {
    OK(ojs_worker_run((const ojs_worker *)worker, 0, does, NULL, NULL));
    return NULL;
}

static void outcomes(const judge_t *judge) {
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    ojs_slice queue = S("outcomes"), type = S("vector");
    options.queues = &queue;
    options.queue_count = 1;
    options.types = &type;
    options.type_count = 1;
    options.worker_id = S("vectors");
    options.heartbeat_ms = BEAT_MS;
    ojs_worker *worker = NULL;
    OK(ojs_worker_new(judge->client, &options, &worker));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_outcomes, worker) == 0);
    value_t any = {NULL, -1};
    verdicts(judge, "/verdicts/outcomes", any);
    OK(ojs_worker_stop(worker, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    ojs_worker_free(worker);
}

// --- lives ---

typedef struct {
    ojs_worker *worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t began;
    bool go;
} life_t;

static void hold(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    life_t *life = (life_t *)user_data;
    CHECK(equals(job->job_type, "hold"));
    pthread_mutex_lock(&life->lock);
    life->began++;
    pthread_cond_broadcast(&life->changed);
    bool go = life->go;
    pthread_mutex_unlock(&life->lock);
    while (!go && ojs_answer_cancelled(answer) == OJS_CANCEL_NONE) {
        pause_a_moment();
        pthread_mutex_lock(&life->lock);
        go = life->go;
        pthread_mutex_unlock(&life->lock);
    }
    if (!go) OK(ojs_answer_release(answer));
}

static void *run_life(void *user_data) {
    life_t *life = (life_t *)user_data;
    OK(ojs_worker_run(life->worker, 0, hold, life, NULL));
    return NULL;
}

static void all_began(life_t *life, size_t jobs) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&life->lock);
    while (life->began < jobs && pthread_cond_timedwait(&life->changed, &life->lock, &deadline) == 0) {
    }
    bool all = life->began == jobs;
    pthread_mutex_unlock(&life->lock);
    CHECK(all);
}

static void step(life_t *life, value_t name, value_t vector) {
    bool over = true;
    if (is(name, "began")) {
        all_began(life, size_of(member(vector, "jobs")));
    } else if (is(name, "go")) {
        pthread_mutex_lock(&life->lock);
        life->go = true;
        pthread_mutex_unlock(&life->lock);
    } else if (is(name, "quiet")) {
        OK(ojs_worker_quiet(life->worker));
    } else if (is(name, "stop")) {
        OK(ojs_worker_stop(life->worker, number(member(vector, "grace_ms"))));
    } else if (is(name, "stop_now")) {
        OK(ojs_worker_stop(life->worker, 0));
    } else {
        CHECK(is(name, "stopped"));
        OK(ojs_worker_wait(life->worker, PATIENCE_MS, &over));
    }
    CHECK(over);
}

static void live(const judge_t *judge, value_t vector) {
    ojs_slice name = raw(member(vector, "name"));
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    options.queues = &name;
    options.queue_count = 1;
    options.worker_id = name;
    options.heartbeat_ms = BEAT_MS;
    options.concurrency = (uint32_t)number(member(vector, "concurrency"));
    life_t life = {NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
    OK(ojs_worker_new(judge->client, &options, &life.worker));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_life, &life) == 0);
    for (int n = 0; ojs_worker_phase(life.worker) == OJS_PHASE_NEW && n < PATIENCE_MS; n++) pause_a_moment();
    value_t steps = member(vector, "steps"), at = first(steps);
    for (size_t n = 0; n < size_of(steps); n++, at = next(at)) step(&life, at, vector);
    OK(ojs_worker_stop(life.worker, 0));
    CHECK(pthread_join(thread, NULL) == 0);
    ojs_worker_free(life.worker);
    verdicts(judge, "/verdicts/lives", member(vector, "name"));
}

int main(int count, char **words) {
    if (count != 3) {
        fputs("test_worker_vectors tests/vectors/vectors.json tests/vectors/judge.py\n", stderr);
        return 2;
    }
    text_t text = file(words[1]);
    json_t json = json_parse(text.at, text.len);
    judge_t judge = judge_start(words[2]);
    outcomes(&judge);
    value_t lives = member(root_of(&json), "lives"), vector = first(lives);
    for (size_t n = 0; n < size_of(lives); n++, vector = next(vector)) {
        CHECK(known(vector, " name jobs steps concurrency grace_ms requests directive "));
        live(&judge, vector);
    }
    judge_end(&judge);
    free(json.tokens);
    free(text.at);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

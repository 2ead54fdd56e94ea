// Layers around enqueues and handlers, the trace and the tenant that go with jobs through both, and events: with the
// vectors of chains that all languages share.
//
//     test_layers tests/vectors/vectors.json
//
// Compiled as C and as C++, run under ASan, LSan and valgrind by scripts/c.sh. Prints "N passed, N failed".
#define _POSIX_C_SOURCE 200809L // nanosleep
#include "json.h"

#include "check.h"

#include <ojs_operations.h>

#include <pthread.h>
#include <time.h>

static ojs_client *client_of(const char *url) {
    ojs_client *client = NULL;
    OK(ojs_client_new(S(url), NULL, &client));
    return client;
}

static ojs_worker *worker_of(const ojs_client *client) {
    ojs_worker_options options;
    ojs_worker_options_init(&options);
    options.concurrency = 1; // layers write to one list
    ojs_worker *worker = NULL;
    OK(ojs_worker_new(client, &options, &worker));
    return worker;
}

static bool is_json(ojs_slice found, value_t expected) {
    json_t json = json_parse((const char *)found.ptr, found.len);
    bool good = same(root_of(&json), expected);
    free(json.tokens);
    return good;
}

// --- the vectors ---

// A list of texts, as JSON.
static void note(text_t *list, const char *before, const char *name, const char *after_) {
    push_text(list, list->len > 1 ? ",\"" : "\"");
    push_text(list, before);
    push_text(list, name);
    push_text(list, after_);
    push_text(list, "\"");
}

typedef struct {
    text_t *trace;
    char name[32], act[16];
} layer_t;

static int destroyed;

static void destroy(void *user_data) {
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
    free(user_data);
}

static layer_t *layer_of(value_t vector, const char *name, text_t *trace) {
    layer_t *layer = (layer_t *)calloc(1, sizeof *layer);
    ojs_slice act = raw(member(member(vector, "layers"), name));
    layer->trace = trace;
    snprintf(layer->name, sizeof layer->name, "%s", name);
    snprintf(layer->act, sizeof layer->act, "%.*s", (int)act.len, act.ptr ? (const char *)act.ptr : "");
    return layer;
}

static ojs_error *sender(void *user_data, ojs_slice request, const ojs_enqueue_next *next, ojs_buf **job) {
    layer_t *layer = (layer_t *)user_data;
    note(layer->trace, "", layer->name, ">");
    if (strcmp(layer->act, "stop") == 0) return NULL;
    if (strcmp(layer->act, "fail_before") == 0) return ojs_error_new(none(), S("not today"));
    ojs_buf *changed = NULL;
    if (strcmp(layer->act, "change") == 0) {
        char meta[64];
        snprintf(meta, sizeof meta, "{\"by\":\"%s\"}", layer->name);
        OK(ojs_request_with_meta(request, S(meta), false, &changed));
    }
    ojs_error *error = ojs_enqueue_next_run(next, ojs_buf_slice(changed), job);
    ojs_buf_free(changed);
    if (error) return error;
    if (strcmp(layer->act, "fail_after") == 0) return ojs_error_new(S("late"), none());
    note(layer->trace, "<", layer->name, "");
    return NULL;
}

static bool has_failed(const ojs_answer *answer) {
    uint32_t kind = 9;
    OK(ojs_answer_outcome(answer, &kind, NULL));
    return kind == 1;
}

static void runner(void *user_data, const ojs_job *job, const ojs_answer *answer, const ojs_handler_next *next) {
    layer_t *layer = (layer_t *)user_data;
    note(layer->trace, "", layer->name, ">");
    if (strcmp(layer->act, "stop") == 0) return;
    if (strcmp(layer->act, "fail_before") == 0) {
        OK(ojs_answer_fail(answer, none(), S("not today"), true));
        return;
    }
    OK(ojs_handler_next_run(next, job));
    if (strcmp(layer->act, "fail_after") == 0) OK(ojs_answer_fail(answer, none(), S("late"), true));
    if (has_failed(answer)) return; // failures travel outwards
    note(layer->trace, "<", layer->name, "");
}

// Changes a chain step by step, and compares what came of each and the names at the end.
static void arrange(value_t vector, ojs_client *client, ojs_worker *worker, text_t *trace) {
    text_t steps = {NULL, 0};
    push_text(&steps, "[");
    value_t all = member(vector, "do"), step = first(all);
    for (size_t n = 0; n < size_of(all); n++, step = next(step)) {
        value_t verb = first(step), word = next(verb);
        ojs_slice beside = size_of(step) == 3 ? raw(word) : none();
        text_t name = unescaped(size_of(step) == 3 ? next(word) : word);
        uint32_t place = is(verb, "prepend") ? OJS_LAYER_OUTERMOST : is(verb, "insert_before") ? OJS_LAYER_BEFORE
                       : is(verb, "insert_after") ? OJS_LAYER_AFTER : OJS_LAYER_INNERMOST;
        ojs_error *error = NULL;
        if (is(verb, "remove")) {
            error = client ? ojs_client_remove_layer(client, slice_of(&name)) : ojs_worker_remove_layer(worker,
                    slice_of(&name));
        } else if (client) {
            error = ojs_client_add_layer(client, slice_of(&name), place, beside, sender, layer_of(vector, name.at,
                    trace), destroy);
        } else {
            error = ojs_worker_add_layer(worker, slice_of(&name), place, beside, runner, layer_of(vector, name.at,
                    trace), destroy);
        }
        CHECK(error == NULL || ojs_error_class(error) == OJS_CLASS_VALIDATION);
        note(&steps, "", error ? "error" : "ok", "");
        ojs_error_free(error);
        free(name.at);
    }
    push_text(&steps, "]");
    CHECK(is_json(slice_of(&steps), member(vector, "steps")));
    free(steps.at);
    ojs_buf *names = NULL;
    if (client) OK(ojs_client_layers(client, &names));
    else OK(ojs_worker_layers(worker, &names));
    CHECK(is_json(ojs_buf_slice(names), member(vector, "names")));
    ojs_buf_free(names);
}

static void handler(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    (void)job;
    (void)answer;
    note((text_t *)user_data, "", "handler", "");
}

typedef struct {
    const ojs_worker *worker;
    ojs_handler_fn handler;
    void *user_data;
} run_t;

static void *run_worker(void *run) {
    run_t *it = (run_t *)run;
    OK(ojs_worker_run(it->worker, 1, it->handler, it->user_data, NULL));
    return NULL;
}

static pthread_t started(run_t *run) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_worker, run) == 0);
    while (ojs_worker_phase(run->worker) == OJS_PHASE_NEW) {
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    return thread;
}

// The id in `{"job":{…}}`.
static void id_of(const ojs_buf *answer, char id[40]) {
    json_t json = json_parse((const char *)ojs_buf_slice(answer).ptr, ojs_buf_slice(answer).len);
    ojs_slice found = raw(member(member(root_of(&json), "job"), "id"));
    snprintf(id, 40, "%.*s", (int)found.len, (const char *)found.ptr);
    free(json.tokens);
}

// Waits for the end of a job, and gives it.
static ojs_buf *ended(const ojs_client *client, const char *id) {
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s", id);
    for (int n = 0; n < 60000; n++) {
        ojs_buf *answer = NULL;
        OK(ojs_client_call(client, S("GET"), S(path), none(), &answer));
        ojs_slice text = ojs_buf_slice(answer);
        if (contains(text, "\"state\":\"completed\"") || contains(text, "\"state\":\"discarded\"")) return answer;
        ojs_buf_free(answer);
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    CHECK(!"the job has not ended");
    return NULL;
}

// One job through both chains.
static void one_job(value_t expected, ojs_client *client, ojs_worker *worker, text_t *sent, text_t *ran) {
    ojs_buf *answer = NULL;
    ojs_error *error = ojs_client_enqueue(client, S("a"), none(), S("{\"retry\":{\"max_attempts\":1}}"), &answer);
    const char *word = !error ? "enqueued" : ojs_error_class(error) == OJS_CLASS_NOT_ENQUEUED ? "dropped" : "failed";
    CHECK(is(member(expected, "enqueue"), word));
    if (!error) {
        char id[40];
        id_of(answer, id);
        run_t run = {worker, handler, ran};
        pthread_t thread = started(&run);
        ojs_buf *job = ended(client, id);
        OK(ojs_worker_stop(worker, 0));
        pthread_join(thread, NULL);
        json_t json = json_parse((const char *)ojs_buf_slice(job).ptr, ojs_buf_slice(job).len);
        value_t found = member(root_of(&json), "job");
        CHECK(same(member(found, "state"), member(expected, "state")));
        CHECK(same(member(member(found, "meta"), "by"), member(expected, "by")));
        free(json.tokens);
        ojs_buf_free(job);
        push_text(ran, "]");
        CHECK(is_json(slice_of(ran), member(expected, "ran")));
    }
    ojs_error_free(error);
    ojs_buf_free(answer);
    push_text(sent, "]");
    CHECK(is_json(slice_of(sent), member(expected, "sent")));
}

static void chain(value_t vector) {
    ojs_client *client = client_of("memory:");
    ojs_worker *worker = worker_of(client);
    text_t sent = {NULL, 0}, ran = {NULL, 0};
    push_text(&sent, "[");
    push_text(&ran, "[");
    int failures = failed;
    if (!is(member(vector, "chain"), "execution")) arrange(vector, client, NULL, &sent);
    if (!is(member(vector, "chain"), "enqueue")) arrange(vector, NULL, worker, &ran);
    if (there(member(vector, "trace"))) one_job(member(vector, "trace"), client, worker, &sent, &ran);
    ojs_slice name = raw(member(vector, "name"));
    if (failed > failures) printf("in chain: %.*s\n", (int)name.len, (const char *)name.ptr);
    ojs_worker_free(worker);
    ojs_client_free(client);
    free(sent.at);
    free(ran.at);
}

static void vectors(const char *path) {
    text_t text = file(path);
    json_t json = json_parse(text.at, text.len);
    value_t list = member(root_of(&json), "chains"), vector = first(list);
    CHECK(size_of(list) >= 40);
    for (size_t n = 0; n < size_of(list); n++, vector = next(vector)) {
        CHECK(known(vector, " name chain do layers names steps trace "));
        chain(vector);
    }
    free(json.tokens);
    free(text.at);
    CHECK(destroyed > 80);
}

// --- what layers may do ---

static ojs_error *drops(void *user_data, ojs_slice request, const ojs_enqueue_next *next, ojs_buf **job) {
    (void)user_data;
    return contains(request, "drop") ? NULL : ojs_enqueue_next_run(next, none(), job);
}

static ojs_error *twice(void *user_data, ojs_slice request, const ojs_enqueue_next *next, ojs_buf **job) {
    (void)user_data;
    (void)request;
    FAILS(OJS_CLASS_VALIDATION, "must be a JSON object", ojs_enqueue_next_run(next, S("[]"), job));
    FAILS(OJS_CLASS_VALIDATION, "request is not UTF-8", ojs_enqueue_next_run(next, invalid_utf8(), job));
    OK(ojs_enqueue_next_run(next, none(), NULL)); // what came back goes outwards all the same
    FAILS(OJS_CLASS_VALIDATION, "called next twice", ojs_enqueue_next_run(next, none(), job));
    return NULL;
}

static void enqueues(const char *url) {
    ojs_client *client = client_of(url), *tenant = NULL;
    OK(ojs_client_of_tenant(client, S("acme"), &tenant));
    OK(ojs_client_add_layer(client, S("drops"), OJS_LAYER_INNERMOST, none(), drops, NULL, NULL));
    OK(ojs_client_add_layer(tenant, S("twice"), OJS_LAYER_OUTERMOST, none(), twice, NULL, NULL));
    ojs_buf *out = NULL;
    OK(ojs_client_enqueue(client, S("kept"), none(), none(), &out));
    CHECK(contains(ojs_buf_slice(out), "{\"job\":{\"") && contains(ojs_buf_slice(out), "\"type\":\"kept\""));
    ojs_buf_free(out);
    FAILS(OJS_CLASS_NOT_ENQUEUED, "", ojs_client_enqueue(tenant, S("drop.this"), none(), none(), &out));
    CHECK(out == NULL);
    ojs_slice two = S("{\"jobs\":[{\"type\":\"kept\",\"args\":[1]},{\"type\":\"dropped\",\"args\":[2]}]}");
    OK(ojs_client_call(client, S("POST"), S("/jobs/batch"), two, &out));
    CHECK(contains(ojs_buf_slice(out), "\"type\":\"kept\"") && !contains(ojs_buf_slice(out), "dropped"));
    ojs_buf_free(out);
    OK(ojs_client_call(client, S("POST"), S("/jobs/bulk"), two, &out));
    CHECK(!contains(ojs_buf_slice(out), "dropped"));
    ojs_buf_free(out);
    ojs_slice all = S("{\"jobs\":[{\"type\":\"drop.this\",\"args\":[]}]}");
    FAILS(OJS_CLASS_NOT_ENQUEUED, "", ojs_client_call(client, S("POST"), S("/jobs/batch"), all, &out));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_call(client, S("POST"), S("/jobs"), S("[]"), &out));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_call(client, S("POST"), S("/jobs/batch"), S("{}"), &out));
    // Rows of an outbox pass the layers as well.
    OK(ojs_outbox_encrypted(client, S("{\"type\":\"kept\",\"args\":[]}"), &out));
    CHECK(equals(ojs_buf_slice(out), "{\"type\":\"kept\",\"args\":[]}"));
    ojs_buf_free(out);
    FAILS(OJS_CLASS_NOT_ENQUEUED, "", ojs_outbox_encrypted(client, S("{\"type\":\"drop\",\"args\":[]}"), &out));
    // In use by now.
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_add_layer(client, S("late"), OJS_LAYER_INNERMOST, none(), drops, NULL,
            NULL));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_remove_layer(client, S("drops")));
    ojs_client_free(tenant);
    ojs_client_free(client);
}

static void run_twice(void *user_data, const ojs_job *job, const ojs_answer *answer, const ojs_handler_next *next) {
    (void)job;
    OK(ojs_handler_next_run(next, NULL));
    FAILS(OJS_CLASS_VALIDATION, "called next twice", ojs_handler_next_run(next, job));
    uint32_t kind = 9;
    ojs_buf *payload = NULL;
    OK(ojs_answer_outcome(answer, &kind, &payload));
    if (kind == 1) CHECK(contains(ojs_buf_slice(payload), "\"message\":\"broken\"") && contains(ojs_buf_slice(payload),
            "\"retryable\":false"));
    else CHECK(kind == 0 && equals(ojs_buf_slice(payload), "{\"sum\":42}"));
    ojs_buf_free(payload);
    if (kind == 1) OK(ojs_answer_result(answer, S("\"mended\"")));
    ++*(int *)user_data;
}

static void sums(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    (void)user_data;
    if (equals(job->job_type, "broken")) OK(ojs_answer_fail(answer, none(), S("broken"), false));
    else OK(ojs_answer_result(answer, S("{\"sum\":42}")));
}

static void outcomes_of_layers(const char *url) {
    ojs_client *client = client_of(url);
    ojs_worker *worker = worker_of(client);
    int runs = 0;
    OK(ojs_worker_add_layer(worker, S("twice"), OJS_LAYER_INNERMOST, none(), run_twice, &runs, NULL));
    run_t run = {worker, sums, NULL};
    pthread_t thread = started(&run);
    const char *types[] = {"whole", "broken"}, *results[] = {"\"result\":{\"sum\":42}", "\"result\":\"mended\""};
    for (int n = 0; n < 2; n++) {
        ojs_buf *answer = NULL;
        OK(ojs_client_enqueue(client, S(types[n]), none(), none(), &answer));
        char id[40];
        id_of(answer, id);
        ojs_buf_free(answer);
        ojs_buf *job = ended(client, id);
        CHECK(contains(ojs_buf_slice(job), results[n]));
        ojs_buf_free(job);
    }
    FAILS(OJS_CLASS_VALIDATION, "", ojs_worker_add_layer(worker, S("late"), OJS_LAYER_INNERMOST, none(), run_twice,
            NULL, NULL));
    OK(ojs_worker_stop(worker, 0));
    pthread_join(thread, NULL);
    CHECK(runs == 2);
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// --- the trace ---

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ojs_buf *body;
    bool over;
} call_t;

static void done(void *user_data, ojs_error *error, ojs_buf *body) {
    call_t *call = (call_t *)user_data;
    OK(error);
    pthread_mutex_lock(&call->lock);
    call->body = body;
    call->over = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
}

static void context_is(const char *expected) {
    ojs_buf *context = NULL;
    OK(ojs_context_get(&context));
    CHECK(equals(ojs_buf_slice(context), expected));
    ojs_buf_free(context);
}

// The handler of the first job makes the second, and neither says anything about the trace or the tenant.
static void makes_another(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    if (!equals(job->job_type, "outer")) return;
    ojs_buf *made = NULL;
    OK(ojs_client_enqueue((const ojs_client *)user_data, S("inner"), none(), none(), &made));
    char id[40], result[48];
    id_of(made, id);
    snprintf(result, sizeof result, "\"%s\"", id);
    OK(ojs_answer_result(answer, S(result)));
    ojs_buf_free(made);
}

static void traced(void *user_data, const ojs_job *job, const ojs_answer *answer) {
    if (equals(job->job_type, "outer")) context_is("{\"traceparent\":\"" PARENT "\"}");
    makes_another(user_data, job, answer);
}

// A worker with both layers of the context.
static ojs_worker *context_worker(ojs_client *client) {
    ojs_worker *worker = worker_of(client);
    OK(ojs_client_add_layer(client, S("request_context"), OJS_LAYER_INNERMOST, none(), ojs_context_carry, NULL, NULL));
    OK(ojs_worker_add_layer(worker, S("request_context"), OJS_LAYER_INNERMOST, none(), ojs_context_restore, NULL,
            NULL));
    return worker;
}

// The job that the handler of the job `id` has made, when it has ended. Takes the place of `id`.
static ojs_buf *inner_of(ojs_client *client, char id[40]) {
    ojs_buf *outer = ended(client, id);
    json_t json = json_parse((const char *)ojs_buf_slice(outer).ptr, ojs_buf_slice(outer).len);
    ojs_slice made = raw(member(member(root_of(&json), "job"), "result"));
    snprintf(id, 40, "%.*s", (int)made.len, (const char *)made.ptr);
    free(json.tokens);
    ojs_buf_free(outer);
    return ended(client, id);
}

static void traces(const char *url) {
    ojs_client *client = client_of(url);
    ojs_worker *worker = context_worker(client);
    context_is("{}");
    FAILS(OJS_CLASS_VALIDATION, "meta must be a JSON object", ojs_context_set(S("7")));
    OK(ojs_context_set(S("{\"traceparent\":\"" PARENT "\"}")));
    // A call with a callback runs on another thread, and carries it as well.
    call_t call = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false};
    OK(ojs_client_call_async(client, S("POST"), S("/jobs"), S("{\"type\":\"outer\",\"args\":[],\"meta\":{\"k\":1}}"),
            done, &call));
    pthread_mutex_lock(&call.lock);
    while (!call.over) pthread_cond_wait(&call.changed, &call.lock);
    pthread_mutex_unlock(&call.lock);
    CHECK(contains(ojs_buf_slice(call.body), "\"traceparent\":\"" PARENT "\"") && contains(ojs_buf_slice(call.body),
            "\"k\":1"));
    ojs_buf *own = NULL;
    OK(ojs_client_call(client, S("POST"), S("/jobs"),
            S("{\"type\":\"own\",\"args\":[],\"meta\":{\"traceparent\":\"mine\"}}"), &own));
    CHECK(contains(ojs_buf_slice(own), "\"traceparent\":\"mine\"") && !contains(ojs_buf_slice(own), PARENT));
    ojs_buf_free(own);
    OK(ojs_context_set(none()));
    context_is("{}");
    OK(ojs_client_enqueue(client, S("bare"), none(), none(), &own));
    CHECK(!contains(ojs_buf_slice(own), "traceparent"));
    ojs_buf_free(own);

    run_t run = {worker, traced, client};
    pthread_t thread = started(&run);
    char id[40];
    id_of(call.body, id);
    ojs_buf_free(call.body);
    ojs_buf *inner = inner_of(client, id);
    CHECK(contains(ojs_buf_slice(inner), "\"traceparent\":\"" PARENT "\""));
    ojs_buf_free(inner);
    OK(ojs_worker_stop(worker, 0));
    pthread_join(thread, NULL);
    ojs_worker_free(worker);
    ojs_client_free(client);
}

// A job names its tenant by its option; what its handler makes belongs to the same, and a client of the tenant sees both.
static void tenants(const char *url) {
    ojs_client *client = client_of(url), *acme = NULL, *globex = NULL;
    ojs_worker *worker = context_worker(client);
    OK(ojs_client_of_tenant(client, S("acme"), &acme));
    OK(ojs_client_of_tenant(client, S("globex"), &globex));
    ojs_buf *outer = NULL;
    OK(ojs_client_enqueue(client, S("outer"), none(), S("{\"tenant\":\"acme\"}"), &outer));
    CHECK(contains(ojs_buf_slice(outer), "\"tenant_id\":\"acme\""));
    char id[40];
    id_of(outer, id);
    ojs_buf_free(outer);
    run_t run = {worker, makes_another, client};
    pthread_t thread = started(&run);
    ojs_buf *inner = inner_of(client, id);
    CHECK(contains(ojs_buf_slice(inner), "\"tenant_id\":\"acme\""));
    ojs_buf_free(inner);
    ojs_buf *seen = NULL;
    OK(ojs_get_job(acme, S(id), &seen));
    ojs_buf_free(seen);
    FAILS(OJS_CLASS_NOT_FOUND, "", ojs_get_job(globex, S(id), &seen));
    OK(ojs_worker_stop(worker, 0));
    pthread_join(thread, NULL);
    ojs_worker_free(worker);
    ojs_client_free(globex);
    ojs_client_free(acme);
    ojs_client_free(client);
}

// --- events ---

static void *waits(void *events) {
    ojs_buf *event = (ojs_buf *)&passed;
    OK(ojs_events_next((const ojs_events *)events, -1, &event));
    CHECK(event == NULL);
    return NULL;
}

static void events(const char *url) {
    ojs_client *client = client_of(url);
    ojs_events *list = (ojs_events *)&passed;
    FAILS(OJS_CLASS_VALIDATION, "unknown field `kinds`", ojs_events_new(client, S("{\"kinds\":[]}"), &list));
    CHECK(list == NULL);
    OK(ojs_events_new(client, S("{\"types\":[\"job.*\"],\"queues\":[\"mail\"],\"after\":\"\"}"), &list));
    ojs_buf *event = NULL, *job = NULL;
    for (int n = 0; n < 3; n++) {
        OK(ojs_client_enqueue(client, S("a"), none(), S("{\"queue\":\"mail\"}"), &job));
        char id[40];
        id_of(job, id);
        ojs_buf_free(job);
        OK(ojs_events_next(list, -1, &event));
        json_t json = json_parse((const char *)ojs_buf_slice(event).ptr, ojs_buf_slice(event).len);
        value_t found = root_of(&json);
        CHECK(is(member(found, "type"), "job.enqueued") && is(member(found, "subject"), id));
        CHECK(raw(member(found, "id")).len > 0 && raw(member(found, "time")).len >= 20 && there(member(found, "data")));
        free(json.tokens);
        ojs_buf_free(event);
    }
    OK(ojs_events_next(list, 20, &event)); // nothing happens
    CHECK(event == NULL);
    FAILS(OJS_CLASS_VALIDATION, "event is NULL", ojs_events_next(list, 0, NULL));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waits, list) == 0);
    ojs_events_unblock(list); // also when the thread has not come to wait yet
    pthread_join(thread, NULL);
    ojs_events_free(list);
    ojs_client_free(client);
}

static void nobody_there(void) {
    ojs_client_options options;
    ojs_client_options_init(&options);
    options.max_sends = 1;
    ojs_client *client = NULL;
    OK(ojs_client_new(S("http://127.0.0.1:9"), &options, &client));
    ojs_events *list = NULL;
    OK(ojs_events_new(client, none(), &list));
    ojs_buf *event = NULL;
    FAILS(OJS_CLASS_CONNECTION, "ojs server", ojs_events_next(list, -1, &event));
    FAILS(OJS_CLASS_CLOSED, "", ojs_events_next(list, -1, &event));
    ojs_events_free(list);
    ojs_client_free(client);
}

static void nothing(void) {
    ojs_client *client = client_of("memory:");
    ojs_worker *worker = worker_of(client);
    ojs_buf *out = (ojs_buf *)&passed;
    int before = destroyed;
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_add_layer(NULL, S("a"), 0, none(), sender, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "layer is NULL", ojs_client_add_layer(client, S("a"), 0, none(), NULL, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "needs a name", ojs_client_add_layer(client, none(), 0, none(), sender, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "place is 4", ojs_client_add_layer(client, S("a"), 4, none(), sender, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "", ojs_client_add_layer(client, S("a"), OJS_LAYER_AFTER, S("b"), sender, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_add_layer(NULL, S("a"), 0, none(), runner, malloc(1),
            destroy));
    FAILS(OJS_CLASS_VALIDATION, "layer is NULL", ojs_worker_add_layer(worker, S("a"), 0, none(), NULL, malloc(1),
            destroy));
    CHECK(destroyed == before + 7);
    OK(ojs_client_add_layer(client, S("a"), 0, none(), sender, malloc(1), destroy));
    OK(ojs_client_remove_layer(client, S("a")));
    CHECK(destroyed == before + 8);
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_remove_layer(NULL, S("a")));
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_remove_layer(NULL, S("a")));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_client_layers(NULL, &out));
    CHECK(out == NULL);
    FAILS(OJS_CLASS_VALIDATION, "worker is NULL", ojs_worker_layers(NULL, &out));
    FAILS(OJS_CLASS_VALIDATION, "next is NULL", ojs_enqueue_next_run(NULL, none(), &out));
    FAILS(OJS_CLASS_VALIDATION, "next is NULL", ojs_handler_next_run(NULL, NULL));
    FAILS(OJS_CLASS_VALIDATION, "next is NULL", ojs_context_carry(NULL, S("{}"), NULL, &out));
    ojs_context_restore(NULL, NULL, NULL, NULL);
    FAILS(OJS_CLASS_VALIDATION, "answer is NULL", ojs_answer_outcome(NULL, NULL, &out));
    FAILS(OJS_CLASS_VALIDATION, "a job must be", ojs_request_with_meta(none(), S("{}"), true, &out));
    FAILS(OJS_CLASS_VALIDATION, "meta must be", ojs_request_with_meta(S("{}"), none(), true, &out));
    FAILS(OJS_CLASS_VALIDATION, "client is NULL", ojs_events_new(NULL, none(), NULL));
    FAILS(OJS_CLASS_VALIDATION, "events is NULL", ojs_events_next(NULL, 0, &out));
    ojs_events_unblock(NULL);
    ojs_events_free(NULL);
    FAILS(OJS_CLASS_VALIDATION, "a layer has refused", ojs_error_new(none(), none()));
    ojs_error *error = ojs_error_new(S("too_late"), S("not after nine"));
    CHECK(equals(ojs_error_code(error), "too_late") && contains(ojs_error_json(error),
            "\"message\":\"not after nine\""));
    ojs_error_free(error);
    ojs_worker_free(worker);
    ojs_client_free(client);
}

int main(int count, char **words) {
    if (count != 2) {
        fputs("test_layers tests/vectors/vectors.json\n", stderr);
        return 2;
    }
    vectors(words[1]);
    nothing();
    nobody_there();
    void (*const tests[])(const char *) = {enqueues, outcomes_of_layers, traces, tenants, events};
    for (int n = 0; n < 5; n++) {
        ojs_server *server = NULL;
        OK(ojs_server_start(S("memory:"), S("127.0.0.1:0"), false, &server));
        char url[64];
        snprintf(url, sizeof url, "%.*s", (int)ojs_server_url(server).len, (const char *)ojs_server_url(server).ptr);
        tests[n](url);
        ojs_server_free(server);
        tests[n]("memory:");
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

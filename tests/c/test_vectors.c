// The vectors that all languages share, through the C interface: requests and what goes over the wire, answers and the errors they become,
// policies, keys of unique jobs, fakes. A transport of this program's own plays the server. The order of middleware is
// in test_layers.c.
//
//     test_vectors tests/vectors/vectors.json
//
// Prints "N passed, N failed".
#include "json.h"

#include "check.h"

#include <string.h>

static const char *kind = "";

// Counts one vector, and says which it was when it failed.
static void vector_is(value_t vector, bool good, const char *what, ojs_slice found) {
    if (good) {
        passed++;
        return;
    }
    failed++;
    ojs_slice name = raw(member(vector, "name"));
    printf("FAILED %s: %.*s: %s: %.*s\n", kind, (int)name.len, (const char *)name.ptr, what, (int)found.len, found.ptr ? (const char *)found.ptr : "");
}

// --- the server that this program plays ---

typedef struct {
    ojs_transport *transport;
    ojs_client *client;
    ojs_error *error;
    ojs_buf *received;
} wire_t;

static void done(void *user_data, ojs_error *error, ojs_buf *body) {
    ojs_buf_free(body);
    // The call is over: a thread that waits for a request gets none.
    wire_t *wire = (wire_t *)user_data;
    wire->error = error;
    ojs_transport_close(wire->transport);
}

// Makes a call, answers it, and keeps its body and the error it ended in.
static wire_t exchange(const char *method, const char *path, ojs_slice body, uint16_t status, ojs_slice answer) {
    wire_t wire = {NULL, NULL, NULL, NULL};
    OK(ojs_transport_new(&wire.transport));
    OK(ojs_client_over(wire.transport, &wire.client));
    OK(ojs_client_call_async(wire.client, S(method), S(path), body, done, &wire));
    ojs_request request;
    OK(ojs_transport_pull(wire.transport, 60000, &request));
    wire.received = request.body;
    ojs_buf_free(request.method);
    ojs_buf_free(request.path);
    OK(ojs_transport_reply(wire.transport, request.ticket, status, answer));
    FAILS(OJS_CLASS_CLOSED, "", ojs_transport_pull(wire.transport, 60000, &request));
    return wire;
}

static void hang_up(wire_t *wire) {
    ojs_error_free(wire->error);
    ojs_buf_free(wire->received);
    ojs_client_free(wire->client);
    ojs_transport_free(wire->transport);
}

// --- what a C program would write ---

// What a program that says nothing leaves out.
static bool is_default(ojs_slice name, value_t value) {
    return (equals(name, "queue") && is(value, "default")) || (equals(name, "priority") && is(value, "0")) ||
           ((equals(name, "tags") || equals(name, "meta")) && size_of(value) == 0);
}

static void push_member(text_t *out, const char *before, ojs_slice name, value_t value) {
    push_text(out, before);
    push_text(out, "\"");
    push(out, (const char *)name.ptr, name.len);
    push_text(out, "\":");
    push_value(out, value);
}

static bool of_the_envelope(ojs_slice name) { return equals(name, "meta") || equals(name, "schema"); }

// A job: type, args, metadata and schema, options. `unique` may be missing.
static text_t job(value_t vector, value_t unique) {
    text_t out = {NULL, 0}, rest = {NULL, 0};
    push_member(&out, "{", S("type"), member(vector, "type"));
    push_member(&out, ",", S("args"), member(vector, "args"));
    value_t given = member(vector, "options"), name = there(given) ? first(given) : given;
    for (size_t n = 0; n < size_of(given); n++) {
        value_t value = {name.in, name.at + 1};
        if (of_the_envelope(raw(name)) && !is_default(raw(name), value)) push_member(&out, ",", raw(name), value);
        if (!of_the_envelope(raw(name)) && !is_default(raw(name), value)) push_member(&rest, rest.len ? "," : "", raw(name), value);
        name.at = after(value);
    }
    if (there(unique)) {
        push_member(&rest, rest.len ? "," : "", S("unique"), unique);
        rest.len--; // the policy is still open
        push_text(&rest, size_of(unique) ? ",\"on_conflict\":\"reject\"}" : "\"on_conflict\":\"reject\"}");
    }
    if (rest.len) {
        push_text(&out, ",\"options\":{");
        push(&out, rest.at, rest.len);
        push_text(&out, "}");
    }
    push_text(&out, "}");
    free(rest.at);
    return out;
}

static void push_workflow(text_t *out, value_t tree);

// A graph: each step has a name and those before it beside the members of its job.
static void push_graph(text_t *out, value_t tree, value_t nodes) {
    push_text(out, "{\"type\":\"graph\",\"steps\":[");
    value_t node = first(nodes);
    for (size_t at = 0; at < size_of(nodes); at++, node = next(node)) {
        if (at) push_text(out, ",");
        push_workflow(out, member(node, "step"));
        out->len--; // the step is still open
        push_member(out, ",", S("id"), member(node, "id"));
        if (there(member(node, "after"))) push_member(out, ",", S("depends_on"), member(node, "after"));
        push_text(out, "}");
    }
    push_text(out, "]");
    if (there(member(tree, "name"))) push_member(out, ",", S("name"), member(tree, "name"));
    push_text(out, "}");
}

// A workflow in its shortest form, or a step of one.
static void push_workflow(text_t *out, value_t tree) {
    static const char *kinds[] = {"chain", "group", "batch"};
    if (there(member(tree, "graph"))) {
        push_graph(out, tree, member(tree, "graph"));
        return;
    }
    for (int n = 0; n < 3; n++) {
        value_t steps = member(tree, kinds[n]);
        if (!there(steps)) continue;
        push_text(out, "{\"type\":\"");
        push_text(out, kinds[n]);
        push_text(out, n == 0 ? "\",\"steps\":[" : "\",\"jobs\":[");
        value_t step = first(steps);
        for (size_t at = 0; at < size_of(steps); at++, step = next(step)) {
            if (at) push_text(out, ",");
            push_workflow(out, step);
        }
        push_text(out, "]");
        if (there(member(tree, "name"))) push_member(out, ",", S("name"), member(tree, "name"));
        if (there(member(tree, "callbacks"))) push_member(out, ",", S("callbacks"), member(tree, "callbacks"));
        push_text(out, "}");
        return;
    }
    push_value(out, tree);
}

// --- the vectors ---

static bool same_text(ojs_slice found, value_t expected) {
    json_t json = json_parse((const char *)found.ptr, found.len);
    bool good = same(root_of(&json), expected);
    free(json.tokens);
    return good;
}

static void request(value_t vector) {
    text_t body = job(vector, member(vector, "unique"));
    wire_t wire = exchange("POST", "/jobs", slice_of(&body), 201, S("{\"job\":{\"id\":\"x\"}}"));
    ojs_slice received = ojs_buf_slice(wire.received);
    vector_is(vector, wire.error == NULL && same_text(received, member(vector, "body")), "body", received);
    if (there(member(vector, "text"))) {
        text_t text = unescaped(member(vector, "text"));
        vector_is(vector, received.len == text.len && memcmp(received.ptr, text.at, text.len) == 0, "text", received);
        free(text.at);
    }
    hang_up(&wire);
    free(body.at);
}

static void workflow(value_t vector) {
    text_t body = {NULL, 0};
    push_workflow(&body, member(vector, "workflow"));
    wire_t wire = exchange("POST", "/workflows", slice_of(&body), 201, S("{\"workflow\":{\"id\":\"x\"}}"));
    vector_is(vector, wire.error == NULL && same_text(ojs_buf_slice(wire.received), member(vector, "body")), "body", ojs_buf_slice(wire.received));
    hang_up(&wire);
    free(body.at);
}

static void cron(value_t vector) {
    text_t body = {NULL, 0};
    value_t given = member(vector, "cron"), name = first(given);
    for (size_t n = 0; n < size_of(given); n++) {
        value_t value = {name.in, name.at + 1};
        push_member(&body, n ? "," : "{", is(name, "job") ? S("job_template") : raw(name), value);
        name.at = after(value);
    }
    push_text(&body, "}");
    wire_t wire = exchange("POST", "/cron", slice_of(&body), 201, S("{\"cron\":{\"name\":\"x\"}}"));
    vector_is(vector, wire.error == NULL && same_text(ojs_buf_slice(wire.received), member(vector, "body")), "body", ojs_buf_slice(wire.received));
    hang_up(&wire);
    free(body.at);
}

static void error_is(value_t vector, const ojs_error *error) {
    static const char *members[] = {"code", "message", "hint", "details", "retryable", "status"};
    value_t expected = member(vector, "error");
    ojs_slice found = ojs_error_json(error);
    json_t json = json_parse((const char *)found.ptr, found.len);
    bool good = ojs_error_class(error) == (ojs_class)number(member(expected, "class")) && ojs_error_status(error) == number(member(expected, "status")) &&
                ojs_error_retryable(error) == is(member(expected, "retryable"), "true");
    for (size_t n = 0; n < sizeof members / sizeof *members; n++) good = good && same(member(root_of(&json), members[n]), member(expected, members[n]));
    vector_is(vector, good, "error", found);
    free(json.tokens);
}

static void answer(value_t vector) {
    text_t body = {NULL, 0};
    push_value(&body, member(vector, "answer"));
    uint16_t status = (uint16_t)number(member(vector, "status"));
    wire_t wire = exchange("GET", "/jobs/x", none(), status, slice_of(&body));
    error_is(vector, wire.error);
    ojs_error *error = ojs_error_of(status, slice_of(&body));
    error_is(vector, error);
    ojs_error_free(error);
    hang_up(&wire);
    free(body.at);
}

static ojs_client *engine(void) {
    ojs_client *client = NULL;
    OK(ojs_client_new(S("memory:"), NULL, &client));
    return client;
}

// What the engine says to a job: its `details`, as a text, or nothing.
static text_t detail(const ojs_error *error, const char *name) {
    json_t json = json_parse((const char *)ojs_error_json(error).ptr, ojs_error_json(error).len);
    value_t value = member(member(root_of(&json), "details"), name);
    text_t text = {NULL, 0};
    push(&text, (const char *)raw(value).ptr, raw(value).len);
    free(json.tokens);
    return text;
}

static bool is_text(value_t value, ojs_slice text) { return raw(value).len == text.len && (text.len == 0 || memcmp(raw(value).ptr, text.ptr, text.len) == 0); }

static void policy(value_t vector) {
    ojs_client *client = engine();
    text_t body = job(vector, member(vector, "unique"));
    ojs_error *error = ojs_client_call(client, S("POST"), S("/jobs"), slice_of(&body), NULL);
    value_t expected = member(vector, "error");
    bool good = there(expected) == (error != NULL);
    if (good && error) {
        text_t field = detail(error, "field");
        good = ojs_error_class(error) == (ojs_class)number(member(expected, "class")) && is_text(member(expected, "code"), ojs_error_code(error)) &&
               is_text(member(expected, "field"), slice_of(&field));
        free(field.at);
    }
    vector_is(vector, good, "error", ojs_error_json(error));
    ojs_error_free(error);
    free(body.at);
    ojs_client_free(client);
}

static bool holds(ojs_slice text, ojs_slice part) {
    for (size_t at = 0; at + part.len <= text.len; at++) {
        if (memcmp(text.ptr + at, part.ptr, part.len) == 0) return true;
    }
    return false;
}

static void refusal(value_t vector) {
    ojs_client *client = engine();
    text_t body = {NULL, 0};
    ojs_slice options = raw(member(vector, "options"));
    push_text(&body, "{\"type\":\"email.send\",\"args\":[],\"options\":");
    push(&body, (const char *)options.ptr, options.len);
    push_text(&body, "}");
    ojs_error *error = ojs_client_call(client, S("POST"), S("/jobs"), slice_of(&body), NULL);
    ojs_slice found = error ? ojs_error_message(error) : S("no error");
    vector_is(vector, error != NULL && holds(found, raw(member(vector, "says"))), "says", found);
    ojs_error_free(error);
    free(body.at);
    ojs_client_free(client);
}

static void key(value_t vector) {
    ojs_client *client = engine();
    text_t body = job(vector, member(vector, "unique"));
    OK(ojs_client_call(client, S("POST"), S("/jobs"), slice_of(&body), NULL));
    ojs_error *error = ojs_client_call(client, S("POST"), S("/jobs"), slice_of(&body), NULL);
    text_t found = {NULL, 0};
    if (error) found = detail(error, "unique_key");
    vector_is(vector, ojs_error_class(error) == OJS_CLASS_DUPLICATE && is_text(member(vector, "key"), slice_of(&found)), "key", slice_of(&found));
    free(found.at);
    ojs_error_free(error);
    free(body.at);
    ojs_client_free(client);
}

// What a fake finds of a question, or why it cannot be asked.
static void question(value_t vector, value_t asked, ojs_slice jobs) {
    text_t wanted = {NULL, 0};
    push_value(&wanted, member(asked, "wanted"));
    ojs_buf *places = NULL;
    ojs_error *error = ojs_fake_matching(jobs, slice_of(&wanted), &places);
    bool good = known(asked, " wanted found error ");
    if (error) {
        good = good && is_text(member(asked, "error"), ojs_error_message(error));
    } else {
        json_t json = json_parse((const char *)ojs_buf_slice(places).ptr, ojs_buf_slice(places).len);
        value_t found = member(asked, "found");
        good = good && there(found) && size_of(root_of(&json)) == (size_t)number(found);
        free(json.tokens);
    }
    vector_is(vector, good, wanted.at, error ? ojs_error_message(error) : ojs_buf_slice(places));
    ojs_error_free(error);
    ojs_buf_free(places);
    free(wanted.at);
}

static void fake(value_t vector) {
    ojs_fake *fake = NULL;
    ojs_client *client = NULL;
    ojs_buf *recorded = NULL;
    OK(ojs_fake_new(&fake));
    OK(ojs_fake_client(fake, &client));
    value_t jobs = member(vector, "jobs"), one = first(jobs);
    for (size_t n = 0; n < size_of(jobs); n++, one = next(one)) {
        text_t body = {NULL, 0};
        push_value(&body, one);
        OK(ojs_client_call(client, S("POST"), S("/jobs"), slice_of(&body), NULL));
        free(body.at);
    }
    OK(ojs_fake_enqueued(fake, &recorded));
    ojs_slice found = ojs_buf_slice(recorded);
    vector_is(vector, same_text(found, member(vector, "recorded")), "recorded", found);
    value_t questions = member(vector, "questions"), asked = first(questions);
    for (size_t n = 0; n < size_of(questions); n++, asked = next(asked)) question(vector, asked, found);
    ojs_buf_free(recorded);
    ojs_client_free(client);
    ojs_fake_free(fake);
}

int main(int count, char **words) {
    if (count != 2) {
        fputs("test_vectors tests/vectors/vectors.json\n", stderr);
        return 2;
    }
    text_t text = file(words[1]);
    json_t json = json_parse(text.at, text.len);
    const struct {
        const char *kind, *members;
        void (*run)(value_t);
    } kinds[] = {
        {"requests", " name type args options body text why ", request},
        {"workflows", " name workflow body ", workflow},
        {"crons", " name cron body ", cron},
        {"answers", " name status answer error ", answer},
        {"policies", " name type args options error ", policy},
        {"refusals", " name options says ", refusal},
        {"keys", " name type args options unique key ", key},
        {"fakes", " name jobs recorded questions ", fake},
    };
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        kind = kinds[n].kind;
        value_t list = member(root_of(&json), kind);
        CHECK(size_of(list) >= 7);
        value_t vector = first(list);
        for (size_t at = 0; at < size_of(list); at++, vector = next(vector)) {
            bool played = known(vector, kinds[n].members);
            vector_is(vector, played, "a member that this program does not play", raw(vector));
            kinds[n].run(vector);
        }
    }
    free(json.tokens);
    free(text.at);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

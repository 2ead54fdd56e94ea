// The functions of ojs_operations.h: each sends the request that tests/vectors/operations.json names. A transport of
// this program's own plays the server.
//
//     test_operations tests/vectors/operations.json
//
// Prints "N passed, N failed".
#include "json.h"

#include "operation_calls.h"

#include <pthread.h>

// A call on a thread of its own: it waits for its answer.
typedef struct {
    operation_call call;
    ojs_transport *transport;
    ojs_client *client;
    text_t body, answer;
} caller_t;

static void *make_call(void *given) {
    caller_t *caller = (caller_t *)given;
    ojs_slice body = caller->body.at ? slice_of(&caller->body) : none();
    ojs_buf *answer = NULL;
    OK(caller->call(caller->client, body, &answer));
    CHECK(equals(ojs_buf_slice(answer), caller->answer.at));
    ojs_buf_free(answer);
    return NULL;
}

// Takes off what stands before a delimiter, and undoes %XX in it.
static text_t taken(ojs_slice *rest, const char *delimiters) {
    text_t out = {NULL, 0};
    push(&out, "", 0);
    while (rest->len > 0 && !strchr(delimiters, rest->ptr[0])) {
        char c = (char)rest->ptr[0];
        size_t width = 1;
        if (c == '%' && rest->len > 2) {
            char digits[] = {(char)rest->ptr[1], (char)rest->ptr[2], 0};
            c = (char)strtol(digits, NULL, 16);
            width = 3;
        }
        push(&out, &c, 1);
        rest->ptr += width;
        rest->len -= width;
    }
    return out;
}

static void skip(ojs_slice *rest) {
    rest->ptr += rest->len > 0;
    rest->len -= rest->len > 0;
}

// Whether the path has these segments, and behind them the members of the query, each once, in any order.
static bool leads_to(ojs_slice path, value_t segments, value_t query) {
    value_t segment = first(segments);
    for (size_t n = 0; n < size_of(segments); n++, segment = next(segment)) {
        if (path.len == 0 || path.ptr[0] != '/') return false;
        skip(&path);
        text_t found = taken(&path, "/?");
        bool good = is(segment, found.at);
        free(found.at);
        if (!good) return false;
    }
    size_t members = 0;
    for (; path.len > 0; members++) {
        if (path.ptr[0] != (members == 0 ? '?' : '&')) return false;
        skip(&path);
        text_t name = taken(&path, "=");
        skip(&path);
        text_t value = taken(&path, "&");
        bool good = is(member(query, name.at), value.at);
        free(name.at);
        free(value.at);
        if (!good) return false;
    }
    return members == size_of(query);
}

static void play(value_t vector, operation_call call) {
    caller_t caller = {call, NULL, NULL, {NULL, 0}, {NULL, 0}};
    push_value(&caller.answer, member(vector, "answer"));
    value_t body = member(vector, "body");
    if (there(body)) push_value(&caller.body, body);
    OK(ojs_transport_new(&caller.transport));
    OK(ojs_client_over(caller.transport, &caller.client));
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_call, &caller) != 0) exit(2);
    ojs_request request;
    OK(ojs_transport_pull(caller.transport, 60000, &request));
    ojs_slice sent = ojs_buf_slice(request.body), path = ojs_buf_slice(request.path), name = raw(member(vector, "name"));
    int before = failed;
    ojs_slice method = raw(member(vector, "method")), found = ojs_buf_slice(request.method);
    CHECK(found.len == method.len && memcmp(found.ptr, method.ptr, method.len) == 0);
    CHECK(leads_to(path, member(vector, "path"), member(vector, "query")));
    if (there(body)) {
        json_t json = json_parse((const char *)sent.ptr, sent.len);
        CHECK(same(root_of(&json), body));
        free(json.tokens);
    } else {
        CHECK(sent.len == 0);
    }
    if (failed > before) {
        printf("%.*s sent %.*s %.*s\n", (int)name.len, (const char *)name.ptr, (int)path.len, (const char *)path.ptr, (int)sent.len,
               sent.ptr ? (const char *)sent.ptr : "");
    }
    OK(ojs_transport_reply(caller.transport, request.ticket, 200, slice_of(&caller.answer)));
    pthread_join(thread, NULL);
    ojs_buf_free(request.method);
    ojs_buf_free(request.path);
    ojs_buf_free(request.body);
    OK(ojs_client_close(caller.client));
    ojs_client_free(caller.client);
    ojs_transport_close(caller.transport);
    ojs_transport_free(caller.transport);
    free(caller.body.at);
    free(caller.answer.at);
}

// Names that are not safe in a path, and a parameter that is not given.
static void test_paths(void) {
    ojs_path path = ojs_path_begin("/queues");
    ojs_path_push(&path, S("/"), true);
    ojs_path_push(&path, S("a/b?c%d e\303\251"), false);
    ojs_path_query(&path, "state", none(), NULL);
    ojs_path_query(&path, "page", none(), "1");
    ojs_path_query(&path, "queue", S("x&y"), "z");
    ojs_slice made = {(const uint8_t *)path.at, path.len};
    CHECK(equals(made, "/queues/a%2Fb%3Fc%25d%20e%C3%A9?page=1&queue=x%26y"));
    free(path.at);
}

int main(int count, char **arguments) {
    text_t text = file(count > 1 ? arguments[1] : "tests/vectors/operations.json");
    json_t json = json_parse(text.at, text.len);
    value_t vectors = member(root_of(&json), "operations");
    size_t calls = sizeof operation_calls / sizeof operation_calls[0];
    CHECK(size_of(vectors) == calls);
    value_t vector = first(vectors);
    for (size_t n = 0; n < size_of(vectors) && n < calls; n++, vector = next(vector)) {
        CHECK(known(vector, " name arguments method path query body answer "));
        play(vector, operation_calls[n]);
    }
    test_paths();
    free(json.tokens);
    free(text.at);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

#include "bridge.h"
#include "_cgo_export.h"

static void done(void *ticket, ojs_error *error, ojs_buf *body) { ojsGoDone((uintptr_t)ticket, error, body); }

ojs_error *ojs_go_call(const ojs_client *client, ojs_slice method, ojs_slice path, ojs_slice body, int64_t wait_ms, uintptr_t ticket) {
    if (wait_ms < 0) return ojs_client_call_async(client, method, path, body, done, (void *)ticket);
    return ojs_client_call_waiting(client, method, path, body, (uint64_t)wait_ms, done, (void *)ticket);
}

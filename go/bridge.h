// What Go calls: the functions of ojs.h whose parameters Go cannot write down.
#ifndef OJS_GO_BRIDGE_H
#define OJS_GO_BRIDGE_H

#include "ojs.h"
#include <stdint.h>

// Begins a call; ojsGoDone gets `ticket` and what it ends in. wait_ms < 0: an ordinary call.
ojs_error *ojs_go_call(const ojs_client *client, ojs_slice method, ojs_slice path, ojs_slice body, int64_t wait_ms, uintptr_t ticket);

#endif

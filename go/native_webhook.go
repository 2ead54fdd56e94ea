package ojs

// #include "bridge.h"
import "C"

func nativeVerifyWebhook(body, request []byte) error {
	return takeError(C.ojs_webhook_verify(bytesOf(body), bytesOf(request)))
}

//go:build cgo

package ojs

import (
	"net/http"
	"time"
)

// WebhookTolerance is how far the clocks of sender and receiver may differ unless VerifyWebhookAt says otherwise.
const WebhookTolerance = 300 * time.Second

// VerifyWebhook checks that one of the secrets signed a request of a webhook at most five minutes ago; nil when it did.
// The body is the one that arrived, byte for byte, before any JSON is read. Both forms of headers are known:
// X-OJS-Signature and webhook-signature (Standard Webhooks). While a secret is being replaced, give the old one and the
// new one. A request may arrive more than once: X-OJS-Delivery-ID is the same each time.
//
// The error is of the class ErrUntrustedWebhook; the reason is in its details.
func VerifyWebhook(body []byte, headers http.Header, secrets ...string) error {
	return VerifyWebhookAt(body, headers, secrets, WebhookTolerance, time.Now())
}

// VerifyWebhookAt is VerifyWebhook with another tolerance and at another time.
func VerifyWebhookAt(body []byte, headers http.Header, secrets []string, tolerance time.Duration, now time.Time) error {
	said := Obj{"headers": headers, "secrets": append([]string{}, secrets...), "tolerance": tolerance.Seconds()}
	said["now"] = now.Unix()
	request, err := encode(said)
	if err != nil {
		return err
	}
	return nativeVerifyWebhook(body, request)
}

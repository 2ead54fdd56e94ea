package ojs_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// The vectors that all languages share: which requests of webhooks are to be trusted.
func TestWebhookVectors(t *testing.T) {
	t.Parallel()
	type webhook struct {
		Name, Body string
		Headers    map[string]string
		Secrets    []string
		Tolerance  int64
		Now        int64
		Reason     *string
	}
	for _, vector := range ojs.ReadVectors[webhook](t, "vectors.json", "webhooks") {
		t.Run(vector.Name, func(t *testing.T) {
			headers := http.Header{}
			for name, value := range vector.Headers {
				headers.Set(name, value)
			}
			tolerance := time.Duration(vector.Tolerance) * time.Second
			err := ojs.VerifyWebhookAt([]byte(vector.Body), headers, vector.Secrets, tolerance, time.Unix(vector.Now, 0))
			if vector.Reason == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var refused *ojs.Error
			if !errors.Is(err, ojs.ErrUntrustedWebhook) || !errors.As(err, &refused) {
				t.Fatalf("%v, want %s", err, *vector.Reason)
			}
			var details struct{ Reason string }
			if err := json.Unmarshal(refused.Details, &details); err != nil || details.Reason != *vector.Reason {
				t.Fatalf("%s, want %s", refused.Details, *vector.Reason)
			}
		})
	}
}

package ojs

import "testing"

// What Go does for a job that comes in, beside its handler.
func BenchmarkReadJob(b *testing.B) {
	envelope := []byte(`{"specversion":"1.0","id":"01a1ff47-7252-7462-bd19-b1bed3cbc38a","type":"later","args":[1,"a",{"b":2}],"meta":{"t":"x"},"tags":[],"queue":"default","priority":0,"state":"active","attempt":1,"max_attempts":3,"retry":{"backoff_coefficient":2.0,"backoff_strategy":"exponential","initial_interval":"PT1S","jitter":true,"max_attempts":3,"max_interval":"PT5M","non_retryable_errors":[],"on_exhaustion":"discard"},"created_at":"2026-11-21T18:03:54.836Z","enqueued_at":"2026-11-21T18:03:54.836Z","started_at":"2026-11-21T18:03:54.838Z"}`)
	b.ReportAllocs()
	for b.Loop() {
		job := &Job{}
		if err := job.read(envelope); err != nil {
			b.Fatal(err)
		}
	}
}

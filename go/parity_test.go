package ojs_test

import (
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

// One slot, a handler that uses the client and beats, cancellations from outside: nothing hangs.
func TestOneSlotNoDeadlock(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker(ojs.WithConcurrency(1), ojs.WithHeartbeatInterval(10*time.Millisecond))
		worker.Register("parent", func(ctx ojs.JobContext) error {
			_, err := w.client.Enqueue(ctx, "child", nil, ojs.WithQueue(w.queue))
			return err
		})
		worker.Register("child", func(ctx ojs.JobContext) error { return ctx.Heartbeat() })
		w.start(worker)
		for n := range 20 {
			job := w.enqueue("parent", nil)
			if n%4 == 0 {
				_, _ = w.client.CancelJob(w.ctx, job.ID)
			}
		}
		w.until("all are over", func() bool {
			stats, err := w.client.QueueStats(w.ctx, w.queue)
			must(w, err)
			return stats.Available+stats.Active == 0
		})
	})
}

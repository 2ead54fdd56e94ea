package ojs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

func TestAStepRunsOnceAcrossAttempts(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		var charges atomic.Int32
		seen := make(chan string, 3)
		worker.Register("pay", func(ctx ojs.JobContext) error {
			page := 0
			if _, err := ctx.LoadCheckpoint(&page); err != nil {
				return err
			}
			charge, err := ojs.RunStep(ctx, "charge", func() (string, error) {
				return fmt.Sprintf("ch_%d", charges.Add(1)), nil
			})
			if err != nil {
				return err
			}
			sequence, err := ctx.Checkpoint(page + 1)
			if err != nil {
				return err
			}
			seen <- fmt.Sprint(ctx.Attempt(), " ", charge, " ", page, " ", sequence, " ", ctx.HasCheckpoint())
			if page < 2 {
				return errors.New("again")
			}
			return nil
		})
		w.start(worker)
		retry := ojs.RetryPolicy{MaxAttempts: 5, InitialInterval: 50 * time.Millisecond}
		job := w.enqueue("pay", nil, ojs.WithRetry(retry))
		for _, expected := range []string{"1 ch_1 0 2 true", "2 ch_1 1 3 true", "3 ch_1 2 4 true"} {
			equal(w, receive(w, seen, "an attempt"), expected, "attempt")
		}
		w.inState(job, ojs.Completed)
		saved, err := w.client.GetCheckpoint(w.ctx, job.ID)
		must(w, err)
		state, err := json.Marshal(saved["state"])
		must(w, err)
		equal(w, string(state), `{"$ojs.state":3,"$ojs.steps":{"charge":"ch_1"}}`, "state")
	})
}

func TestALostLeaseIsTheTypedError(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		began, goOn, refused := make(chan bool, 1), make(chan bool), make(chan error, 2)
		worker.Register("import", func(ctx ojs.JobContext) error {
			_, err := ctx.Checkpoint(strings.Repeat("x", 1_100_000))
			refused <- err
			began <- true
			<-goOn
			_, err = ctx.Checkpoint(1)
			refused <- err
			return nil
		})
		w.start(worker)
		job := w.enqueue("import", nil)
		receive(w, began, "the start")
		if err := receive(w, refused, "an error"); !errors.Is(err, ojs.ErrPayloadTooLarge) {
			w.Fatalf("%v", err)
		}
		_, err := w.client.CancelJob(w.ctx, job.ID)
		must(w, err)
		close(goOn)
		if err := receive(w, refused, "an error"); !errors.Is(err, ojs.ErrCancelled) && !errors.Is(err, ojs.ErrLeaseLost) {
			w.Fatalf("%v", err)
		}
	})
}

func TestOfManyReportsTheLatestIsSent(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		goOn := make(chan bool)
		worker.Register("import", func(ctx ojs.JobContext) error {
			for percent := range 51 {
				if err := ctx.ProgressData(float64(percent)/100, "rows", ojs.Obj{"percent": percent}); err != nil {
					return err
				}
			}
			<-goOn
			return nil
		})
		w.start(worker)
		job := w.enqueue("import", nil)
		for fmt.Sprint(progress(w, job.ID)["progress"]) != "0.5" {
			time.Sleep(2 * time.Millisecond)
		}
		equal(w, fmt.Sprint(progress(w, job.ID)["message"]), "rows", "message")
		close(goOn)
		w.inState(job, ojs.Completed)
		equal(w, fmt.Sprint(progress(w, job.ID)["progress"]), "1.0", "progress")
	})
}

func progress(w world, id string) map[string]any {
	found, err := w.client.GetProgress(w.ctx, id)
	must(w, err)
	return found
}

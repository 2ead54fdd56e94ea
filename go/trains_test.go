package ojs_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

const jobTrains = "urn:ojs:ext:x:openjobspec:job-trains"

// trainServer is a server of a test: it keeps the latest job and what the request requires.
type trainServer struct {
	mu       sync.Mutex
	refuses  bool
	job      vectorTrain
	required string
}

type vectorTrain struct {
	Meta    map[string]string
	Options struct{ Train map[string]string }
}

func (s *trainServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job, s.required = vectorTrain{}, r.Header.Get("OJS-Requires-Extension")
	_ = json.NewDecoder(r.Body).Decode(&s.job)
	w.Header().Set("Content-Type", "application/json")
	if s.refuses {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`{"error":{"code":"EXTENSION_NOT_SUPPORTED","message":"no",
			"details":{"extension":"` + jobTrains + `"}}}`))
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"job":{"id":"x","train":{"id":"dest_1","position":3,"role":"locomotive","ahead":0,"state":"running","epoch":8589934592}}}`))
}

// train is what the latest job said; its metadata says the same, and the request required the extension.
func (s *trainServer) train(t *testing.T) map[string]string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	equal(t, s.job.Meta["train_id"], s.job.Options.Train["id"], "the train in the metadata")
	if s.job.Options.Train == nil {
		equal(t, s.required, "", "the required extension")
	} else {
		equal(t, s.required, jobTrains, "the required extension")
	}
	return s.job.Options.Train
}

func trainBench(t *testing.T) (*trainServer, *ojs.Client) {
	t.Helper()
	server := &trainServer{}
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	client, err := ojs.NewClient(listener.URL, ojs.WithMaxSends(1))
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return server, client
}

func TestATrainIsSentWithWhatATypeSaysOnce(t *testing.T) {
	t.Parallel()
	server, client := trainBench(t)
	enqueue := func(jobType string, args any, options ...ojs.EnqueueOption) map[string]string {
		t.Helper()
		job, err := client.Enqueue(t.Context(), jobType, args, options...)
		must(t, err)
		place := &ojs.JobTrain{ID: "dest_1", Position: 3, Role: "locomotive", State: "running", Epoch: 8589934592}
		same(t, job.Train, place, "the place in the train")
		return server.train(t)
	}
	held := ojs.Train{ID: "dest_1", OnCancelled: "hold", CancelActive: "immediate"}
	same(t, enqueue("deploy", nil, ojs.WithTrain(held)),
		map[string]string{"id": "dest_1", "on_cancelled": "hold", "cancel_active": "immediate"}, "a train")
	numbered := ojs.WithTrain(ojs.Train{ID: "dest_{0}"})
	same(t, enqueue("deploy", ojs.Args{7}, numbered), map[string]string{"id": "dest_7"}, "a named argument")
	same(t, enqueue("deploy", nil), map[string]string(nil), "no train")

	worker, err := client.NewWorker(ojs.WithLogger(quietLogger))
	must(t, err)
	task := ojs.NewTask[int]("trains.policy", ojs.WithTrain(ojs.Train{OnCancelled: "hold"}))
	task.Register(worker, func(ojs.JobContext, int) error { return nil })
	dest := ojs.WithTrain(ojs.Train{ID: "dest_1"})
	_, err = task.Enqueue(t.Context(), client, 1)
	must(t, err)
	same(t, server.train(t), map[string]string(nil), "policies alone are no train")
	_, err = task.Enqueue(t.Context(), client, 1, dest)
	must(t, err)
	merged := map[string]string{"id": "dest_1", "on_cancelled": "hold"}
	same(t, server.train(t), merged, "the train of a task")
	same(t, enqueue("trains.policy", nil, dest), merged, "the policy of the type")
	own := ojs.WithTrain(ojs.Train{ID: "dest_1", OnCancelled: "advance"})
	said := map[string]string{"id": "dest_1", "on_cancelled": "advance"}
	same(t, enqueue("trains.policy", nil, own), said, "what the job says")
	derived := ojs.WithTrain(ojs.Train{ID: "dest_{destination_id}"})
	worker.Register("trains.derived", func(ojs.JobContext) error { return nil }, derived)
	args := ojs.Obj{"destination_id": 123}
	same(t, enqueue("trains.derived", args), map[string]string{"id": "dest_123"}, "a derived train")
}

func TestAWrongTrainIsRefused(t *testing.T) {
	t.Parallel()
	server, client := trainBench(t)
	for message, train := range map[string]ojs.Train{
		"train.id: must be 1 to 255 letters":    {ID: "a b"},
		"train.id: is missing":                  {OnCancelled: "hold"},
		`train.on_cancelled: must be "advance"`: {ID: "a", OnCancelled: "wait"},
	} {
		_, err := client.Enqueue(t.Context(), "deploy", nil, ojs.WithTrain(train))
		if !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v is not %q", err, message)
		}
	}
	server.mu.Lock()
	server.refuses = true
	server.mu.Unlock()
	_, err := client.Enqueue(t.Context(), "deploy", nil, ojs.WithTrain(ojs.Train{ID: "dest_1"}))
	if !errors.Is(err, ojs.ErrUnsupportedExtension) || !errors.Is(err, ojs.ErrInvalidRequest) {
		t.Errorf("a server without trains: %v", err)
	}
}

func TestAFakeRunsTheJobsOfATrainInOrder(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	worker, err := fake.Client.NewWorker(ojs.WithLogger(quietLogger))
	must(t, err)
	var ran []int
	worker.Register("trains.fake", func(ctx ojs.JobContext) error {
		var number int
		if err := ctx.Job.Args.Decode(&number); err != nil {
			return err
		}
		ran = append(ran, number, ctx.Job.Train.Position)
		if number < 0 {
			return ojs.NonRetryable(errors.New("no such destination"))
		}
		return nil
	}, ojs.WithTrain(ojs.Train{OnDiscarded: "hold"}))
	enqueue := func(train string, number, priority int) {
		t.Helper()
		_, err := fake.Client.Enqueue(t.Context(), "trains.fake", ojs.Args{number}, ojs.WithTrain(ojs.Train{ID: train}),
			ojs.WithPriority(priority))
		must(t, err)
	}
	enqueue("dest_1", 1, -5)
	enqueue("dest_1", 2, 0)
	enqueue("dest_1", 3, 5)
	equal(t, len(fake.AssertEnqueued("trains.fake", ojstest.Train("dest_1"))), 3, "jobs of the train")
	fake.AssertNotEnqueued("trains.fake", ojstest.Train("dest_2"))
	equal(t, fake.Drain(worker), 3, "jobs that ran")
	same(t, ran, []int{1, 1, 2, 2, 3, 3}, "jobs with their places")

	enqueue("dest_2", -1, 0)
	enqueue("dest_2", 5, 0)
	_, err = worker.Drain(t.Context())
	if err == nil {
		t.Error("the failure of the first job is the failure of the drain")
	}
	equal(t, fake.Drain(worker), 0, "jobs of a train that is held")
	_, err = fake.Client.AdvanceTrain(t.Context(), "dest_2", "")
	must(t, err)
	equal(t, fake.Drain(worker), 1, "jobs after the train was let go on")
	same(t, ran[len(ran)-2:], []int{5, 2}, "the last job with its place")
}

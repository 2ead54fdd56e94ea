//go:build linux && !race

// The race detector needs memory of its own, and only Linux has /proc: scripts/go.sh runs this apart from the other tests.

package ojs_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// Memory does not grow with the number of jobs: what is held after a long run is what was held after a short one. The engine is another
// process's: it keeps events of all jobs for a while.
func TestSoak(t *testing.T) {
	if serverInProcess {
		t.Fatal("needs the server in a process of its own: make build")
	}
	client, err := ojs.NewClient(serverURL)
	must(t, err)
	defer client.Close()
	queue := fmt.Sprintf("soak-%d", os.Getpid())
	worker, err := client.NewWorker(ojs.WithQueues(queue), ojs.WithConcurrency(16), ojs.WithLogger(quietLogger))
	must(t, err)
	worker.Register("a", func(ctx ojs.JobContext) error { return nil })
	ended := make(chan error, 1)
	go func() { ended <- worker.Start(t.Context()) }()
	round := func(jobs int) {
		for sent := 0; sent < jobs; sent += 1000 {
			requests := make([]ojs.JobRequest, 1000)
			for n := range requests {
				requests[n] = ojs.NewJob("a", ojs.Args{n}, ojs.WithQueue(queue))
			}
			_, err := client.EnqueueBatch(t.Context(), requests)
			must(t, err)
			until(t, "a round", func() bool {
				stats, err := client.QueueStats(t.Context(), queue)
				must(t, err)
				return stats.Available+stats.Active == 0
			})
			_, err = client.PurgeQueue(t.Context(), queue, []ojs.JobState{ojs.Completed}, 0)
			must(t, err)
		}
	}
	jobs := 20_000
	if long := os.Getenv("OJS_SOAK_JOBS"); long != "" { // make soak
		_, err := fmt.Sscan(long, &jobs)
		must(t, err)
	}
	round(jobs / 2)
	before := resident(t)
	round(jobs)
	grown := resident(t) - before
	must(t, worker.Shutdown(t.Context()))
	must(t, receive(t, ended, "the end"))
	// 20,000 jobs of which half a kilobyte each stayed would be 10 MB; a million, 500 MB.
	if grown > 10<<20 {
		t.Fatalf("%d jobs left %d KB behind", jobs, grown>>10)
	}
	t.Logf("%d jobs: %d KB", jobs, grown>>10)
}

// resident is the memory of this process.
func resident(t *testing.T) int64 {
	debug.FreeOSMemory() // What the collector keeps for later depends on how busy the machine is.
	data, err := os.ReadFile("/proc/self/statm")
	must(t, err)
	var size, pages int64
	_, err = fmt.Sscan(string(data), &size, &pages)
	must(t, err)
	return pages * int64(os.Getpagesize())
}

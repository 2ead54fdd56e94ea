// Package measure is what the programs of these benchmarks share: how they count, and how they end.
package measure

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Check ends the program when something went wrong.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// ProcessorTime is what this process has used, a library's threads included.
func ProcessorTime() time.Duration {
	var usage syscall.Rusage
	Check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Delivered tells of a job that did not run exactly once, or of jobs that the store does not call completed.
func Delivered(ran []atomic.Int32, completed int) error {
	for number := range ran {
		if times := ran[number].Load(); times != 1 {
			return fmt.Errorf("job %d ran %d times", number, times)
		}
	}
	if completed != len(ran) {
		return fmt.Errorf("%d completed", completed)
	}
	return nil
}

// Print writes the line of JSON that languages.py reads; how may be empty.
func Print(jobs int, took, cpu time.Duration, how string) {
	Check(json.NewEncoder(os.Stdout).Encode(struct {
		Rate float64 `json:"jobs_per_second"`
		CPU  float64 `json:"cpu_us"`
		How  string  `json:"how,omitempty"`
	}{float64(jobs) / took.Seconds(), float64(cpu.Microseconds()) / float64(jobs), how}))
}

// Package turns runs transactions without and with a job, in turns: what the programs below it share (scripts/bench_adapters.py runs them).
package turns

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// Server is an address at which no server listens: staging a job in an outbox sends no request.
const Server = "http://127.0.0.1:9"

// Turns is the command line `DATABASE_URL WARM WITHOUT WITH`, and the milliseconds of each transaction.
type Turns struct {
	URL                 string
	warm, without, with int
	spent               map[bool][]float64
}

// New reads the command line.
func New() (*Turns, error) {
	if len(os.Args) != 5 {
		return nil, fmt.Errorf("usage: %s DATABASE_URL WARM WITHOUT WITH", os.Args[0])
	}
	turns := &Turns{URL: os.Args[1], spent: map[bool][]float64{}}
	for i, number := range []*int{&turns.warm, &turns.without, &turns.with} {
		value, err := strconv.Atoi(os.Args[2+i])
		if err != nil {
			return nil, err
		}
		*number = value
	}
	return turns, nil
}

// Each runs the transactions; the argument says whether it is to enqueue a job.
func (t *Turns) Each(transaction func(staged bool) error) error {
	for range t.warm {
		for _, staged := range []bool{false, true} {
			if err := transaction(staged); err != nil {
				return err
			}
		}
	}
	for number := range max(t.without, t.with) {
		for _, staged := range []bool{false, true} {
			if staged && number >= t.with || !staged && number >= t.without {
				continue
			}
			started := time.Now()
			if err := transaction(staged); err != nil {
				return err
			}
			t.spent[staged] = append(t.spent[staged], float64(time.Since(started))/1e6)
		}
	}
	return nil
}

// Report prints the line of JSON; rows is how many the outbox holds: no figure without its job.
func (t *Turns) Report(adapter string, rows int) error {
	if rows != t.warm+t.with {
		return fmt.Errorf("%s: %d rows in the outbox, %d jobs enqueued", adapter, rows, t.warm+t.with)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"adapter": adapter, "without_ms": median(t.spent[false]), "with_ms": median(t.spent[true]), "transactions": t.with,
	})
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

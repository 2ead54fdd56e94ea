package ojs_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

type withTag struct {
	When any `json:"when"`
	skip chan int
	Left func() `json:"-"`
}

type within struct{ withTag }

type hidden struct{ email string }

type textKey [2]byte

func (k textKey) MarshalText() ([]byte, error) { return k[:], nil }

// What JSON would lose or turn into something else is refused, with its place and what to pass instead.
func TestValuesThatWouldBeLostAreRefused(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	var self any
	self = &self
	for _, test := range []struct {
		args any
		want []string
	}{
		{ojs.Args{1, make(chan int)}, []string{"args[1]: ", "chan int"}},
		{ojs.Args{ojs.Obj{"when": func() {}}}, []string{"args[0].when: ", "func()"}},
		{ojs.Args{complex(1, 2)}, []string{"args[0]: ", "complex128"}},
		{ojs.Args{math.NaN()}, []string{"args[0]: ", "NaN", "pass nil"}},
		{ojs.Args{[]float64{1, math.Inf(-1)}}, []string{"args[0][1]: ", "-Inf"}},
		{ojs.Args{map[int]string{1: "a"}}, []string{"args[0]: ", "map[int]string", "pass a map[string]string"}},
		{ojs.Args{map[textKey]int{{'a', 'b'}: 1}}, []string{"args[0]: ", "pass a map[string]int"}},
		{ojs.Args{"half \xff"}, []string{"args[0]: ", "UTF-8", "base64"}},
		{ojs.Args{map[string]any{"a\xff": 1}}, []string{`args[0]."a\xff": `, "UTF-8"}},
		{ojs.Args{errors.New("broken")}, []string{"args[0]: ", "err.Error()"}},
		{ojs.Args{hidden{"ada@example.com"}}, []string{"args[0]: ", "ojs_test.hidden", "exported"}},
		{ojs.Args{json.Number("1e")}, []string{"args[0]: ", `"1e"`}},
		{withTag{When: math.NaN()}, []string{"args[0].when: "}},
		{&within{withTag{When: []any{nil, make(chan int)}}}, []string{"args[0].when[1]: "}},
		{[]*withTag{nil, {When: math.NaN()}}, []string{"args[1].when: "}},
		{ojs.Args{self}, []string{"args[0]: ", "contain itself"}},
	} {
		_, err := client.Enqueue(t.Context(), "a", test.args)
		var ours *ojs.Error
		if !errors.As(err, &ours) || ours.Class != ojs.ErrValidation || ours.Code != "serialization_error" {
			t.Fatalf("%v: %v", test.want, err)
		}
		for _, text := range test.want {
			if !strings.Contains(err.Error(), text) {
				t.Fatalf("%q is not in %q", text, err)
			}
		}
	}
	_, err = client.Enqueue(t.Context(), "a", nil, ojs.WithMeta(ojs.Obj{"a": ojs.Obj{"b": math.NaN()}}))
	if err == nil || !strings.Contains(err.Error(), "meta.a.b: ") {
		t.Fatal(err)
	}
	_, err = client.EnqueueBatch(t.Context(), []ojs.JobRequest{ojs.NewJob("a", nil), ojs.NewJob("a", ojs.Args{math.NaN()})})
	if !errors.Is(err, ojs.ErrValidation) || !strings.Contains(err.Error(), "jobs[1].args[0]: ") {
		t.Fatal(err)
	}
}

// The table of docs/guide/values.md: what has a form arrives as it was.
func TestValuesThatArrive(t *testing.T) {
	t.Parallel()
	client, err := ojs.NewClient("memory:")
	must(t, err)
	defer client.Close()
	when := time.Date(2030, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	job, err := client.Enqueue(t.Context(), "a", ojs.Args{
		nil, true, "馬", math.MaxInt64, uint64(math.MaxUint64), 0.1, json.Number("1.50"), huge, when, time.Second, []byte{1, 2},
		[3]byte{1, 2, 3}, []string(nil), map[string]int(nil), (*hidden)(nil), struct{}{}, withTag{When: 1}, json.RawMessage(`{"a": 1}`),
		map[ojs.JobState]int{ojs.Active: 1}, netip.MustParseAddr("127.0.0.1"),
	})
	must(t, err)
	same(t, job.Args, json.RawMessage(`[null, true, "馬", 9223372036854775807, 18446744073709551615, 0.1, 1.50, 123456789012345678901234567890,
		"2030-01-02T03:04:05.0000006+01:00", 1000000000, "AQI=", [1, 2, 3], null, null, null, {}, {"when": 1}, {"a": 1}, {"active": 1}, "127.0.0.1"]`),
		"arguments")
	var back struct {
		when   time.Time
		length time.Duration
		bytes  []byte
		huge   *big.Int
	}
	must(t, job.Args[7:].Decode(&back.huge, &back.when, &back.length, &back.bytes))
	if back.huge.Cmp(huge) != 0 || !back.when.Equal(when) || back.length != time.Second || string(back.bytes) != "\x01\x02" {
		t.Fatalf("%+v", back)
	}
}

// A handler's result is held to the same rule.
func TestResultsThatWouldBeLost(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		worker.Register("a", func(ctx ojs.JobContext) error {
			ctx.SetResult(ojs.Obj{"by": map[int]int{1: 1}})
			return nil
		})
		w.start(worker)
		job := w.inState(w.enqueue("a", nil), ojs.Discarded)
		equal(w, job.Error.Code, "serialization_error", "code")
		if !strings.Contains(job.Error.Message, "result.by: ") || !strings.Contains(job.Error.Message, "map[string]int") {
			w.Fatal(job.Error.Message)
		}
	})
}

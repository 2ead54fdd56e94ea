package ojs

import (
	"reflect"
	"strings"
	"testing"
)

const everyday = `{"id":"019461a8-0000-7000-8000-000000001000","type":"bench.noop","queue":"default","args":[12345,"text"],"state":"active",` +
	`"attempt":1,"max_attempts":3,"priority":0,"meta":{},"tags":[],"created_at":"2026-01-01T00:00:00.123Z","enqueued_at":"2026-01-01T00:00:00Z",` +
	`"started_at":"2026-01-01T01:00:00+01:00","specversion":"1.0","lease_token":18446744073709551615}`

// The short way and encoding/json read the same.
func TestEnvelopesAreReadAsEncodingJSONReadsThem(t *testing.T) {
	for _, envelope := range []string{
		everyday,
		strings.NewReplacer(",", " ,\n", ":", " : ", "[", "[ ", "}", " }").Replace(`{"id":"x","args":[1,"a",[2,{"b":[]}],null,true],"meta":{"n":1.50}}`),
		`{}`, ` {"id":"x"} `, `{"args":[]}`, `{"args":[ ]}`, `{"args":null}`, `{"meta":null,"tags":null}`, `{"result":null,"error":null}`,
		`{"args":[9007199254740993,-0.5,1e300,1.0,"\u017e\n\"","ž馬🐎",{"a":[1,{"b":"}]\""}]},[],{},[[[1]]],true,false,null,""]}`,
		`{"type":"a\/b","queue":"\"","state":"active"}`,
		`{"tags":["a"],"meta":{"tenant":"acme","n":9007199254740993},"workflow_id":"w","parent_results":[1,{"a":2}]}`,
		`{"result":{"a":[1]},"error":{"code":"x","message":"m","retryable":false},"errors":[{"code":"y","attempt":1}],"scheduled_at":"2030-01-01T00:00:00Z"}`,
		`{"ID":"shouted","Type":"t","nested":{"id":"no","args":["no"]},"list":["}",{"id":"]"}],"id":"yes"}`,
		`{"unknown":"with \" and \\","id":"x","other":-1.5e-7,"flag":false}`,
	} {
		var short, long Job
		if err := long.read([]byte(envelope)); err != nil {
			t.Fatal(envelope, err)
		}
		if err := short.readEnvelope([]byte(envelope)); err != nil {
			t.Fatal(envelope, err)
		}
		if !reflect.DeepEqual(short, long) {
			t.Errorf("%s\nwas read as %+v\nand not as  %+v", envelope, short, long)
		}
	}
}

// What is no job is an error, as it was, and nothing reads past the end.
func TestWhatIsNoEnvelope(t *testing.T) {
	for _, envelope := range []string{"", "[]", `"text"`, `{"attempt":"three"}`, `{"created_at":"yesterday"}`, `{"args":5}`, `{"id":7}`} {
		if err := (&Job{}).readEnvelope([]byte(envelope)); err == nil {
			t.Errorf("%q was read", envelope)
		}
	}
	for cut := range everyday {
		_ = (&Job{}).readEnvelope([]byte(everyday[:cut]))
	}
}

func BenchmarkEnvelope(b *testing.B) {
	envelope := []byte(strings.Replace(everyday, "text", strings.Repeat("x", 150), 1))
	for name, read := range map[string]func(*Job, []byte) error{"encoding/json": (*Job).read, "cut": (*Job).readEnvelope} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(&Job{}, envelope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

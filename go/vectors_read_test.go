package ojs

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// ReadVectors reads the vectors of a kind, which all languages share. A member that V does not have fails the test,
// because nothing would play it.
func ReadVectors[V any](t testing.TB, file, kind string) (vectors []V) {
	t.Helper()
	data, err := os.ReadFile("../tests/vectors/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var kinds map[string]json.RawMessage
	if err := json.Unmarshal(data, &kinds); err != nil {
		t.Fatal(err)
	}
	ReadStrictly(t, kinds[kind], &vectors)
	if len(vectors) == 0 {
		t.Fatalf("no vectors of %s", kind)
	}
	return vectors
}

// ReadStrictly reads JSON that has no member besides those of the variable.
func ReadStrictly(t testing.TB, data []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v, in %s", err, data[:min(len(data), 300)])
	}
}

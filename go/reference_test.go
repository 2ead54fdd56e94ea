package ojs_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/openjobspec/ojs-go"
)

// Every method that the reference names for Go is there.
func TestTheReferenceNamesMethodsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/operations.md")
	must(t, err)
	named := regexp.MustCompile("Go `([A-Za-z]+)`").FindAllSubmatch(page, -1)
	equal(t, len(named) > 40, true, "methods are named")
	client := reflect.TypeFor[*ojs.Client]()
	for _, name := range named {
		if _, there := client.MethodByName(string(name[1])); !there {
			t.Errorf("docs/reference/operations.md names %s, which Client does not have", name[1])
		}
	}
}

package tests

import (
	"context"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openjobspec/ojs-go/ojstest"
)

const (
	packageReadme = "../../README.md"
	pgxReadme     = "../ojs-adapter-pgx/README.md"
)

// blocks are the pieces of Go in a page that are announced by such a comment.
func blocks(t *testing.T, page, announced string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	pattern := regexp.MustCompile("(?ms)^<!-- " + announced + " -->\n```go\n(.*?)^```$")
	for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	if found == nil {
		t.Fatalf("%s has no block '%s'", page, announced)
	}
	return found
}

// The README has the specification's text to the letter; the tests have what gofmt makes of it.
func TestTheExampleThatRunsIsTheOneThatIsPrinted(t *testing.T) {
	t.Parallel()
	printed, err := format.Source([]byte(blocks(t, packageReadme, "as printed")[0]))
	must(t, err)
	for _, path := range []string{"seed_test.go", "../ojs-adapter-pgx/ojspgx_test.go"} {
		source, err := os.ReadFile(path)
		must(t, err)
		_, rest, _ := strings.Cut(string(source), "// --- as printed in \"Framework Adapters\", section 8.4\n\n")
		runs, _, found := strings.Cut(rest, "\n// --- end\n")
		if !found || runs != string(printed) {
			t.Errorf("%s has another example:\n%s\nthan the README:\n%s", path, runs, printed)
		}
	}
}

// Every block of Go in the READMEs is run by one of the tests: those announced here, by this module, the others by scripts/go_module.py, which
// leaves out these two announcements alone.
func TestEveryBlockOfGoIsAnnounced(t *testing.T) {
	t.Parallel()
	for page, others := range map[string]bool{packageReadme: true, pgxReadme: false} {
		text, err := os.ReadFile(page)
		must(t, err)
		all := len(regexp.MustCompile("(?m)^```go$").FindAllString(string(text), -1))
		ours := len(blocks(t, page, "(?:with drivers|as printed)"))
		if all == 0 || !others && all != ours {
			t.Errorf("%s has %d blocks, of which %d are announced", page, all, ours)
		}
	}
}

// The programs of the READMEs that need a driver, each built as a program of its own and run against a server and a database.
func TestTheProgramsOfTheREADMEs(t *testing.T) {
	t.Parallel()
	programs := append(blocks(t, packageReadme, "with drivers"), blocks(t, pgxReadme, "with drivers")...)
	folder := t.TempDir()
	here, err := os.Getwd()
	must(t, err)
	module, err := os.ReadFile("go.mod")
	must(t, err)
	// The replacements are relative to here.
	text := strings.ReplaceAll(string(module), "=> ..", "=> "+here+"/..")
	must(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte(text), 0o600))
	sums, err := os.ReadFile("go.sum")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 9*patience) // The first build of the linker's input takes its time.
	defer cancel()
	for number, program := range programs {
		place := filepath.Join(folder, "program"+string(rune('1'+number)))
		must(t, os.Mkdir(place, 0o700))
		must(t, os.WriteFile(filepath.Join(place, "main.go"), []byte(program), 0o600))
		// -race: as the tests themselves, whose compiled drivers are used.
		build := exec.CommandContext(ctx, "go", "build", "-race", "-o", "program", ".")
		build.Dir = place
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("program %d: %v\n%s", number+1, err, said)
		}
		run := exec.CommandContext(ctx, filepath.Join(place, "program"))
		run.Dir = place
		server := ojstest.NewServer(t)
		run.Env = append(os.Environ(), "OJS_URL="+server, "DATABASE_URL="+newPostgres(t))
		if said, err := run.CombinedOutput(); err != nil {
			t.Fatalf("program %d: %v\n%s", number+1, err, said)
		}
		equal(t, sentTo(t, server), "email.welcome", "the job of the program")
	}
}

package ojstest

import (
	"testing"

	"github.com/openjobspec/ojs-go"
)

// Staged are the jobs of this type (or of all, when it is empty) that match and that the outbox has not sent yet, as a transaction sees
// them: a test asks before it rolls back.
//
//	tx, err := db.Begin(t.Context())
//	defer tx.Rollback()
//	signUp(tx, "ada@example.com") // the code under test
//	ojstest.AssertStaged(t, outbox, tx, "email.welcome", ojstest.Args("ada@example.com"))
func Staged(t testing.TB, outbox *ojs.Outbox, tx ojs.Transaction, jobType string, matches ...Match) []ojs.Job {
	t.Helper()
	jobs, err := outbox.Staged(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return find(t, jobs, jobType, matches)
}

// AssertStaged fails the test unless such a job is in the outbox. It returns the jobs.
func AssertStaged(t testing.TB, outbox *ojs.Outbox, tx ojs.Transaction, jobType string, matches ...Match) []ojs.Job {
	t.Helper()
	found := Staged(t, outbox, tx, jobType, matches...)
	if len(found) == 0 {
		t.Errorf("no %s is in the outbox; in it are: %s", asked(jobType, matches), text(Staged(t, outbox, tx, "")))
	}
	return found
}

package ojs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openjobspec/ojs-go"
)

func TestListJobs(t *testing.T) {
	onEveryConnection(t, func(w world) {
		var ids []string
		for range 3 {
			ids = append(ids, w.enqueue("list.a", nil).ID)
		}
		later := w.enqueue("list.b", nil, ojs.WithDelay(time.Hour))
		list := func(filter ojs.JobFilter) (page *ojs.JobPage, found []string) {
			w.Helper()
			filter.Queue = w.queue
			page, err := w.client.ListJobs(w.ctx, filter)
			must(w, err)
			for _, job := range page.Jobs {
				found = append(found, job.ID)
			}
			return page, found
		}
		all, found := list(ojs.JobFilter{OldestFirst: true})
		same(w, found, append(ids[:3:3], later.ID), "all, oldest first")
		equal(w, all.Total, 4, "total")
		equal(w, all.HasMore, false, "more")
		_, found = list(ojs.JobFilter{States: []ojs.JobState{ojs.Scheduled}})
		same(w, found, []string{later.ID}, "by state")
		_, found = list(ojs.JobFilter{Type: "list.b"})
		same(w, found, []string{later.ID}, "by type")
		_, found = list(ojs.JobFilter{Type: "list.*", Until: time.Now().Add(-time.Hour)})
		equal(w, len(found), 0, "from an hour ago")
		first, found := list(ojs.JobFilter{OldestFirst: true, PerPage: 3})
		same(w, found, ids, "the first page")
		equal(w, first.HasMore, true, "more")
		second, found := list(ojs.JobFilter{OldestFirst: true, PerPage: 3, Page: 2})
		same(w, found, []string{later.ID}, "the second page")
		equal(w, second.Page, 2, "page")
		equal(w, second.HasMore, false, "more")
		for text, filter := range map[string]ojs.JobFilter{"negative": {Page: -1}, "sort": {Sort: "color"}, "state": {States: []ojs.JobState{"gone"}}} {
			_, err := w.client.ListJobs(w.ctx, filter)
			var ours *ojs.Error
			if !errors.As(err, &ours) || !strings.Contains(err.Error(), text) {
				w.Fatalf("%v does not say %q", err, text)
			}
		}
	})
}

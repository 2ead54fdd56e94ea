package ojs

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// JobFilter chooses jobs for [Client.ListJobs]; what is empty does not matter.
type JobFilter struct {
	Queue string
	// Type may end in "*": all types that start so.
	Type string
	// States are the states that a job may be in.
	States []JobState
	// Since and Until bound the time at which the job was created.
	Since, Until time.Time
	// Sort is "created_at" (without it), "scheduled_at" or "priority".
	Sort string
	// OldestFirst turns the order round: without it the newest, or the highest priority, comes first.
	OldestFirst bool
	// Page counts from 1; 0 is the first one.
	Page int
	// PerPage is the most jobs in one answer, up to 100; 0 leaves it to the server, which gives 20.
	PerPage int
}

func (f JobFilter) query() (string, error) {
	if f.Page < 0 || f.PerPage < 0 {
		return "", invalid("JobFilter.Page and PerPage must not be negative, got %d and %d", f.Page, f.PerPage)
	}
	states := make([]string, len(f.States))
	for i, state := range f.States {
		states[i] = string(state)
	}
	order := ""
	if f.OldestFirst {
		order = "asc"
	}
	return query("/admin/jobs", "queue", f.Queue, "type", f.Type, "state", strings.Join(states, ","),
		"since", moment(f.Since), "until", moment(f.Until), "sort", f.Sort, "order", order,
		"page", positiveText(f.Page), "per_page", positiveText(f.PerPage)), nil
}

// moment is a point in time as a parameter; empty when there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// positiveText is a number as a parameter; empty when it is 0.
func positiveText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// JobPage is one page of a list of jobs.
type JobPage struct {
	Jobs []Job
	// Total is how many jobs the filter finds, on all pages.
	Total int
	// Page is the number of this page, counted from 1.
	Page int
	// HasMore says whether there is a page after this one.
	HasMore bool
}

// ListJobs looks for jobs, newest first, a page at a time. It needs a server with the admin routes, as ours and the
// embedded engine are, and a key that may use them.
//
//	page, err := client.ListJobs(ctx, ojs.JobFilter{Queue: "mail", States: []ojs.JobState{ojs.Discarded}})
//	for _, job := range page.Jobs { … }
func (c *Client) ListJobs(ctx context.Context, filter JobFilter) (*JobPage, error) {
	path, err := filter.query()
	if err != nil {
		return nil, err
	}
	var answer struct {
		Items      []Job
		Pagination struct {
			Total, Page int
			HasMore     bool `json:"has_more"`
		}
	}
	if err := c.ask(ctx, "GET", path, nil, &answer); err != nil {
		return nil, err
	}
	about := answer.Pagination
	return &JobPage{Jobs: answer.Items, Total: about.Total, Page: about.Page, HasMore: about.HasMore}, nil
}

// Made from xtask/operations by make gen; do not edit.

//go:build cgo

package ojs

import "time"

// BulkTarget: which jobs a bulk operation changes: ids, or a filter of the other members, and not both.
type BulkTarget struct {
	// JobIDs: the ids of the jobs.
	JobIDs []string
	// Queue: only jobs of this queue.
	Queue string
	// Type: only this job type; "email.*" is all types that start with "email.".
	Type string
	// States: only jobs in one of these states.
	States []JobState
	// EnqueuedAfter: only jobs enqueued after this time.
	EnqueuedAfter time.Time
	// EnqueuedBefore: only jobs enqueued before this time.
	EnqueuedBefore time.Time
	// Priority: only jobs of this priority.
	Priority *int
	// Meta: only jobs whose metadata has these members.
	Meta Obj
}

// members are those that are not empty, by their names on the wire.
func (f BulkTarget) members() Obj {
	chosen := Obj{}
	if f.Queue != "" {
		chosen["queue"] = f.Queue
	}
	if f.Type != "" {
		chosen["type"] = f.Type
	}
	if len(f.States) > 0 {
		chosen["state"] = f.States
	}
	if !f.EnqueuedAfter.IsZero() {
		chosen["enqueued_after"] = f.EnqueuedAfter
	}
	if !f.EnqueuedBefore.IsZero() {
		chosen["enqueued_before"] = f.EnqueuedBefore
	}
	if f.Priority != nil {
		chosen["priority"] = f.Priority
	}
	if len(f.Meta) > 0 {
		chosen["meta"] = f.Meta
	}
	return chosen
}

// DeadLetterFilter: which dead letters an operation changes. What is left out does not matter.
type DeadLetterFilter struct {
	// Queue: only jobs of this queue.
	Queue string
	// Type: only this job type; "email.*" is all types that start with "email.".
	Type string
	// ErrorType: only jobs whose last error is of this type.
	ErrorType string
	// Since: only jobs discarded at this time or later.
	Since time.Time
	// Until: only jobs discarded before this time.
	Until time.Time
}

// parameters are those of the query, by their names on the wire; empty ones are left out.
func (f DeadLetterFilter) parameters() []string {
	return []string{
		"queue", f.Queue,
		"type", f.Type,
		"error_type", f.ErrorType,
		"since", moment(f.Since),
		"until", moment(f.Until),
	}
}

// members are those that are not empty, by their names on the wire.
func (f DeadLetterFilter) members() Obj {
	chosen := Obj{}
	if f.Queue != "" {
		chosen["queue"] = f.Queue
	}
	if f.Type != "" {
		chosen["type"] = f.Type
	}
	if f.ErrorType != "" {
		chosen["error_type"] = f.ErrorType
	}
	if !f.Since.IsZero() {
		chosen["since"] = f.Since
	}
	if !f.Until.IsZero() {
		chosen["until"] = f.Until
	}
	return chosen
}

// JobFilter: which jobs a list shows. What is left out does not matter.
type JobFilter struct {
	// Queue: only jobs of this queue.
	Queue string
	// Type: only this job type; "email.*" is all types that start with "email.".
	Type string
	// States: only jobs in one of these states.
	States []JobState
	// Since: only jobs created at this time or later.
	Since time.Time
	// Until: only jobs created before this time.
	Until time.Time
	// Sort: what the list is sorted by; "created_at" without it. One of created_at, scheduled_at, priority.
	Sort string
	// OldestFirst: turns the order round. Without it the newest or the highest priority comes first.
	OldestFirst bool
	// Page: the number of the page. The first page is 1. Without it the server decides.
	Page int
	// PerPage: the most jobs on one page, 1 to 100. Without it the server decides.
	PerPage int
}

// parameters are those of the query, by their names on the wire; empty ones are left out.
func (f JobFilter) parameters() []string {
	return []string{
		"queue", f.Queue,
		"type", f.Type,
		"state", joined(f.States),
		"since", moment(f.Since),
		"until", moment(f.Until),
		"sort", f.Sort,
		"order", flagText(f.OldestFirst, "asc"),
		"page", positiveText(f.Page),
		"per_page", positiveText(f.PerPage),
	}
}

// wrong is what is wrong with the filter before it is sent.
func (f JobFilter) wrong() error {
	if f.Page < 0 {
		return invalid("JobFilter.Page must not be negative, got %d", f.Page)
	}
	if f.PerPage < 0 {
		return invalid("JobFilter.PerPage must not be negative, got %d", f.PerPage)
	}
	return nil
}

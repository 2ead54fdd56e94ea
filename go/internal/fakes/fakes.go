// Package fakes lets package ojstest see what a client enqueues.
package fakes

import "encoding/json"

// Watch has a client, an *ojs.Client, give the jobs that it enqueues to a function, each as an *ojs.Job. Package ojs
// sets it.
var Watch func(client any, enqueued func(job any))

// Matching finds the places of the recorded jobs that have these members and options. Package ojs sets it.
var Matching func(jobs []json.RawMessage, wanted map[string]any) ([]int, error)

// Package fakes lets package ojstest see what a client enqueues.
package fakes

// Watch has a client, an *ojs.Client, give the jobs that it enqueues to a function, each as an *ojs.Job. Package ojs
// sets it.
var Watch func(client any, enqueued func(job any))

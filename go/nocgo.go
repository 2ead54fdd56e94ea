//go:build !cgo

package ojs

import "errors"

// Without cgo there is no engine, and so no client and no worker. What is left is what handlers are made of: jobs,
// contexts, middleware, errors and [Registry].

// Client needs the engine. Without cgo there is no function that makes one.
type Client struct{}

// fill does nothing: defaults of job types are set by workers and tasks.
func (r *JobRequest) fill() { r.filled = true }

// itemError is the error of one item of an answer about many; nil when it has none.
func itemError(object []byte) *Error {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	var err *Error
	errors.As(errorOf(ErrAPI, object), &err)
	return err
}

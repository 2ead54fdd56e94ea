//go:build !cgo

package ojs

// Without cgo there is no engine, and so no client and no worker. What is left is what handlers are made of: jobs,
// contexts, middleware, errors and [Registry].

// Client needs the engine. Without cgo there is no function that makes one.
type Client struct{}

// hasDefaults: none has. Workers and tasks set defaults of job types.
func hasDefaults(string) bool { return false }

// errorOfObject is the error that an error object of the protocol describes.
func errorOfObject(object []byte) error { return errorOf(ErrAPI, object) }

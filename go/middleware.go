package ojs

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// HandlerFunc runs a job. What it returns is the outcome: nil completes the job, any error is a failure; see [NonRetryable], [Snooze],
// [ErrRelease] and [JobError].
type HandlerFunc func(ctx JobContext) error

// MiddlewareFunc is a layer around handlers. Without a call of next the handler does not run.
type MiddlewareFunc func(ctx JobContext, next HandlerFunc) error

// EnqueueFunc sends a job.
type EnqueueFunc func(ctx context.Context, request *JobRequest) (*Job, error)

// EnqueueMiddlewareFunc is a layer around every enqueue. It may change the request. When it returns without having called next, the
// job is dropped, and the caller gets [ErrNotEnqueued] unless it returns an error or a job of its own.
type EnqueueMiddlewareFunc func(ctx context.Context, request *JobRequest, next EnqueueFunc) (*Job, error)

// MiddlewareChain is a list of named layers; the first one added is the outermost. It may be changed until its first use.
//
// A change that fails returns an [ErrMiddleware], and the start of the worker (or the enqueue) returns it again: it may be ignored where
// it happens.
type MiddlewareChain[M any] struct {
	mu     sync.Mutex
	layers []layer[M]
	order  []string
	used   bool
	wrong  error
}

//gen:go/enqueue_order.j2 (make gen; do not edit)

// enqueueOrder: the layers around an enqueue whose order the specification fixes, outermost first ("Extension Interactions", section 14). Layers
// with other names may stand anywhere.
var enqueueOrder = []string{"trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"}

//gen:end

type layer[M any] struct {
	name string
	run  M
}

// Use adds the innermost layer, named after its function.
func (c *MiddlewareChain[M]) Use(run M) error {
	base := nameOf(run)
	name := base
	for n := 2; slices.Contains(c.Names(), name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return c.UseNamed(name, run)
}

// UseNamed adds the innermost layer.
func (c *MiddlewareChain[M]) UseNamed(name string, run M) error {
	return c.change(func() error { return c.insert(len(c.layers), name, run) })
}

// Prepend adds the outermost layer.
func (c *MiddlewareChain[M]) Prepend(name string, run M) error {
	return c.change(func() error { return c.insert(0, name, run) })
}

// InsertBefore adds a layer just outside another.
func (c *MiddlewareChain[M]) InsertBefore(existing, name string, run M) error {
	return c.change(func() error {
		at, err := c.index(existing)
		if err != nil {
			return err
		}
		return c.insert(at, name, run)
	})
}

// InsertAfter adds a layer just inside another.
func (c *MiddlewareChain[M]) InsertAfter(existing, name string, run M) error {
	return c.change(func() error {
		at, err := c.index(existing)
		if err != nil {
			return err
		}
		return c.insert(at+1, name, run)
	})
}

// Remove takes a layer out.
func (c *MiddlewareChain[M]) Remove(name string) error {
	return c.change(func() error {
		at, err := c.index(name)
		if err == nil {
			c.layers = slices.Delete(c.layers, at, at+1)
		}
		return err
	})
}

// Names are the names of the layers, outermost first.
func (c *MiddlewareChain[M]) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names()
}

func (c *MiddlewareChain[M]) names() []string {
	names := make([]string, len(c.layers))
	for i, layer := range c.layers {
		names[i] = layer.name
	}
	return names
}

func (c *MiddlewareChain[M]) change(make func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used {
		return wrongChain("the chain is in use: change middleware before the first job")
	}
	err := make()
	if c.wrong == nil {
		c.wrong = err
	}
	return err
}

func (c *MiddlewareChain[M]) insert(at int, name string, run M) error {
	if name == "" {
		return wrongChain("a middleware needs a name")
	}
	if reflect.ValueOf(run).IsNil() {
		return wrongChain("middleware '%s' is nil", name)
	}
	if slices.Contains(c.names(), name) {
		return wrongChain("there is a middleware named '%s' already; remove it first", name)
	}
	if err := c.inOrder(at, name); err != nil {
		return err
	}
	c.layers = slices.Insert(c.layers, at, layer[M]{name, run})
	return nil
}

func (c *MiddlewareChain[M]) inOrder(at int, name string) error {
	own := slices.Index(c.order, name)
	if own < 0 {
		return nil
	}
	for i, other := range c.names() {
		its := slices.Index(c.order, other)
		if its < 0 || (its < own) == (i < at) {
			continue
		}
		word := "before"
		if its < own {
			word = "after"
		}
		return wrongChain("'%s' must stand %s '%s': the order is %s", name, word, other, strings.Join(c.order, ", "))
	}
	return nil
}

func (c *MiddlewareChain[M]) index(name string) (int, error) {
	at := slices.Index(c.names(), name)
	if at < 0 {
		there := strings.Join(c.names(), ", ")
		if there == "" {
			there = "none"
		}
		return 0, wrongChain("there is no middleware named '%s'; there is: %s", name, there)
	}
	return at, nil
}

// freeze ends the changes and gives the layers, outermost first.
func (c *MiddlewareChain[M]) freeze() ([]layer[M], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong != nil {
		return nil, c.wrong
	}
	c.used = true
	return c.layers, nil
}

func wrongChain(format string, args ...any) error {
	return &Error{Class: ErrMiddleware, Code: "middleware", Message: fmt.Sprintf(format, args...)}
}

// nameOf is the name of a function without its package, "middleware" for one without a name.
func nameOf(function any) string {
	value := reflect.ValueOf(function)
	if value.Kind() != reflect.Func || value.IsNil() {
		return "middleware"
	}
	full := runtime.FuncForPC(value.Pointer()).Name()
	full = full[strings.LastIndexByte(full, '/')+1:]
	if _, name, found := strings.Cut(full, "."); found && !strings.Contains(name, ".func") {
		return strings.TrimSuffix(name, "-fm")
	}
	return "middleware"
}

// calledTwice is what a second call of next gets: what is inside, run again, would be a second job.
var calledTwice = wrongChain("a middleware called next twice")

// onion puts the layers around a handler.
func onion(layers []layer[MiddlewareFunc], handler HandlerFunc) HandlerFunc {
	for _, layer := range slices.Backward(layers) {
		next, run := handler, layer.run
		handler = func(ctx JobContext) error {
			called := false
			return run(ctx, func(ctx JobContext) error {
				if called {
					return calledTwice
				}
				called = true
				return next(ctx)
			})
		}
	}
	return handler
}

// enqueueOnion puts the layers around an enqueue.
func enqueueOnion(layers []layer[EnqueueMiddlewareFunc], send EnqueueFunc) EnqueueFunc {
	for _, layer := range slices.Backward(layers) {
		next, run := send, layer.run
		send = func(ctx context.Context, request *JobRequest) (*Job, error) {
			called := false
			return run(ctx, request, func(ctx context.Context, request *JobRequest) (*Job, error) {
				if called {
					return nil, calledTwice
				}
				called = true
				return next(ctx, request)
			})
		}
	}
	return send
}

//go:build cgo

package ojs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Client talks to an OJS server, or to an engine in this process. It may be used by many goroutines at a time.
type Client struct {
	native *nativeClient
	url    string
	chain  *MiddlewareChain[EnqueueMiddlewareFunc]
	tenant string                 // Of all its requests.
	outbox atomic.Pointer[Outbox] // The first one made for it.
	fake   func(job *Job)         // Gets the jobs that it enqueues, for package ojstest.

	compose sync.Once
	layers  []layer[EnqueueMiddlewareFunc]
	wrong   error
}

// NewClient makes a client for "http://host:8080", "https://…", "sqlite:jobs.db", "memory:" or "memory:name"; an empty URL means
// $OJS_URL, else http://localhost:8080. It opens nothing: the first call connects. Close it when it is not needed any more.
func NewClient(url string, options ...ClientOption) (*Client, error) {
	var settings connection
	for _, option := range options {
		option.toConnection(&settings)
	}
	return connect(url, settings)
}

func connect(url string, settings connection) (*Client, error) {
	if settings.wrong != nil {
		return nil, settings.wrong
	}
	said, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	settings.orElse(said)
	if settings.transport != nil {
		native, err := newNativeClientFor(settings.transport)
		return newClient(native, "", settings.tenant), err
	}
	url = cmp.Or(url, said.URL)
	native, err := newNativeClient(url, settings)
	if err != nil {
		return nil, err
	}
	return newClient(native, url, settings.tenant), nil
}

// readEnvironment gives the core the variables to read.
func readEnvironment() (said environment, err error) {
	answer, err := environmentJSON()
	if err != nil {
		return said, err
	}
	return said, json.Unmarshal(answer, &said)
}

func environmentJSON() ([]byte, error) {
	variables := map[string]string{}
	for _, variable := range os.Environ() {
		if name, text, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OJS_") {
			variables[name] = text
		}
	}
	given, err := encode(variables)
	if err != nil {
		return nil, err
	}
	return nativeEnvironment(given)
}

func newClient(native *nativeClient, url, tenant string) *Client {
	chain := &MiddlewareChain[EnqueueMiddlewareFunc]{order: enqueueOrder}
	return &Client{native: native, url: url, chain: chain, tenant: tenant}
}

// Close releases the connection; an embedded engine is flushed. Later calls return [ErrClosed]; a second Close does nothing.
func (c *Client) Close() error { return c.native.close() }

// Middleware is the chain around every enqueue.
func (c *Client) Middleware() *MiddlewareChain[EnqueueMiddlewareFunc] { return c.chain }

// Use adds enqueue middleware, see [MiddlewareChain.Use].
func (c *Client) Use(run EnqueueMiddlewareFunc) error { return c.chain.Use(run) }

// UseNamed adds enqueue middleware, see [MiddlewareChain.UseNamed].
func (c *Client) UseNamed(name string, run EnqueueMiddlewareFunc) error {
	return c.chain.UseNamed(name, run)
}

// Enqueue sends a job and returns it as the server stored it. args is an array (Args, any slice); a single value is wrapped in one.
func (c *Client) Enqueue(ctx context.Context, jobType string, args any, options ...EnqueueOption) (*Job, error) {
	request := NewJob(jobType, args, options...)
	job, err := c.through(ctx, &request, func(ctx context.Context, request *JobRequest) (*Job, error) {
		return c.job(ctx, "POST", "/jobs", request)
	})
	if err == nil && job == nil {
		err = dropped
	}
	return job, err
}

// EnqueueBatch sends many jobs in one request: all are stored or none. Middleware runs for each; jobs that it drops are left out.
func (c *Client) EnqueueBatch(ctx context.Context, requests []JobRequest) ([]Job, error) {
	kept, err := c.kept(ctx, requests)
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	var answer struct{ Jobs []Job }
	err = c.ask(ctx, "POST", "/jobs/batch", map[string]any{"jobs": kept}, &answer)
	return answer.Jobs, err
}

// kept runs the middleware for every request and gives those that came through.
func (c *Client) kept(ctx context.Context, requests []JobRequest) ([]*JobRequest, error) {
	var kept []*JobRequest
	for i, request := range requests {
		request.place = fmt.Sprintf("jobs[%d].", i)
		_, err := c.through(ctx, &request, func(_ context.Context, changed *JobRequest) (*Job, error) {
			kept = append(kept, changed)
			return &Job{ID: changed.ID, Type: changed.Type, Queue: changed.Queue}, nil
		})
		if err != nil && !errors.Is(err, ErrNotEnqueued) {
			return nil, err
		}
	}
	return kept, nil
}

func (c *Client) through(ctx context.Context, request *JobRequest, send EnqueueFunc) (*Job, error) {
	c.compose.Do(func() { c.layers, c.wrong = c.chain.freeze() })
	if c.wrong != nil {
		return nil, c.wrong
	}
	requestOf(ctx).info.complete(request)
	c.tenanted(request)
	return enqueueOnion(c.layers, send)(ctx, request)
}

func (c *Client) job(ctx context.Context, method, path string, body any) (*Job, error) {
	var answer struct{ Job *Job }
	if err := c.ask(ctx, method, path, body, &answer); err != nil {
		return nil, err
	}
	if answer.Job == nil || answer.Job.ID == "" {
		return nil, unexpected("the answer has no 'job' with an id")
	}
	return answer.Job, nil
}

// CreateWorkflow starts a workflow made by [Chain], [Group] or [Batch].
func (c *Client) CreateWorkflow(ctx context.Context, workflow Workflow) (*WorkflowStatus, error) {
	return c.workflow(ctx, "POST", "/workflows", workflow)
}

func (c *Client) workflow(ctx context.Context, method, path string, body any) (*WorkflowStatus, error) {
	var answer struct{ Workflow *WorkflowStatus }
	if err := c.ask(ctx, method, path, body, &answer); err != nil {
		return nil, err
	}
	if answer.Workflow == nil {
		return nil, unexpected("the answer has no 'workflow'")
	}
	return answer.Workflow, nil
}

// Request makes any call of the protocol: the path is relative to /ojs/v1, the body is anything JSON has a form for, or nil. It returns
// the body of a 2xx answer.
func (c *Client) Request(ctx context.Context, method, path string, body any) (json.RawMessage, error) {
	return c.request(ctx, method, path, body, nil)
}

// empty is the body of requests that say nothing.
var empty = struct{}{}

func (c *Client) request(ctx context.Context, method, path string, body any, wait *time.Duration) ([]byte, error) {
	// at() escapes what is in a name, so that two slashes have an empty one between them.
	if before, _, empty := strings.Cut(path+"/", "//"); empty {
		return nil, invalid("a path under %s needs an id or a name as text, such as job.ID; got \"\"", before)
	}
	var sent []byte
	if body != nil {
		var err error
		if sent, err = encode(body); err != nil {
			return nil, plainError(err)
		}
	}
	answer, err := c.native.call(ctx, method, path, sent, wait)
	if err == nil {
		c.record(method, path, sent)
	}
	return answer, err
}

// plainError takes an error of this package out of what encoding/json wrapped around it.
func plainError(err error) error {
	var wrong *json.MarshalerError
	var ours *Error
	for errors.As(err, &wrong) {
		err = wrong.Err
	}
	if errors.As(err, &ours) {
		return ours
	}
	return err
}

// ask makes a call and reads the answer.
func (c *Client) ask(ctx context.Context, method, path string, body, into any) error {
	return c.askWaiting(ctx, method, path, body, nil, into)
}

func (c *Client) askWaiting(ctx context.Context, method, path string, body any, wait *time.Duration, into any) error {
	answer, err := c.request(ctx, method, path, body, wait)
	if err != nil || into == nil {
		return err
	}
	return decode(answer, into)
}

// askFor makes a call and reads the answer into a new value; nil with an error.
func askFor[T any](c *Client, ctx context.Context, method, path string, body any) (*T, error) {
	answer := new(T)
	if err := c.ask(ctx, method, path, body, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

func (c *Client) object(ctx context.Context, method, path string, body any) (Obj, error) {
	var answer Obj
	err := c.ask(ctx, method, path, body, &answer)
	return answer, err
}

// at is a path out of its parts.
func at(parts ...string) string {
	var path strings.Builder
	for _, part := range parts {
		path.WriteString("/" + url.PathEscape(part))
	}
	return path.String()
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

// flagText is a parameter for a flag that is set; empty when it is not.
func flagText(flag bool, text string) string {
	if flag {
		return text
	}
	return ""
}

// joined are states as a parameter.
func joined(states []JobState) string {
	names := make([]string, len(states))
	for i, state := range states {
		names[i] = string(state)
	}
	return strings.Join(names, ",")
}

// query appends the parameters that are not empty.
func query(path string, parameters ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			values.Set(parameters[i], parameters[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

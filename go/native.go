package ojs

// Everything that touches C.

// #cgo CFLAGS: -I${SRCDIR}/include
// #include "bridge.h"
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"sync"
	"time"
	"unsafe"
)

// Version is the version of the engine inside.
func Version() string { return C.GoString(C.ojs_version()) }

// text lends a string to C for the length of a call.
func text(s string) C.ojs_slice {
	if s == "" {
		return C.ojs_slice{}
	}
	return C.ojs_slice{ptr: (*C.uint8_t)(unsafe.StringData(s)), len: C.size_t(len(s))}
}

// bytesOf lends bytes to C for the length of a call.
func bytesOf(b []byte) C.ojs_slice {
	if len(b) == 0 {
		return C.ojs_slice{}
	}
	return C.ojs_slice{ptr: (*C.uint8_t)(unsafe.SliceData(b)), len: C.size_t(len(b))}
}

// lender lends strings to C inside of structures. Unpin ends it.
type lender struct{ runtime.Pinner }

func (l *lender) text(s string) C.ojs_slice {
	if s != "" {
		l.Pin(unsafe.StringData(s))
	}
	return text(s)
}

// texts lends a list; none of an empty one.
func (l *lender) texts(list []string) (*C.ojs_slice, C.size_t) {
	if len(list) == 0 {
		return nil, 0
	}
	slices := make([]C.ojs_slice, len(list))
	for i, one := range list {
		slices[i] = l.text(one)
	}
	l.Pin(&slices[0])
	return &slices[0], C.size_t(len(slices))
}

// goBytes copies what C lends.
func goBytes(s C.ojs_slice) []byte {
	return []byte(unsafe.String((*byte)(s.ptr), int(s.len)))
}

// takeBuf copies a buffer and frees it.
func takeBuf(buf *C.ojs_buf) []byte {
	if buf == nil {
		return nil
	}
	defer C.ojs_buf_free(buf)
	return goBytes(C.ojs_buf_slice(buf))
}

// takeError turns an error of C into one of Go and frees it. Nil stays nil.
func takeError(e *C.ojs_error) error {
	if e == nil {
		return nil
	}
	defer C.ojs_error_free(e)
	return errorOf(Class(C.ojs_error_class(e)), goBytes(C.ojs_error_json(e)))
}

// errorOfObject is the error that an error object of the protocol describes; the engine knows the class of its code.
func errorOfObject(object []byte) error { return takeError(C.ojs_error_of(0, bytesOf(object))) }

// reply is what a call ends in.
type reply struct {
	body []byte
	err  error
}

//export ojsGoDone
func ojsGoDone(ticket C.uintptr_t, failure *C.ojs_error, body *C.ojs_buf) {
	handle := cgo.Handle(ticket)
	answer := handle.Value().(chan reply)
	handle.Delete()
	// There is room: this is the only one who sends.
	answer <- reply{takeBuf(body), takeError(failure)}
}

// nativeClient is a connection. Its methods may be called at any time, also after close.
type nativeClient struct {
	mu   sync.RWMutex
	ptr  *C.ojs_client
	host *mailbox // Of a client over a transport of the program's own, else nil.
}

func newNativeClient(url string, s connection) (*nativeClient, error) {
	var lend lender
	defer lend.Unpin()
	var options C.ojs_client_options
	C.ojs_client_options_init(&options)
	s.write(&lend, &options)
	c := &nativeClient{}
	if err := takeError(C.ojs_client_new(text(url), &options, &c.ptr)); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(c, (*nativeClient).free)
	return c, nil
}

// nativeJobDefaults sets options of all jobs of a type in the core, in place of those before; null is none.
func nativeJobDefaults(jobType string, options []byte) error {
	err := takeError(C.ojs_job_defaults_set(text(jobType), bytesOf(options)))
	runtime.KeepAlive(options)
	return err
}

// nativeVersionChanges are the numbers of the changes that bring the arguments of a job to the version of its
// handler, as JSON.
func nativeVersionChanges(jobType string, said, job []byte) ([]byte, error) {
	var buf *C.ojs_buf
	err := takeError(C.ojs_version_changes(text(jobType), bytesOf(said), bytesOf(job), &buf))
	runtime.KeepAlive(said)
	runtime.KeepAlive(job)
	return takeBuf(buf), err
}

// nativeFollowEvents is the next request of a reader of events, both JSON.
func nativeFollowEvents(said []byte) ([]byte, error) {
	var buf *C.ojs_buf
	err := takeError(C.ojs_events_follow(bytesOf(said), &buf))
	runtime.KeepAlive(said)
	return takeBuf(buf), err
}

// ofTenant is a connection with the requests of a tenant over this one.
func (c *nativeClient) ofTenant(tenant string) (*nativeClient, error) {
	view := &nativeClient{}
	err := c.with(func(p *C.ojs_client) error {
		err := takeError(C.ojs_client_of_tenant(p, text(tenant), &view.ptr))
		runtime.KeepAlive(tenant)
		return err
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(view, (*nativeClient).free)
	return view, nil
}

// nativeEnvironment reads variables, a JSON object, into settings.
func nativeEnvironment(variables []byte) ([]byte, error) {
	var buf *C.ojs_buf
	err := takeError(C.ojs_environment(bytesOf(variables), &buf))
	return takeBuf(buf), err
}

func millis(d time.Duration) C.uint64_t { return C.uint64_t(wireMillis(max(d, 0))) }

// call makes a request and waits for its answer, or for the context. wait is how long the server may hold the answer back, if it may.
func (c *nativeClient) call(ctx context.Context, method, path string, body []byte, wait *time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	answer := make(chan reply, 1)
	if err := c.submit(method, path, body, wait, answer); err != nil {
		return nil, err
	}
	select {
	case got := <-answer:
		return got.body, got.err
	case <-ctx.Done():
		// The answer, when it comes, goes into the channel and is forgotten with it.
		return nil, context.Cause(ctx)
	}
}

func (c *nativeClient) submit(method, path string, body []byte, wait *time.Duration, answer chan reply) error {
	waitMS := C.int64_t(-1)
	if wait != nil {
		waitMS = C.int64_t(wait.Milliseconds())
	}
	return c.with(func(p *C.ojs_client) error {
		handle := cgo.NewHandle(answer)
		err := takeError(C.ojs_go_call(p, text(method), text(path), bytesOf(body), waitMS, C.uintptr_t(handle)))
		if err != nil {
			handle.Delete()
		}
		return err
	})
}

// with runs f on the client unless it was closed.
func (c *nativeClient) with(f func(*C.ojs_client) error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.ptr == nil {
		return &Error{Class: ErrClosed, Code: "closed", Message: "the client is closed"}
	}
	return f(c.ptr)
}

// close flushes and frees it. Calls under way end by themselves.
func (c *nativeClient) close() error {
	c.mu.Lock()
	ptr := c.ptr
	c.ptr = nil
	c.mu.Unlock()
	if ptr == nil {
		return nil
	}
	defer C.ojs_client_free(ptr)
	// First: a transport that waits for the end of its context would not answer before.
	c.host.close()
	return takeError(C.ojs_client_close(ptr))
}

func (c *nativeClient) free() {
	c.host.close()
	C.ojs_client_free(c.ptr)
	c.ptr = nil
}

// nativeWorker is a worker of the engine.
type nativeWorker struct {
	mu  sync.RWMutex
	ptr *C.ojs_worker
}

func newNativeWorker(c *nativeClient, s workerSettings, types []string, versions []byte) (*nativeWorker, error) {
	var lend lender
	defer lend.Unpin()
	var options C.ojs_worker_options
	C.ojs_worker_options_init(&options)
	s.write(&lend, &options)
	options.types, options.type_count = lend.texts(types)
	options.versions = lend.text(string(versions))
	w := &nativeWorker{}
	return w, c.with(func(p *C.ojs_client) error { return takeError(C.ojs_worker_new(p, &options, &w.ptr)) })
}

// with runs f on the worker unless it was freed.
func (w *nativeWorker) with(f func(*C.ojs_worker) error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.ptr == nil {
		return &Error{Class: ErrClosed, Code: "closed", Message: "the worker is over"}
	}
	return f(w.ptr)
}

func (w *nativeWorker) start() (id string, err error) {
	err = w.with(func(p *C.ojs_worker) error {
		if err := takeError(C.ojs_worker_start(p)); err != nil {
			return err
		}
		id = string(goBytes(C.ojs_worker_id(p)))
		return nil
	})
	return id, err
}

// pull waits for a frame with at most n jobs. Over is true at the end of the worker.
func (w *nativeWorker) pull(n int) (frame []byte, over bool, err error) {
	err = w.with(func(p *C.ojs_worker) error {
		var buf *C.ojs_buf
		var status C.ojs_pull
		if err := takeError(C.ojs_worker_pull(p, C.uint32_t(n), -1, &buf, &status)); err != nil {
			return err
		}
		frame, over = takeBuf(buf), status == C.OJS_PULL_CLOSED
		return nil
	})
	return frame, over || err != nil, err
}

// cancellation says that a running job should stop.
type cancellation struct {
	token uint64
	why   CancelReason
}

// cancellations waits for some, and gives nil at the end of the worker.
func (w *nativeWorker) cancellations() (found []cancellation) {
	_ = w.with(func(p *C.ojs_worker) error {
		var list [64]C.ojs_cancellation
		for {
			var count C.size_t
			var status C.ojs_pull
			err := takeError(C.ojs_worker_cancellations(p, C.size_t(len(list)), -1, &list[0], &count, &status))
			if err != nil || status == C.OJS_PULL_CLOSED {
				return err
			}
			for _, one := range list[:count] {
				found = append(found, cancellation{uint64(one.token), CancelReason(one.why)})
			}
			if found != nil {
				return nil
			}
		}
	})
	return found
}

func (w *nativeWorker) complete(frame []byte, busy time.Duration) error {
	return w.with(func(p *C.ojs_worker) error {
		return takeError(C.ojs_worker_complete(p, bytesOf(frame), C.uint64_t(max(busy, 0).Microseconds()), nil))
	})
}

func (w *nativeWorker) heartbeat(token uint64) (why CancelReason, err error) {
	err = w.with(func(p *C.ojs_worker) error {
		var verdict C.ojs_cancel
		err := takeError(C.ojs_worker_heartbeat(p, C.uint64_t(token), &verdict))
		why = CancelReason(verdict)
		return err
	})
	return why, err
}

// progress reports how far a job has come.
func (w *nativeWorker) progress(token uint64, report []byte) error {
	return w.with(func(p *C.ojs_worker) error {
		return takeError(C.ojs_worker_progress(p, C.uint64_t(token), bytesOf(report)))
	})
}

// save saves the checkpoint of a job, or the result of a step.
func (w *nativeWorker) save(token uint64, step string, state []byte) (sequence int64, why CancelReason, err error) {
	name := []byte(step)
	err = w.with(func(p *C.ojs_worker) error {
		var number C.uint64_t
		var verdict C.ojs_cancel
		err := takeError(C.ojs_worker_save(p, C.uint64_t(token), bytesOf(name), bytesOf(state), &number, &verdict))
		sequence, why = int64(number), CancelReason(verdict)
		return err
	})
	return sequence, why, err
}

// saved is the checkpoint of a job, or the result of a step; nil when there is none.
func (w *nativeWorker) saved(token uint64, step string) (state []byte, err error) {
	name := []byte(step)
	err = w.with(func(p *C.ojs_worker) error {
		var buf *C.ojs_buf
		err := takeError(C.ojs_worker_saved(p, C.uint64_t(token), bytesOf(name), &buf))
		state = takeBuf(buf)
		return err
	})
	return state, err
}

func (w *nativeWorker) quiet() error {
	return w.with(func(p *C.ojs_worker) error { return takeError(C.ojs_worker_quiet(p)) })
}

func (w *nativeWorker) resume() error {
	return w.with(func(p *C.ojs_worker) error { return takeError(C.ojs_worker_resume(p)) })
}

// stop begins the end; a negative grace takes the one of the settings.
func (w *nativeWorker) stop(grace time.Duration) error {
	graceMS := C.int64_t(-1)
	if grace >= 0 {
		graceMS = C.int64_t(grace.Milliseconds())
	}
	return w.with(func(p *C.ojs_worker) error { return takeError(C.ojs_worker_stop(p, graceMS)) })
}

func (w *nativeWorker) wait() {
	_ = w.with(func(p *C.ojs_worker) error { return takeError(C.ojs_worker_wait(p, -1, nil)) })
}

func (w *nativeWorker) phase() WorkerState {
	state := StateStopped
	_ = w.with(func(p *C.ojs_worker) error {
		state = WorkerState(C.ojs_worker_phase(p))
		return nil
	})
	return state
}

// free waits for the calls under way.
func (w *nativeWorker) free() {
	w.mu.Lock()
	defer w.mu.Unlock()
	C.ojs_worker_free(w.ptr)
	w.ptr = nil
}

// Server is an OJS server in this process: for tests, and for programs that are their own server.
type Server struct {
	mu  sync.Mutex
	ptr *C.ojs_server
	url string
}

// StartServer opens a store ("memory:", "sqlite:jobs.db") and listens on an address ("127.0.0.1:8080"; port 0 takes a free one).
// Without options anyone who reaches it may use it.
func StartServer(store, listen string, options ...ServerOption) (*Server, error) {
	given := serverSettings{insecure: true}
	for _, option := range options {
		option(&given)
	}
	var lend lender
	defer lend.Unpin()
	var native C.ojs_server_options
	C.ojs_server_options_init(&native)
	native.store, native.listen, native.keys = lend.text(store), lend.text(listen), lend.text(given.keys)
	native.insecure = C.bool(given.insecure)
	s := &Server{}
	if err := takeError(C.ojs_server_start_with(&native, &s.ptr)); err != nil {
		return nil, err
	}
	s.url = string(goBytes(C.ojs_server_url(s.ptr)))
	return s, nil
}

// URL is where it listens.
func (s *Server) URL() string { return s.url }

// Close answers the requests under way, then closes the store. A second call does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ptr == nil {
		return nil
	}
	err := takeError(C.ojs_server_stop(s.ptr))
	C.ojs_server_free(s.ptr)
	s.ptr = nil
	return err
}

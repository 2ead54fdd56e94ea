package ojs

// Everything of the outbox and of transports that touches C.

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"runtime"
	"sync"
	"time"
)

// outboxRow is a statement to be run by the application, and the id that its job will have.
type outboxRow struct {
	ID     string
	SQL    string
	Params []any // Texts and nil.
}

// encrypted is an enqueue request as a row shall hold it: with its arguments encrypted, where the client does so. The relay has no key.
func (c *nativeClient) encrypted(request []byte) ([]byte, error) {
	var out *C.ojs_buf
	err := c.with(func(p *C.ojs_client) error { return takeError(C.ojs_outbox_encrypted(p, bytesOf(request), &out)) })
	return takeBuf(out), err
}

// stageRow makes the row of an enqueue request.
func stageRow(request []byte, dialect, table string) (row outboxRow, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_outbox_stage(bytesOf(request), text(dialect), text(table), text(placeholders(dialect)), &out))
	err = readBuf(out, err, &row)
	return row, err
}

// stageRowInEngine makes the engine's own row, where it shares the application's PostgreSQL.
func stageRowInEngine(request []byte) (row outboxRow, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_outbox_stage_in_engine(bytesOf(request), text(placeholders(PostgreSQL)), &out))
	err = readBuf(out, err, &row)
	return row, err
}

func placeholders(dialect string) string {
	if dialect == PostgreSQL {
		return "numeric_dollar"
	}
	return "qmark"
}

func outboxMigration(dialect, table string) (statements []string, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_outbox_migration(text(dialect), text(table), &out))
	err = readBuf(out, err, &statements)
	return statements, err
}

// readBuf reads the JSON that a call has left, unless it failed.
func readBuf(buf *C.ojs_buf, failed error, into any) error {
	data := takeBuf(buf)
	if failed != nil {
		return failed
	}
	return decode(data, into)
}

// nativeRecorded are the jobs that a request enqueues, in the form in which they go over the wire.
func nativeRecorded(method, path string, body []byte) (jobs []json.RawMessage, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_fake_recorded(text(method), text(path), bytesOf(body), &out))
	runtime.KeepAlive(body)
	err = readBuf(out, err, &jobs)
	return jobs, err
}

// nativeMatching are the places of those recorded jobs that a test asks for.
func nativeMatching(jobs, wanted []byte) (places []int, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_fake_matching(bytesOf(jobs), bytesOf(wanted), &out))
	err = readBuf(out, err, &places)
	return places, err
}

func notifyStatement() string { return string(goBytes(C.ojs_outbox_notify())) }

// sameDatabaseStep is one step of finding out whether the server shares the database.
func sameDatabaseStep(event []byte) (step sameStep, err error) {
	var out *C.ojs_buf
	err = takeError(C.ojs_outbox_same_database(bytesOf(event), &out))
	err = readBuf(out, err, &step)
	return step, err
}

// stagedQuery lists the jobs that are not sent yet: id, type, arguments and options, each a text.
func stagedQuery(dialect, table string, inEngine bool) (string, error) {
	var out *C.ojs_buf
	err := takeError(C.ojs_outbox_staged_query(text(dialect), text(table), C.bool(inEngine), &out))
	return string(takeBuf(out)), err
}

// nativeRelay is a relay of the engine. Its methods may be called at any time, also after free.
type nativeRelay struct {
	mu  sync.RWMutex
	ptr *C.ojs_relay
}

// startNativeRelay reads the database itself when there is a URL, and by the mailbox when there is not.
func startNativeRelay(c *nativeClient, o OutboxOptions, host *mailbox) (*nativeRelay, error) {
	var lend lender
	defer lend.Unpin()
	var options C.ojs_relay_options
	C.ojs_relay_options_init(&options)
	options.batch_size = C.uint32_t(o.BatchSize)
	options.poll_interval_ms, options.retention_ms = millis(o.PollInterval), millis(o.Retention)
	options.table, options.migrate = lend.text(o.Table), C.bool(o.Migrate)
	if host == nil {
		options.url = lend.text(o.URL)
	} else {
		options.host, options.database = host.ptr, lend.text(o.Dialect)
	}
	r := &nativeRelay{}
	return r, c.with(func(p *C.ojs_client) error { return takeError(C.ojs_relay_start(p, &options, &r.ptr)) })
}

func (r *nativeRelay) wake() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	C.ojs_relay_wake(r.ptr)
}

func (r *nativeRelay) status() (found RelayStatus, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.ptr == nil {
		return found, nil
	}
	var out *C.ojs_buf
	err = takeError(C.ojs_relay_status(r.ptr, &out))
	err = readBuf(out, err, &found)
	return found, err
}

// stop flushes for at most so long, and frees it.
func (r *nativeRelay) stop(grace time.Duration) error {
	r.mu.RLock()
	err := takeError(C.ojs_relay_stop(r.ptr, millis(grace)))
	r.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	C.ojs_relay_free(r.ptr)
	r.ptr = nil
	return err
}

// mailbox is where the engine's requests wait for an answer made in Go.
type mailbox struct {
	mu  sync.RWMutex
	ptr *C.ojs_transport
}

func newMailbox() (*mailbox, error) {
	m := &mailbox{}
	return m, takeError(C.ojs_transport_new(&m.ptr))
}

// letter is a request in a mailbox.
type letter struct {
	ticket       uint64
	method, path string
	body         []byte
}

// pull waits for a request. Over is true at the end of the mailbox.
func (m *mailbox) pull() (found letter, over bool) {
	const patience = 60_000
	for {
		var request C.ojs_request
		err := takeError(C.ojs_transport_pull(m.ptr, patience, &request))
		if err != nil {
			return letter{}, true
		}
		if request.method == nil {
			continue
		}
		return letter{uint64(request.ticket), string(takeBuf(request.method)), string(takeBuf(request.path)), takeBuf(request.body)}, false
	}
}

// reply answers; an error instead of an answer is one of the connection.
func (m *mailbox) reply(ticket uint64, status int, body []byte, failed error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.ptr == nil {
		return nil
	}
	if failed != nil {
		return takeError(C.ojs_transport_fail(m.ptr, C.uint64_t(ticket), text(failed.Error())))
	}
	return takeError(C.ojs_transport_reply(m.ptr, C.uint64_t(ticket), C.uint16_t(status), bytesOf(body)))
}

// close fails what waits and wakes the goroutine that pulls. Nil has nothing to close.
func (m *mailbox) close() {
	if m == nil {
		return
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.ptr != nil {
		C.ojs_transport_close(m.ptr)
	}
}

// free is for the one who pulls, when it is over.
func (m *mailbox) free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	C.ojs_transport_free(m.ptr)
	m.ptr = nil
}

// newNativeClientOver is a connection whose requests go to a mailbox.
func newNativeClientOver(m *mailbox) (*nativeClient, error) {
	c := &nativeClient{}
	if err := takeError(C.ojs_client_over(m.ptr, &c.ptr)); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(c, (*nativeClient).free)
	return c, nil
}

// Open Job Spec: clients and workers for C, and for every language that can call C.
//
// Made by cbindgen from bindings/c: do not edit.
//
// 1. Functions that can fail return an error, NULL for success; the caller frees it with ojs_error_free(). Values come out through
//    the last parameters, which are always written: NULL or 0 on failure. Any of them may be NULL: the value is then thrown away.
// 2. Pointers that go in are borrowed for the call. Objects that come out are owned by the caller and freed once, by the function
//    named after their type; freeing NULL does nothing. A slice that comes out lives as long as the object it was asked of.
// 3. Text is UTF-8 with a length, without a final zero; the pointer may be NULL when the length is 0. JSON goes in and out as text.
// 4. Structures of options begin with their size: let the _init function fill them, then change members.
// 5. Functions that take a `const` object may be called from any thread at any time, also at the same time. Freeing is for the one
//    who is sure that the object is not used any more.
// 6. Callbacks run on threads of the library. They must return, and must not unwind or longjmp out.
// 7. Nothing is started before the first call that needs it. The library handles no signals (its own threads block SIGPIPE), writes
//    nothing to the terminal, and reads no environment but OJS_FAULT_PANIC, by which tests make it panic. After a fork, connections over HTTP work on in the child; workers, servers and embedded engines do not.


#ifndef OJS_H
#define OJS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define OJS_MUST_USE __attribute__((warn_unused_result))
#else
#define OJS_MUST_USE
#endif

typedef struct ojs_error ojs_error;
typedef struct ojs_buf ojs_buf;
typedef struct ojs_client ojs_client;
typedef struct ojs_worker ojs_worker;
typedef struct ojs_server ojs_server;
typedef struct ojs_answer ojs_answer;
typedef struct ojs_transport ojs_transport;
typedef struct ojs_relay ojs_relay;
typedef struct ojs_enqueue_next ojs_enqueue_next;
typedef struct ojs_handler_next ojs_handler_next;
typedef struct ojs_events ojs_events;
typedef struct ojs_fake ojs_fake;


// The interface: `major << 16 | minor`. A new minor adds, a new major changes.
#define OJS_ABI (1 << 16)

// The innermost layer: it runs last, directly before the enqueue or the handler.
#define OJS_LAYER_INNERMOST 0

// Around all others.
#define OJS_LAYER_OUTERMOST 1

// Directly around the layer that is named.
#define OJS_LAYER_BEFORE 2

// Directly inside the layer that is named.
#define OJS_LAYER_AFTER 3

// What kind of error it is; the same in every language.
enum ojs_class
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // No error.
    OJS_CLASS_NONE = 0,
    // The server answered, and the answer is an error.
    OJS_CLASS_API = 1,
    // The job exists already: same id, or a unique policy said so.
    OJS_CLASS_DUPLICATE = 2,
    // There is no such job, queue, workflow or schedule (any more).
    OJS_CLASS_NOT_FOUND = 3,
    // The queue is paused and refuses jobs.
    OJS_CLASS_QUEUE_PAUSED = 4,
    // The request came too fast, or the queue is full.
    OJS_CLASS_RATE_LIMITED = 5,
    // The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it.
    OJS_CLASS_INVALID_STATE_TRANSITION = 6,
    // The job, its metadata, its result or the batch is larger than the server takes.
    OJS_CLASS_PAYLOAD_TOO_LARGE = 7,
    // The server found the request wrong; field in the details names the place.
    OJS_CLASS_INVALID_REQUEST = 8,
    // The token is missing, wrong, or not allowed to do this.
    OJS_CLASS_AUTHENTICATION = 9,
    // The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done.
    OJS_CLASS_UNSUPPORTED_EXTENSION = 11,
    // There was no OJS answer.
    OJS_CLASS_CONNECTION = 20,
    // There was no answer in time; the server may have acted.
    OJS_CLASS_TIMEOUT = 21,
    // The request, an argument or a setting was found wrong before anything was sent.
    OJS_CLASS_VALIDATION = 30,
    // An enqueue middleware did not call next: the job was dropped on purpose.
    OJS_CLASS_NOT_ENQUEUED = 31,
    // A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it.
    OJS_CLASS_UNTRUSTED_WEBHOOK = 34,
    // The client, worker or server was closed.
    OJS_CLASS_CLOSED = 40,
    // A worker or embedded engine of the parent was used in a forked child. Make it after the fork.
    OJS_CLASS_FORKED = 41,
    // A bug in OJS. Please report it.
    OJS_CLASS_INTERNAL = 42,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ojs_class ojs_class;
#else
typedef int32_t ojs_class;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What came of a pull.
enum ojs_pull
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // There is a frame with at least one job.
    OJS_PULL_JOBS = 0,
    // Nothing within the time.
    OJS_PULL_TIMED_OUT = 1,
    // ojs_worker_unblock() was called.
    OJS_PULL_UNBLOCKED = 2,
    // The worker is over: leave the loop.
    OJS_PULL_CLOSED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ojs_pull ojs_pull;
#else
typedef uint32_t ojs_pull;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a handler should stop.
enum ojs_cancel
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It should not.
    OJS_CANCEL_NONE = 0,
    // The job was cancelled on the server.
    OJS_CANCEL_CANCELLED = 1,
    // Another worker has the job by now, or it was answered before.
    OJS_CANCEL_LEASE_LOST = 2,
    // The attempt's time is up.
    OJS_CANCEL_TIMED_OUT = 3,
    // The worker stops and its grace period is over.
    OJS_CANCEL_SHUTDOWN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ojs_cancel ojs_cancel;
#else
typedef uint32_t ojs_cancel;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where a worker is in its life.
enum ojs_phase
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Not started.
    OJS_PHASE_NEW = 0,
    // Fetches and runs.
    OJS_PHASE_RUNNING = 1,
    // Runs what it holds, fetches nothing.
    OJS_PHASE_QUIET = 2,
    // Finishes what it holds, then stops.
    OJS_PHASE_DRAINING = 3,
    // Over.
    OJS_PHASE_STOPPED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ojs_phase ojs_phase;
#else
typedef uint32_t ojs_phase;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Bytes that are lent: their owner frees them. `ptr` may be NULL when `len` is 0.
typedef struct {
    // The first byte.
    const uint8_t *ptr;
    // How many.
    size_t len;
} ojs_slice;

// How to connect. Empty and 0 mean the default.
typedef struct {
    // Set by ojs_client_options_init().
    uint32_t size;
    // How often a request that did not arrive is sent, the first time included.
    uint32_t max_sends;
    // For a whole call, in milliseconds.
    uint64_t timeout_ms;
    // For connecting, in milliseconds.
    uint64_t connect_timeout_ms;
    // Bearer token.
    ojs_slice auth_token;
    // Further headers: name, value, name, value …
    const ojs_slice *headers;
    // How many slices that are: twice the number of headers.
    size_t header_slices;
    // Certificates to trust, a PEM file.
    ojs_slice ca_file;
    // The client's own certificate, a PEM file.
    ojs_slice cert_file;
    // Its key.
    ojs_slice key_file;
    // Encrypts the arguments of jobs, and decrypts them in workers: `name:key,name:key`, the current key first. A key is 64
    // hexadecimal characters, or base64 of 32 bytes.
    ojs_slice encryption_keys;
    // Most bytes of one answer; 268,435,456. A longer one is an error.
    uint64_t max_response_bytes;
    // `environment` (requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names) or `none`;
    // `environment`. Requests to a loopback address go through none.
    ojs_slice proxy;
    // The tenant whose requests these are: it sees and changes what belongs to it, and its jobs are the tenant's.
    ojs_slice tenant;
} ojs_client_options;

// What an asynchronous call ends in: an error, or a body; the one who is called owns it.
typedef void (*ojs_done_fn)(void *user_data, ojs_error *error, ojs_buf *body);

// Settings of a worker. Empty and 0 mean the default.
typedef struct {
    // Set by ojs_worker_options_init().
    uint32_t size;
    // Jobs held at a time; 10.
    uint32_t concurrency;
    // The queues, in order of preference; `default`.
    const ojs_slice *queues;
    // How many.
    size_t queue_count;
    // The job types that this worker runs; a job of another one fails for good. None: it runs all.
    const ojs_slice *types;
    // How many.
    size_t type_count;
    // Its name on the server; a random one.
    ojs_slice worker_id;
    // Between heartbeats; 5,000.
    uint64_t heartbeat_ms;
    // How long a silent worker keeps a job; 30,000.
    uint64_t visibility_ms;
    // How long running handlers may finish after a stop; 25,000.
    uint64_t grace_ms;
    // The longest pause between fetches, where a server cannot wake a worker.
    uint64_t poll_ms;
    // Do not give unfinished jobs back when it stops: they wait until their leases end.
    bool keep_on_shutdown;
    // Labels of the worker, sent to the server.
    const ojs_slice *labels;
    // How many.
    size_t label_count;
    // How long outcomes may take to reach the server after `grace_ms`; as long as `visibility_ms`, at most 30,000.
    uint64_t flush_ms;
    // What happens to a job of a type that is not among `types`: `fail` (it becomes a dead letter) or `release` (it
    // goes back to its queue, and no attempt is counted); `fail`.
    ojs_slice unknown_types;
    // Ask only for jobs of `types`, of a server whose manifest names `fetch_types`; jobs of other types are given
    // back.
    bool only_registered_types;
    // The versions of arguments that the worker runs, a JSON object by job type: `version`, for which the handler is
    // written (it runs all with the same first number), or `versions`, a list of ranges such as `>=2.0 <3.0`; and
    // `transforms`, a list of pairs of versions: the arguments of the first can be changed into those of the second,
    // see ojs_version_changes(). Types that are not there run in every version.
    ojs_slice versions;
} ojs_worker_options;

// A running job that should stop.
typedef struct {
    // The job's.
    uint64_t token;
    // The reason, never OJS_CANCEL_NONE.
    ojs_cancel why;
} ojs_cancellation;

// A job out of a frame. The slices live as long as the frame.
typedef struct {
    // Answers go by this.
    uint64_t token;
    // UUIDv7, the same in every redelivery.
    ojs_slice id;
    // Finds the handler.
    ojs_slice job_type;
    // The queue it came from.
    ojs_slice queue;
    // The whole job as JSON: `args`, `meta`, and the rest.
    ojs_slice envelope;
    // 1 on the first run.
    uint32_t attempt;
    // It has a deadline.
    bool has_deadline;
    // Milliseconds left until then, when the frame was made.
    uint64_t deadline_ms;
} ojs_job;

// What is called when there is something to pull, a job to stop, or the end; and how its user_data is freed.
typedef void (*ojs_ring_fn)(void *user_data);

// Frees user_data: called once, when it is not needed any more.
typedef void (*ojs_destroy_fn)(void *user_data);

// Runs a job. `answer` holds the outcome; if it stays empty, the job is completed without a result. `job` and
// `answer` live until it returns.
typedef void (*ojs_handler_fn)(void *user_data, const ojs_job *job, const ojs_answer *answer);

// A layer around enqueueing. `request` is the job as JSON: `type`, `args`, perhaps `meta` and `options`. It goes on
// with ojs_enqueue_next_run(), once; a job with which it does not go on is dropped. What it leaves in `job` (it may
// hand the same pointer on), or else what came back from inside, goes outwards; the library frees it. An error that it
// returns ends the enqueue, and is what its caller gets: one from inside, or one of ojs_error_new().
typedef ojs_error *(*ojs_enqueue_layer_fn)(void *user_data,
                                           ojs_slice request,
                                           const ojs_enqueue_next *next,
                                           ojs_buf **job);

// A layer around handlers. It goes on with ojs_handler_next_run(), once; where it does not, the handler does not run.
// What is in `answer` then, see ojs_answer_outcome(), it may replace: the last answer counts. All pointers live until
// it returns.
typedef void (*ojs_handler_layer_fn)(void *user_data,
                                     const ojs_job *job,
                                     const ojs_answer *answer,
                                     const ojs_handler_next *next);

// Settings of a server. Fill with ojs_server_options_init(), then change.
typedef struct {
    // Set by ojs_server_options_init().
    uint32_t size;
    // Whether anyone who can connect can delete all jobs; false.
    bool test_mode;
    // Whether it may listen, without `keys`, where other machines reach it; true.
    bool insecure;
    // `sqlite:jobs.db`, `memory:` (the default).
    ojs_slice store;
    // `127.0.0.1:8080`; the default takes a free port.
    ojs_slice listen;
    // A file of keys, which `ojs keys add` writes: every request needs one. Empty: no request needs a key.
    ojs_slice keys;
} ojs_server_options;

// A request for the program to answer. Free its three buffers; `body` is NULL when it has none.
typedef struct {
    // The reply goes by this; 0 when nothing came in time.
    uint64_t ticket;
    // `GET`, `POST`, …
    ojs_buf *method;
    // Relative to `/ojs/v1`, or `/ojs/manifest`.
    ojs_buf *path;
    // JSON text.
    ojs_buf *body;
} ojs_request;

// How a relay works. Empty and 0 mean the default.
typedef struct {
    // Set by ojs_relay_options_init().
    uint32_t size;
    // Most rows in one request; 1,000.
    uint32_t batch_size;
    // How often it looks when it is not woken, in milliseconds; 1000.
    uint64_t poll_interval_ms;
    // How long rows are kept after they were sent, in milliseconds; 24 hours.
    uint64_t retention_ms;
    // The table; `ojs_outbox`.
    ojs_slice table;
    // Where to read: the URL of a PostgreSQL database …
    ojs_slice url;
    // … or a database that the program's own driver reaches: it pulls `POST /outbox` with `[{"sql", "params"}, …]`, runs all of it
    // in one transaction, and replies `[[row, …], …]`, a list for each statement. Borrowed for the call; outlives the relay if freed.
    const ojs_transport *host;
    // What the host's database is: `postgresql` or `sqlite`.
    ojs_slice database;
    // Whether the tables are made first.
    bool migrate;
} ojs_relay_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// OJS_ABI of the library that runs, to compare with the one compiled against.
uint32_t ojs_abi_version(void);

// An error when the library that runs cannot serve a program compiled against this header: `ojs_abi_check(OJS_ABI)`.
OJS_MUST_USE ojs_error *ojs_abi_check(uint32_t compiled);

// The version of the package, as text.
const char *ojs_version(void);

// The error that an answer with a status other than 2xx stands for, for transports of a program's own. With a status
// of 0 `body` is the error of one item of an answer about many, `{"code", "message", …}`.
OJS_MUST_USE ojs_error *ojs_error_of(uint16_t status, ojs_slice body);

// An error of the program's own, for layers: its class is OJS_CLASS_VALIDATION. An empty `code` is `middleware`, and
// an empty `message` one that says so.
OJS_MUST_USE ojs_error *ojs_error_new(ojs_slice code, ojs_slice message);

// Its kind; OJS_CLASS_NONE of NULL.
ojs_class ojs_error_class(const ojs_error *error);

// The HTTP status; 0 when there was no answer.
int32_t ojs_error_status(const ojs_error *error);

// Whether the same call may succeed later.
bool ojs_error_retryable(const ojs_error *error);

// The machine-readable code, as the server wrote it.
ojs_slice ojs_error_code(const ojs_error *error);

// What to tell people.
ojs_slice ojs_error_message(const ojs_error *error);

// All there is: a JSON object with code, message, retryable, status, numeric, and perhaps details, hint, request_id.
ojs_slice ojs_error_json(const ojs_error *error);

// Frees an error.
void ojs_error_free(ojs_error *error);

// The bytes; none of NULL.
ojs_slice ojs_buf_slice(const ojs_buf *buf);

// Frees a buffer.
void ojs_buf_free(ojs_buf *buf);

// Fills in the size and the defaults.
void ojs_client_options_init(ojs_client_options *options);

// What the variables of the environment whose names begin with `OJS_` say. `variables` is a JSON object of their
// texts; `out` gets a JSON object by the names of settings, lengths of time in seconds, with the defaults of `url`,
// `queues` and `concurrency`. The library reads no environment by itself.
OJS_MUST_USE ojs_error *ojs_environment(ojs_slice variables, ojs_buf **out);

// A client for `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. It connects with its first call.
// `options` may be NULL.
OJS_MUST_USE
ojs_error *ojs_client_new(ojs_slice url,
                          const ojs_client_options *options,
                          ojs_client **out);

// A client on the same connection, with the requests of one tenant: they see and change what belongs to it, and the
// jobs are the tenant's. It shares the layers. Closing it leaves the connection open.
OJS_MUST_USE ojs_error *ojs_client_of_tenant(const ojs_client *client, ojs_slice tenant, ojs_client **out);

// Any call of the protocol: `path` is relative to /ojs/v1 (or is /ojs/manifest), `body` is JSON or empty; `out` is the body of a
// 2xx answer. Waits for it.
OJS_MUST_USE
ojs_error *ojs_client_call(const ojs_client *client,
                           ojs_slice method,
                           ojs_slice path,
                           ojs_slice body,
                           ojs_buf **out);

// The same without waiting: `done` is called once, on a thread of the library. When this function itself returns an error, it is
// not called.
OJS_MUST_USE
ojs_error *ojs_client_call_async(const ojs_client *client,
                                 ojs_slice method,
                                 ojs_slice path,
                                 ojs_slice body,
                                 ojs_done_fn done,
                                 void *user_data);

// As ojs_client_call_async(), for a call whose answer the server may hold back for `wait_ms` (results, events): there is that much
// more time, and it is sent once.
OJS_MUST_USE
ojs_error *ojs_client_call_waiting(const ojs_client *client,
                                   ojs_slice method,
                                   ojs_slice path,
                                   ojs_slice body,
                                   uint64_t wait_ms,
                                   ojs_done_fn done,
                                   void *user_data);

// Sends a job: its type, its arguments (a JSON array, `[]` when empty) and its options (a JSON object, the `options` of the
// protocol, or empty). `out` is the answer, `{"job": {…}}`.
OJS_MUST_USE
ojs_error *ojs_client_enqueue(const ojs_client *client,
                              ojs_slice job_type,
                              ojs_slice args,
                              ojs_slice options,
                              ojs_buf **out);

// A delivered job, as JSON, with its arguments in the clear, as a worker's handler gets it: for jobs that come by
// another way than ojs_worker_pull(), such as the body of a push request. A job that is not encrypted comes back as it
// is.
OJS_MUST_USE ojs_error *ojs_client_decrypted(const ojs_client *client, ojs_slice job, ojs_buf **out);

// Releases the connection; an embedded engine is flushed. Calls from now on fail with OJS_CLASS_CLOSED; a second close does nothing.
OJS_MUST_USE
ojs_error *ojs_client_close(const ojs_client *client);

// Frees a client. Workers made from it go on.
void ojs_client_free(ojs_client *client);

// Goes on inwards with this job (empty: with the same one). `job` gets the job as the server stored it, as JSON; in a
// batch, which is sent after all its jobs have passed, the job as it will be sent. It may be NULL.
OJS_MUST_USE ojs_error *ojs_enqueue_next_run(const ojs_enqueue_next *next, ojs_slice request, ojs_buf **job);

// Sets the options that jobs of this type have unless their enqueue says otherwise, for all clients of the process: a JSON object by the
// names on the wire, `{"queue": "mail", "retry": 8, "timeout": "5m"}`. It takes the place of what was set before; `{}` sets nothing. An
// unknown option, or a value that means nothing, is an error that names it.
OJS_MUST_USE
ojs_error *ojs_job_defaults_set(ojs_slice job_type,
                                ojs_slice options);

// Fills in the size and the defaults.
void ojs_worker_options_init(ojs_worker_options *options);

// A worker on a client's connection. `options` may be NULL. It does nothing before ojs_worker_start().
OJS_MUST_USE ojs_error *ojs_worker_new(const ojs_client *client, const ojs_worker_options *options, ojs_worker **out);

// Connects and begins to fetch.
OJS_MUST_USE ojs_error *ojs_worker_start(const ojs_worker *worker);

// Its name on the server; empty before the start.
ojs_slice ojs_worker_id(const ojs_worker *worker);

// Takes up to `max` jobs, waiting at most `wait_ms` for the first (negative: until there is one, an unblock, or the end). `frame`
// is a frame of jobs, see ojs_frame_job(), or NULL: `status` says why. Every job must be answered once.
OJS_MUST_USE
ojs_error *ojs_worker_pull(const ojs_worker *worker,
                           uint32_t max,
                           int64_t wait_ms,
                           ojs_buf **frame,
                           ojs_pull *status);

// Waits for running jobs that should stop, at most `wait_ms` (negative: until there is one, an unblock, or the end), and writes up
// to `max` of them to `list`, each job once. `status` is OJS_PULL_JOBS when there are any, and else as for ojs_worker_pull(). For
// one thread beside the one that pulls: it lets a host stop handlers without asking ojs_worker_cancelled() for each of them.
OJS_MUST_USE
ojs_error *ojs_worker_cancellations(const ojs_worker *worker,
                                    size_t max,
                                    int64_t wait_ms,
                                    ojs_cancellation *list,
                                    size_t *count,
                                    ojs_pull *status);

// Why the handler of this job should stop. Costs nothing; ask often.
ojs_cancel ojs_worker_cancelled(const ojs_worker *worker, uint64_t token);

// Extends the lease of a job now; the worker does so every few seconds by itself. `verdict` is why the handler should stop.
OJS_MUST_USE
ojs_error *ojs_worker_heartbeat(const ojs_worker *worker,
                                uint64_t token,
                                ojs_cancel *verdict);

// Sends everyone who waits in ojs_worker_pull() or ojs_worker_cancellations() home, once.
void ojs_worker_unblock(const ojs_worker *worker);

// Fetches no more; what runs goes on.
OJS_MUST_USE ojs_error *ojs_worker_quiet(const ojs_worker *worker);

// Fetches again.
OJS_MUST_USE ojs_error *ojs_worker_resume(const ojs_worker *worker);

// Begins to stop and returns: running handlers may finish for `grace_ms` (negative: as the options say), then their jobs go back
// to the queue. A second call ends the grace period.
OJS_MUST_USE
ojs_error *ojs_worker_stop(const ojs_worker *worker,
                           int64_t grace_ms);

// Waits until the worker is over, at most `wait_ms` (negative: for ever). `over` says whether it is.
OJS_MUST_USE ojs_error *ojs_worker_wait(const ojs_worker *worker, int64_t wait_ms, bool *over);

// Where it is in its life.
ojs_phase ojs_worker_phase(const ojs_worker *worker);

// Jobs taken in and not yet answered.
size_t ojs_worker_held(const ojs_worker *worker);

// Frees a worker. One that still runs is stopped first: its jobs go back to the queue.
void ojs_worker_free(ojs_worker *worker);

// The changes that bring the arguments of a job to the version of its handler: a JSON array of their numbers among the
// `transforms` of the type, such as `[0,1]`; empty when the arguments stay as they are. `said` is the member of the
// type in the option `versions` of its worker, `job` the job as JSON. Call this before the handler of a type with
// transforms runs. Jobs whose arguments cannot become those of the handler are not handed out: they fail or go back.
OJS_MUST_USE ojs_error *ojs_version_changes(ojs_slice job_type, ojs_slice said, ojs_slice job, ojs_buf **out);

// Reports how far a job has come, and returns at once. `report` is JSON: `{"progress":0.4,"message":"…","data":…}`,
// each member may be left out. Of many reports the latest is sent, a few a second at most; one that is lost does not
// harm the job.
OJS_MUST_USE ojs_error *ojs_worker_progress(const ojs_worker *worker, uint64_t token, ojs_slice report);

// Saves the checkpoint of a job, which is JSON, in place of the one before; where `step` is not empty, the result of
// that step beside it. It is on the server's disk when this returns. `verdict` is why the handler should stop: then
// nothing was saved.
OJS_MUST_USE
ojs_error *ojs_worker_save(const ojs_worker *worker,
                           uint64_t token,
                           ojs_slice step,
                           ojs_slice state,
                           uint64_t *sequence,
                           ojs_cancel *verdict);

// The checkpoint of a job as JSON, or the result of a step where `step` is not empty; `saved` is NULL when there is
// none. Costs no request: it came with the job.
OJS_MUST_USE ojs_error *ojs_worker_saved(const ojs_worker *worker, uint64_t token, ojs_slice step, ojs_buf **saved);

// How many jobs are in a frame that ojs_worker_pull() gave; 0 of anything else.
size_t ojs_frame_count(const ojs_buf *frame);

// The job with this index in a frame.
OJS_MUST_USE ojs_error *ojs_frame_job(const ojs_buf *frame, size_t index, ojs_job *out);

// The job is done; `result` is JSON, or empty for none. `stale` becomes true when the answer came too late or twice.
OJS_MUST_USE ojs_error *ojs_worker_succeed(const ojs_worker *worker, uint64_t token, ojs_slice result, bool *stale);

// The job failed. `code` may be empty (`handler_error`), `message` may not. It runs again by its retry policy if `retryable`.
OJS_MUST_USE
ojs_error *ojs_worker_fail(const ojs_worker *worker,
                           uint64_t token,
                           ojs_slice code,
                           ojs_slice message,
                           bool retryable,
                           bool *stale);

// The job goes back to its queue without an attempt being counted.
OJS_MUST_USE ojs_error *ojs_worker_release(const ojs_worker *worker, uint64_t token, bool *stale);

// The job runs again after `delay_ms`; no failure is counted.
OJS_MUST_USE ojs_error *ojs_worker_snooze(const ojs_worker *worker, uint64_t token, uint64_t delay_ms, bool *stale);

// Answers many jobs at once: a frame of outcomes, see ojs_frame.h. When an entry is wrong, nothing is done. `stale` counts the
// answers that came too late or twice. `busy_us` is how long the handlers took together, in microseconds: it decides how many
// jobs are fetched ahead.
OJS_MUST_USE
ojs_error *ojs_worker_complete(const ojs_worker *worker,
                               ojs_slice outcomes,
                               uint64_t busy_us,
                               uint32_t *stale);

// For event loops: `ring` is called once when there is something, and again only after ojs_worker_rearm(). It must not block; it
// is best used to wake the loop, which then rearms and pulls with a wait of 0. The first doorbell stays. `destroy` may be NULL.
OJS_MUST_USE
ojs_error *ojs_worker_set_doorbell(const ojs_worker *worker,
                                   ojs_ring_fn ring,
                                   void *user_data,
                                   ojs_destroy_fn destroy);

// Before pulling from an event loop: what comes from now on rings again.
OJS_MUST_USE ojs_error *ojs_worker_rearm(const ojs_worker *worker);

// Goes on inwards with this job (NULL: with the same one). It returns when the handler has. An error says that the
// layer has called it before: nothing was run.
OJS_MUST_USE ojs_error *ojs_handler_next_run(const ojs_handler_next *next, const ojs_job *job);

// Starts the worker and runs `handler` for its jobs, on `threads` threads of the library (0: as many as its concurrency). Returns
// when the worker is over: stop it with ojs_worker_stop() from another thread or from a handler. `destroy` may be NULL; it is called
// once, after the last handler has returned, also when this function fails.
OJS_MUST_USE
ojs_error *ojs_worker_run(const ojs_worker *worker,
                          uint32_t threads,
                          ojs_handler_fn handler,
                          void *user_data,
                          ojs_destroy_fn destroy);

// The job is done, with a result in JSON.
OJS_MUST_USE ojs_error *ojs_answer_result(const ojs_answer *answer, ojs_slice result);

// The job failed; see ojs_worker_fail().
OJS_MUST_USE ojs_error *ojs_answer_fail(const ojs_answer *answer, ojs_slice code, ojs_slice message, bool retryable);

// The job failed; a JSON object says how: `message`, and perhaps `code`, `type`, `retryable`, `details`, `backtrace`.
OJS_MUST_USE ojs_error *ojs_answer_failure(const ojs_answer *answer, ojs_slice failure);

// The job goes back to its queue without an attempt being counted.
OJS_MUST_USE ojs_error *ojs_answer_release(const ojs_answer *answer);

// The job runs again after `delay_ms`; no failure is counted.
OJS_MUST_USE ojs_error *ojs_answer_snooze(const ojs_answer *answer, uint64_t delay_ms);

// How the job ends as things stand, for layers: `kind` is a number of ojs_frame.h (0 completed, 1 failed, 2 released,
// 3 snoozed), `payload` the result or the failure as JSON, NULL when there is none.
OJS_MUST_USE ojs_error *ojs_answer_outcome(const ojs_answer *answer, uint32_t *kind, ojs_buf **payload);

// Why the handler should stop. Costs nothing; ask often.
ojs_cancel ojs_answer_cancelled(const ojs_answer *answer);

// Extends the lease now; `verdict` is why the handler should stop.
OJS_MUST_USE ojs_error *ojs_answer_heartbeat(const ojs_answer *answer, ojs_cancel *verdict);

// Adds a layer around the enqueues of a client and of its tenants' clients: `place` is one of OJS_LAYER_INNERMOST, …,
// `beside` the layer that it stands beside, or empty. Possible until the first enqueue. `trace_inject`, `auth`,
// `validate`, `unique`, `rate_limit` and `encrypt` keep this order; other names may stand anywhere. Layers run on the
// thread that enqueues, or, for a call with a callback, on a thread of the library. They run for each job of
// ojs_client_enqueue(), of a call of `/jobs`, `/jobs/batch` or `/jobs/bulk`, and of ojs_outbox_encrypted(). `destroy`
// may be NULL; it is called once, when the layer is not needed any more, also when this function fails.
OJS_MUST_USE
ojs_error *ojs_client_add_layer(const ojs_client *client,
                                ojs_slice name,
                                uint32_t place,
                                ojs_slice beside,
                                ojs_enqueue_layer_fn layer,
                                void *user_data,
                                ojs_destroy_fn destroy);

// Takes a layer out of a client's chain. Possible until the first enqueue.
OJS_MUST_USE ojs_error *ojs_client_remove_layer(const ojs_client *client, ojs_slice name);

// The names of a client's layers, outermost first: a JSON array.
OJS_MUST_USE ojs_error *ojs_client_layers(const ojs_client *client, ojs_buf **out);

// Adds a layer around the handlers of ojs_worker_run(): `place` is one of OJS_LAYER_INNERMOST, …, `beside` the layer
// that it stands beside, or empty. Possible until the worker runs. Layers run on the handlers' threads. `destroy` may
// be NULL; it is called once, when the layer is not needed any more, also when this function fails.
OJS_MUST_USE
ojs_error *ojs_worker_add_layer(const ojs_worker *worker,
                                ojs_slice name,
                                uint32_t place,
                                ojs_slice beside,
                                ojs_handler_layer_fn layer,
                                void *user_data,
                                ojs_destroy_fn destroy);

// Takes a layer out of a worker's chain. Possible until the worker runs.
OJS_MUST_USE ojs_error *ojs_worker_remove_layer(const ojs_worker *worker, ojs_slice name);

// The names of a worker's layers, outermost first: a JSON array.
OJS_MUST_USE ojs_error *ojs_worker_layers(const ojs_worker *worker, ojs_buf **out);

// Sets the metadata of the request that this thread works on: a JSON object with `traceparent` and others; empty
// when the request is over. Jobs get it where their client has the layer ojs_context_carry().
OJS_MUST_USE ojs_error *ojs_context_set(ojs_slice meta);

// The metadata that ojs_context_set() has set: a JSON object, `{}` outside of a request.
OJS_MUST_USE ojs_error *ojs_context_get(ojs_buf **out);

// A layer for ojs_client_add_layer(): jobs carry in their metadata what the request of this thread hands on; what a
// job says itself stays. With ojs_context_restore() the trace goes from a request into its jobs, and on into theirs.
OJS_MUST_USE
ojs_error *ojs_context_carry(void *user_data,
                             ojs_slice request,
                             const ojs_enqueue_next *next,
                             ojs_buf **job);

// A layer for ojs_worker_add_layer(): around the handler it is as in the request that made the job, and jobs that the
// handler enqueues carry the same.
void ojs_context_restore(void *user_data, const ojs_job *job, const ojs_answer *answer, const ojs_handler_next *next);

// A job, as JSON, with further metadata, a JSON object: for layers. Of a member that the job has already, `keep` says
// whose value counts: with it the job's.
OJS_MUST_USE ojs_error *ojs_request_with_meta(ojs_slice request, ojs_slice meta, bool keep, ojs_buf **out);

// Follows what happens: jobs, queues, workers, workflows. `filter` is a JSON object, or empty: `types`, `queues` and
// `job_types` are lists of names (types may end in `*`), `after` is the id of the event behind which it begins, `""`
// the oldest that is kept; without it it begins where the log ends when the first event is asked for.
OJS_MUST_USE ojs_error *ojs_events_new(const ojs_client *client, ojs_slice filter, ojs_events **out);

// For programs that make their requests themselves: the next request of a reader of events, a JSON object of `path`,
// `wait_ms`, `pause_ms` and `state`. The program pauses, sends `GET path` with that much time for the server to hold
// its answer back, and says in `said` what has come of it, a JSON object: `{"begin": filter}` for the first request,
// `{"answered": {"state", "events", "cursor"}}` with the number of events, or
// `{"failed": {"state", "error": {"connection", "status", "code", "retryable"}}}`. `out` is `null` when the error ends
// the reader. Requests over an ojs_client need only ojs_events_next().
OJS_MUST_USE ojs_error *ojs_events_follow(ojs_slice said, ojs_buf **out);

// The next event, a JSON object of `id`, `type`, `time`, `subject` and `data`; waits for it for at most `wait_ms`
// (negative: until there is one, or an unblock). NULL when there was none. When the connection is lost it asks again
// from where it was: no event is missed, none comes twice. A refusal, and a fault of the first request, ends it: the
// class is then CLOSED from the next call on. For one thread at a time; others wait for their turn.
OJS_MUST_USE ojs_error *ojs_events_next(const ojs_events *events, int64_t wait_ms, ojs_buf **event);

// Sends the one who waits in ojs_events_next() home, once; else the next one.
void ojs_events_unblock(const ojs_events *events);

// Frees a list of events.
void ojs_events_free(ojs_events *events);

// Fills in the size and the defaults.
void ojs_server_options_init(ojs_server_options *options);

// Opens `store` (`sqlite:jobs.db`, `memory:`) and listens on `listen` (`127.0.0.1:8080`; port 0 takes a free one). In test mode
// anyone who can connect can delete all jobs.
OJS_MUST_USE
ojs_error *ojs_server_start(ojs_slice store,
                            ojs_slice listen,
                            bool test_mode,
                            ojs_server **out);

// As ojs_server_start(), with settings; NULL takes the defaults.
OJS_MUST_USE ojs_error *ojs_server_start_with(const ojs_server_options *server_options, ojs_server **out);

// Where it listens: `http://127.0.0.1:8080`.
ojs_slice ojs_server_url(const ojs_server *server);

// Stops listening, answers requests under way, closes the store. A second stop does nothing.
OJS_MUST_USE ojs_error *ojs_server_stop(const ojs_server *server);

// Stops it if need be, and frees it.
void ojs_server_free(ojs_server *server);

// An empty engine in memory, for tests of code that enqueues. Nothing runs by itself: a worker on the client of a fake
// runs the jobs.
OJS_MUST_USE ojs_error *ojs_fake_new(ojs_fake **out);

// A client of the fake, for the code under test. It may outlive the fake.
OJS_MUST_USE ojs_error *ojs_fake_client(const ojs_fake *fake, ojs_client **out);

// The jobs that were enqueued so far, in their order: a JSON array, in the form in which they go over the wire; not
// those that the engine refused. ojs_fake_matching() finds in it those that a test asks for.
OJS_MUST_USE ojs_error *ojs_fake_enqueued(const ojs_fake *fake, ojs_buf **out);

// Frees it. The engine ends with the last of its clients.
void ojs_fake_free(ojs_fake *fake);

// What a fake records of a request: a JSON array of the jobs that it enqueues, in the form in which they go over the
// wire; `[]` for other requests.
OJS_MUST_USE ojs_error *ojs_fake_recorded(ojs_slice method, ojs_slice path, ojs_slice body, ojs_buf **out);

// Where in a JSON array of recorded jobs those stand that a test asks for: a JSON array of numbers. `wanted` is a
// JSON object: `type`, `args`, `id` and `schema` are equal, `meta` is a part of the job's, other members are
// options.
OJS_MUST_USE ojs_error *ojs_fake_matching(ojs_slice jobs, ojs_slice wanted, ojs_buf **out);

// An empty mailbox.
OJS_MUST_USE ojs_error *ojs_transport_new(ojs_transport **out);

// Waits for the next request, for at most so many milliseconds. The error is of the class CLOSED after ojs_transport_close().
OJS_MUST_USE
ojs_error *ojs_transport_pull(const ojs_transport *transport,
                              uint64_t wait_ms,
                              ojs_request *out);

// Answers a request with a status of HTTP and a body.
OJS_MUST_USE
ojs_error *ojs_transport_reply(const ojs_transport *transport,
                               uint64_t ticket,
                               uint16_t status,
                               ojs_slice body);

// Says that there is no answer; `message` is for people. The library sends the request again where that is harmless.
OJS_MUST_USE ojs_error *ojs_transport_fail(const ojs_transport *transport, uint64_t ticket, ojs_slice message);

// Ends it: requests that wait fail, and so does every pull.
void ojs_transport_close(const ojs_transport *transport);

// Closes it if need be, and frees it. Clients over it stay, and find it closed.
void ojs_transport_free(ojs_transport *transport);

// A client whose requests go to the mailbox. Free with ojs_client_free().
OJS_MUST_USE ojs_error *ojs_client_over(const ojs_transport *transport, ojs_client **out);

// The statements that make the tables of an outbox, or add what they lack: a JSON array of texts. `database` is `postgresql`, `mysql` or
// `sqlite`, `table` a name, `ojs_outbox` in the specification.
OJS_MUST_USE
ojs_error *ojs_outbox_migration(ojs_slice database,
                                ojs_slice table,
                                ojs_buf **out);

// An enqueue request as a row shall hold it: after the layers of the client, and with its arguments encrypted, where
// the client does so. Call it before staging: the relay runs no layers and encrypts nothing. Where a layer drops the
// job the class is NOT_ENQUEUED.
OJS_MUST_USE ojs_error *ojs_outbox_encrypted(const ojs_client *client, ojs_slice request, ojs_buf **out);

// Prepares a job, given as an enqueue request, as a row of an outbox: `{"id", "sql", "params"}`. Run the statement in the
// transaction that the job belongs to. The parameters are texts, or null; `paramstyle` says how they are written:
// `qmark` (?), `numeric_dollar` ($1), `format` (%s).
OJS_MUST_USE
ojs_error *ojs_outbox_stage(ojs_slice request,
                            ojs_slice database,
                            ojs_slice table,
                            ojs_slice paramstyle,
                            ojs_buf **out);

// The same as a row of the engine's own table, where the engine shares the program's PostgreSQL: no outbox, no relay.
// ojs_outbox_notify() after the commit has the job taken in at once.
OJS_MUST_USE ojs_error *ojs_outbox_stage_in_engine(ojs_slice request, ojs_slice paramstyle, ojs_buf **out);

// A query for the program's connection to PostgreSQL. When its one value is the `backend.id` in the server's health, the engine's
// table is in this database, and this role may insert into it; NULL says no.
ojs_slice ojs_outbox_identity(void);

// The statement that tells the nodes of a server in the same database, after a commit, that there are jobs. Without
// it they look ten times a second.
ojs_slice ojs_outbox_notify(void);

// One step of finding out whether the server keeps its jobs in the program's PostgreSQL, from JSON to JSON.
// `event` is `{"state", "event", "value", "error"}`: first `{"state": null, "event": "begin", "value": null}`, later
// the `state` of the step before. `out` gets what to do next:
// `{"state", "next": "database", "sql"}`: run that query, in a savepoint where a transaction is open, and come back
// with the event `database` and the first value of the first row, a text or null, or with the driver's `error`;
// `{"state", "next": "server"}`: ask for `/health`, and come back with the event `server` and the answer, or with
// the `error`;
// `{"state", "next": "enqueue", "shared", "lasting", "reason"}`: enqueue, with ojs_outbox_stage_in_engine() if
// `shared`. `lasting` says that the answer stays as it is, `reason` is a sentence for the log, or null.
OJS_MUST_USE ojs_error *ojs_outbox_same_database(ojs_slice event, ojs_buf **out);

// The query that lists the jobs which are not sent yet, for tests: id, type, arguments and options as texts, under
// the names `id`, `type`, `args` and `options`. Run it inside the transaction. With `in_engine` it reads the
// engine's own table.
OJS_MUST_USE ojs_error *ojs_outbox_staged_query(ojs_slice database, ojs_slice table, bool in_engine, ojs_buf **out);

// Fills in the size and the defaults.
void ojs_relay_options_init(ojs_relay_options *options);

// Starts a relay that sends over the client.
OJS_MUST_USE
ojs_error *ojs_relay_start(const ojs_client *client,
                           const ojs_relay_options *relay_options,
                           ojs_relay **out);

// Says that a transaction has committed: the relay looks at once. Never waits.
void ojs_relay_wake(const ojs_relay *relay);

// What it has done so far: `{"leading", "sent", "deduplicated", "refused", "parked", "held_up", "error"}`; `null` when it is stopped.
OJS_MUST_USE
ojs_error *ojs_relay_status(const ojs_relay *relay,
                            ojs_buf **out);

// Sends what is committed, for at most so many milliseconds, and ends. What is left stays in the table. A second stop does nothing.
OJS_MUST_USE
ojs_error *ojs_relay_stop(const ojs_relay *relay,
                          uint64_t grace_ms);

// Ends it at once if need be, and frees it.
void ojs_relay_free(ojs_relay *relay);

// Collects log records up to a level: 0 off, 1 error, 2 warn, 3 info, 4 debug, 5 trace. Until it is called, none are
// collected, and each failed attempt of a job is a line on stderr; from then on nothing is written there.
void ojs_logs_level(uint8_t level);

// Waits up to `wait_ms` for records and takes at most `max`: a JSON object, `{"lost": 0, "records": [{"level", "target", "text"}]}`.
// A program that takes none loses the oldest, and reads in `lost` how many.
OJS_MUST_USE
ojs_error *ojs_logs_pull(size_t max,
                         uint64_t wait_ms,
                         ojs_buf **out);

// Checks a request of a webhook: that one of the secrets signed its body within the tolerance. `body` is the body byte
// for byte as it arrived; `request` is a JSON object with `headers` (an object of texts, names in any case), `secrets`
// (a list of texts), and if wanted `tolerance` (seconds, 300 without it) and `now` (seconds since the epoch). NULL
// when the request is to be trusted; else the error says why, with the class OJS_CLASS_UNTRUSTED_WEBHOOK and the word
// `reason` in its details.
OJS_MUST_USE ojs_error *ojs_webhook_verify(ojs_slice body, ojs_slice request);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OJS_H */

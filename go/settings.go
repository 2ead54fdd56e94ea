// Made from xtask/schema.toml by make gen; do not edit.

package ojs

// #include "ojs.h"
import "C"

import (
	"cmp"
	"time"
)

// Proxy: through which proxy requests go. Those to a loopback address go through none.
type Proxy string

const (
	ProxyEnvironment Proxy = "environment" // The one that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names.
	ProxyNone        Proxy = "none"        // None: those variables are not read.
)

// UnknownTypes: what a worker does with a job whose type has no handler.
type UnknownTypes string

const (
	UnknownTypesFail    UnknownTypes = "fail"    // The job becomes a dead letter whose reason is no_handler.
	UnknownTypesRelease UnknownTypes = "release" // The job goes back to its queue, and no attempt is counted: for queues that services share.
)

// clientSettings are the settings of a connection; 0 and "" mean the default of the engine.
type clientSettings struct {
	authToken         string
	headers           []string
	tenant            string
	timeout           time.Duration
	connectTimeout    time.Duration
	maxSends          int
	caFile            string
	certFile, keyFile string
	encryptionKeys    string
	maxResponseBytes  int64
	proxy             Proxy
}

// workerOptions are the settings of a worker; 0 and "" mean the default of the engine.
type workerOptions struct {
	queues              []string
	concurrency         int
	workerID            string
	heartbeatInterval   time.Duration
	visibilityTimeout   time.Duration
	gracePeriod         time.Duration
	flushTimeout        time.Duration
	pollInterval        time.Duration
	labels              []string
	keepOnShutdown      bool
	unknownTypes        UnknownTypes
	onlyRegisteredTypes bool
}

// environment is what the variables OJS_… say, by the names of settings; lengths of time are seconds.
type environment struct {
	URL        string    `json:"url"`
	ClientCert [2]string `json:"client_cert"`

	AuthToken        string   `json:"auth_token"`
	CAFile           string   `json:"ca_file"`
	EncryptionKeys   string   `json:"encryption_keys"`
	MaxResponseBytes int64    `json:"max_response_bytes"`
	Proxy            string   `json:"proxy"`
	Queues           []string `json:"queues"`
	Concurrency      int      `json:"concurrency"`
	GracePeriod      *float64 `json:"grace_period"`
}

// orElse takes what the environment says where no option says otherwise.
func (s *clientSettings) orElse(said environment) {
	s.authToken = cmp.Or(s.authToken, said.AuthToken)
	s.caFile = cmp.Or(s.caFile, said.CAFile)
	if s.certFile == "" {
		s.certFile, s.keyFile = said.ClientCert[0], said.ClientCert[1]
	}
	s.encryptionKeys = cmp.Or(s.encryptionKeys, said.EncryptionKeys)
	s.maxResponseBytes = cmp.Or(s.maxResponseBytes, said.MaxResponseBytes)
	s.proxy = cmp.Or(s.proxy, Proxy(said.Proxy))
}

// orElse takes what the environment says where no option says otherwise.
func (s *workerOptions) orElse(said environment) {
	if s.queues == nil {
		s.queues = said.Queues
	}
	s.concurrency = cmp.Or(s.concurrency, said.Concurrency)
	if s.gracePeriod == 0 && said.GracePeriod != nil {
		s.gracePeriod = max(time.Duration(*said.GracePeriod*float64(time.Second)), time.Millisecond)
	}
}

// write gives the settings to the core.
func (s *clientSettings) write(lend *lender, options *C.ojs_client_options) {
	options.auth_token = lend.text(s.authToken)
	options.headers, options.header_slices = lend.texts(s.headers)
	options.tenant = lend.text(s.tenant)
	options.timeout_ms = millis(s.timeout)
	options.connect_timeout_ms = millis(s.connectTimeout)
	options.max_sends = C.uint32_t(s.maxSends)
	options.ca_file = lend.text(s.caFile)
	options.cert_file, options.key_file = lend.text(s.certFile), lend.text(s.keyFile)
	options.encryption_keys = lend.text(s.encryptionKeys)
	options.max_response_bytes = C.uint64_t(s.maxResponseBytes)
	options.proxy = lend.text(string(s.proxy))
}

// write gives the settings to the core.
func (s *workerOptions) write(lend *lender, options *C.ojs_worker_options) {
	options.queues, options.queue_count = lend.texts(s.queues)
	options.concurrency = C.uint32_t(s.concurrency)
	options.worker_id = lend.text(s.workerID)
	options.heartbeat_ms = millis(s.heartbeatInterval)
	options.visibility_ms = millis(s.visibilityTimeout)
	options.grace_ms = millis(s.gracePeriod)
	options.flush_ms = millis(s.flushTimeout)
	options.poll_ms = millis(s.pollInterval)
	options.labels, options.label_count = lend.texts(s.labels)
	options.keep_on_shutdown = C.bool(s.keepOnShutdown)
	options.unknown_types = lend.text(string(s.unknownTypes))
	options.only_registered_types = C.bool(s.onlyRegisteredTypes)
}

// WithAuthToken: the bearer token. Without it $OJS_AUTH_TOKEN.
func WithAuthToken(authToken string) ConnectionOption {
	return func(c *connection) { c.authToken = authToken }
}

// WithHeader: further headers of every request.
func WithHeader(name, value string) ConnectionOption {
	return func(c *connection) { c.headers = append(c.headers, name, value) }
}

// WithClientTenant: the tenant of all requests: the client sees and changes what belongs to it, and its jobs are the
// tenant's.
func WithClientTenant(tenant string) ConnectionOption {
	return func(c *connection) { c.tenant = tenant }
}

// WithRequestTimeout: for a whole call; a long poll's wait is added. A context may limit a single call more tightly.
// Without it 30 s.
func WithRequestTimeout(d time.Duration) ConnectionOption {
	return func(c *connection) { positive(&c.timeout, "WithRequestTimeout", d, &c.wrong) }
}

// WithConnectTimeout: for connecting. Without it 5 s.
func WithConnectTimeout(d time.Duration) ConnectionOption {
	return func(c *connection) { positive(&c.connectTimeout, "WithConnectTimeout", d, &c.wrong) }
}

// WithMaxSends: how often a request that did not arrive is sent, the first time included. Without it 5.
func WithMaxSends(n int) ConnectionOption {
	return func(c *connection) { atLeastOne(&c.maxSends, "WithMaxSends", n, &c.wrong) }
}

// WithCAFile: certificates to trust, a PEM file. Without it $OJS_TLS_CA_FILE.
func WithCAFile(caFile string) ConnectionOption {
	return func(c *connection) { c.caFile = caFile }
}

// WithClientCert: the client's own certificate and its key, PEM files. Without it $OJS_TLS_CERT_FILE and
// $OJS_TLS_KEY_FILE.
func WithClientCert(certFile, keyFile string) ConnectionOption {
	return func(c *connection) { c.certFile, c.keyFile = certFile, keyFile }
}

// WithEncryptionKeys: encrypts the arguments of jobs, and decrypts them in workers; the first key is the one for new
// jobs. "name:key,name:key", where a key is 64 hexadecimal characters, or base64 of 32 bytes. Without it
// $OJS_ENCRYPTION_KEYS.
func WithEncryptionKeys(encryptionKeys string) ConnectionOption {
	return func(c *connection) { c.encryptionKeys = encryptionKeys }
}

// WithMaxResponseBytes: most bytes of one answer (256 MiB); a longer one is an error, and what it asked for may have
// happened. Without it $OJS_MAX_RESPONSE_BYTES, else 268435456.
func WithMaxResponseBytes(n int64) ConnectionOption {
	return func(c *connection) { atLeastOne(&c.maxResponseBytes, "WithMaxResponseBytes", n, &c.wrong) }
}

// WithProxy: "environment": requests go through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names; "none":
// those variables are not read. Requests to a loopback address go through none. Without it $OJS_PROXY, else
// environment.
func WithProxy(proxy Proxy) ConnectionOption {
	return func(c *connection) { c.proxy = proxy }
}

// WithQueues: in order of preference. Without it $OJS_QUEUE, else default.
func WithQueues(queues ...string) WorkerOption {
	return workerOption(func(s *workerSettings) { s.queues = queues })
}

// WithConcurrency: handlers at a time. Without it $OJS_CONCURRENCY, else 10.
func WithConcurrency(n int) WorkerOption {
	return workerOption(func(s *workerSettings) { atLeastOne(&s.concurrency, "WithConcurrency", n, &s.wrong) })
}

// WithWorkerID: its name on the server; without it a random one.
func WithWorkerID(workerID string) WorkerOption {
	return workerOption(func(s *workerSettings) { s.workerID = workerID })
}

// WithHeartbeatInterval: between heartbeats. Without it 5 s.
func WithHeartbeatInterval(d time.Duration) WorkerOption {
	return workerOption(func(s *workerSettings) { positive(&s.heartbeatInterval, "WithHeartbeatInterval", d, &s.wrong) })
}

// WithVisibilityTimeout: how long a silent worker keeps a job. Without it 30 s.
// It is an option of workers, and of jobs.
func WithVisibilityTimeout(d time.Duration) interface {
	EnqueueOption
	WorkerOption
} {
	return visibility(d)
}

// WithGracePeriod: how long running handlers may finish after a stop. With 0 they are cancelled at once. Without it
// $OJS_SHUTDOWN_TIMEOUT, else 25 s.
func WithGracePeriod(d time.Duration) WorkerOption {
	return workerOption(func(s *workerSettings) {
		// To the engine, zero means that nothing was said.
		s.gracePeriod = max(*notNegative("WithGracePeriod", &d, &s.wrong), time.Millisecond)
	})
}

// WithFlushTimeout: how long the outcomes of jobs may take to reach the server after the grace period. Without it as
// long as the visibility timeout, at most 30 s.
func WithFlushTimeout(d time.Duration) WorkerOption {
	return workerOption(func(s *workerSettings) {
		// To the engine, zero means that nothing was said.
		s.flushTimeout = max(*notNegative("WithFlushTimeout", &d, &s.wrong), time.Millisecond)
	})
}

// WithPollInterval: the longest pause between fetches, where a server cannot wake a worker. Without it 2 s.
func WithPollInterval(d time.Duration) WorkerOption {
	return workerOption(func(s *workerSettings) { positive(&s.pollInterval, "WithPollInterval", d, &s.wrong) })
}

// WithLabels: labels of the worker, sent to the server.
func WithLabels(labels ...string) WorkerOption {
	return workerOption(func(s *workerSettings) { s.labels = labels })
}

// WithReleaseOnShutdown: gives unfinished jobs back when it stops; else they wait until their leases end. Without it
// true.
func WithReleaseOnShutdown(yes bool) WorkerOption {
	return workerOption(func(s *workerSettings) { s.keepOnShutdown = !yes })
}

// WithUnknownTypes: what happens to a job whose type has no handler: "fail" makes it a dead letter whose reason is
// no_handler; "release" gives it back to its queue, and no attempt is counted. Without it fail.
func WithUnknownTypes(unknownTypes UnknownTypes) WorkerOption {
	return workerOption(func(s *workerSettings) { s.unknownTypes = unknownTypes })
}

// WithOnlyRegisteredTypes: asks only for jobs of the types that have a handler, where the server's manifest names
// "fetch_types". Jobs of other types that come all the same are given back. Without it false.
func WithOnlyRegisteredTypes(yes bool) WorkerOption {
	return workerOption(func(s *workerSettings) { s.onlyRegisteredTypes = yes })
}

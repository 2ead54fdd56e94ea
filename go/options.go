//go:build cgo

package ojs

import (
	"log/slog"
	"time"
)

// connection is how a server is reached.
type connection struct {
	clientSettings
	transport Transport
	wrong     error // The first setting that cannot be.
}

// positive sets a length of time that must be longer than none: a setting that means nothing is refused, not left out.
func positive(into *time.Duration, name string, given time.Duration, wrong *error) {
	if given <= 0 && *wrong == nil {
		*wrong = invalid("%s must be longer than 0, got %s; leave it out for the default", name, given)
	}
	notBare(name, given, wrong)
	*into = given
}

// notZero sets a time: one without a value is refused, not left out.
func notZero(into *time.Time, name string, given time.Time, wrong *error) {
	if given.IsZero() && *wrong == nil {
		*wrong = invalid("%s got a time.Time without a value; leave %s out for none", name, name)
	}
	*into = given
}

// notNegative gives the length back.
func notNegative(name string, given *time.Duration, wrong *error) *time.Duration {
	if *given < 0 && *wrong == nil {
		*wrong = invalid("%s must not be negative, got %s", name, *given)
	}
	notBare(name, *given, wrong)
	return given
}

// notBare refuses what a number without a unit comes to: WithTimeout(30) is 30 nanoseconds.
func notBare(name string, given time.Duration, wrong *error) {
	if given > 0 && given < time.Microsecond && *wrong == nil {
		*wrong = invalid("%s got %s, and a number without a unit is nanoseconds: write %d*time.Second", name, given, given.Nanoseconds())
	}
}

// atLeastOne sets a number of things.
func atLeastOne[N int | int64](into *N, name string, given N, wrong *error) {
	if given < 1 && *wrong == nil {
		*wrong = invalid("%s must be at least 1, got %d; leave it out for the default", name, given)
	}
	*into = given
}

// workerSettings are what a worker was made with.
type workerSettings struct {
	workerOptions
	logger *slog.Logger
	wrong  error // The first setting that cannot be.
}

// ClientOption is a setting of a client.
type ClientOption interface{ toConnection(*connection) }

// WorkerOption is a setting of a worker. Every ConnectionOption is one.
type WorkerOption interface {
	toWorker(*workerSettings, *connection)
}

// ConnectionOption is a setting of a connection: of a client, or of a worker with a connection of its own.
type ConnectionOption func(*connection)

func (o ConnectionOption) toConnection(c *connection)                { o(c) }
func (o ConnectionOption) toWorker(_ *workerSettings, c *connection) { o(c) }

type serverSettings struct {
	keys     string
	insecure bool
}

// ServerOption is a setting of a server in this process.
type ServerOption func(*serverSettings)

// WithKeys asks everybody for a key of this file, which `ojs keys add` writes.
func WithKeys(file string) ServerOption { return func(s *serverSettings) { s.keys = file } }

// WithInsecure says whether the server may listen, without keys, where other machines reach it; true.
func WithInsecure(allowed bool) ServerOption { return func(s *serverSettings) { s.insecure = allowed } }

type workerOption func(*workerSettings)

func (o workerOption) toWorker(s *workerSettings, _ *connection) { o(s) }

// WithLogger gets what goes wrong: a warning for every failed attempt (type, id, attempt, when it runs again, the error with its trace), an
// error when it was the last one, for jobs without a handler, time-outs and lost leases as well; slog.Default() without it, which writes to
// stderr.
func WithLogger(logger *slog.Logger) WorkerOption {
	return workerOption(func(s *workerSettings) { s.logger = logger })
}

type enqueueOption func(*JobRequest)

func (o enqueueOption) toJob(r *JobRequest) { o(r) }

//gen:go/option_functions.j2 (make gen; do not edit)

// WithQueue: the queue; "default" without it.
func WithQueue(queue string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Queue = queue })
}

// WithPriority: −100 to 100, higher first.
func WithPriority(n int) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Priority, r.saidPriority = n, true })
}

// WithTimeout: the most one run may take.
func WithTimeout(d time.Duration) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { positive(&r.Timeout, "WithTimeout", d, &r.wrong) })
}

// WithResultTTL: how long the result is kept (0 keeps none).
func WithResultTTL(d time.Duration) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.ResultTTL = notNegative("WithResultTTL", &d, &r.wrong) })
}

// WithDelay: run after this long, counted from this call.
func WithDelay(d time.Duration) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.ScheduledAt = time.Now().Add(*notNegative("WithDelay", &d, &r.wrong)) })
}

// WithScheduledAt: do not run before this time.
func WithScheduledAt(t time.Time) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { notZero(&r.ScheduledAt, "WithScheduledAt", t, &r.wrong) })
}

// WithExpiresAt: throw the job away when it has not started by then.
func WithExpiresAt(t time.Time) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { notZero(&r.ExpiresAt, "WithExpiresAt", t, &r.wrong) })
}

// WithTotalTimeout: how long the job's whole life may take.
func WithTotalTimeout(d time.Duration) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { positive(&r.TotalTimeout, "WithTotalTimeout", d, &r.wrong) })
}

// WithRetry: what happens when it fails.
func WithRetry(policy RetryPolicy) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Retry = &policy })
}

// WithUnique: what makes it a duplicate.
func WithUnique(policy UniquePolicy) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Unique = &policy })
}

// WithRateLimit: how many of its kind may start or run at a time.
func WithRateLimit(limit Obj) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.RateLimit = limit })
}

// WithTrain: the train that it joins: jobs of one train run one after the other. What a second call leaves out stays as it is.
func WithTrain(train Train) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Train = train.over(r.Train) })
}

// WithTags: words to find it by. Those of several calls add up.
func WithTags(tags ...string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Tags = append(r.Tags, tags...) })
}

// WithVersion: the version of the arguments: `2`, `2.1` or `2.1.0`.
func WithVersion(version string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Version = version })
}

// WithTenant: the tenant that it belongs to: `meta.tenant_id`.
func WithTenant(tenant string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Tenant = tenant })
}

// WithFairnessKey: the key of its line in a queue that is shared by keys: keys get jobs handed out in turn.
func WithFairnessKey(fairnessKey string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.FairnessKey = fairnessKey })
}

// WithID: an id of your own (UUIDv7, lower case), so that sending it twice makes one job.
func WithID(id string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.ID = id })
}

// WithMeta: any JSON object that travels with the job.
func WithMeta(meta Obj) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Meta = meta })
}

// WithSchema: URI of the schema its arguments follow.
func WithSchema(schema string) EnqueueOption {
	return enqueueOption(func(r *JobRequest) { r.Schema = schema })
}

//gen:end

// WithOption sets an option by its name on the wire.
func WithOption(name string, value any) EnqueueOption {
	return enqueueOption(func(r *JobRequest) {
		if r.Extra == nil {
			r.Extra = map[string]any{}
		}
		r.Extra[name] = value
	})
}

type visibility time.Duration

func (v visibility) toJob(r *JobRequest) {
	positive(&r.VisibilityTimeout, "WithVisibilityTimeout", time.Duration(v), &r.wrong)
}

func (v visibility) toWorker(s *workerSettings, _ *connection) {
	positive(&s.visibilityTimeout, "WithVisibilityTimeout", time.Duration(v), &s.wrong)
}

package serverless

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/openjobspec/ojs-go"
)

const (
	// Tolerance is how far the clocks of sender and receiver may differ unless [WithTolerance] says otherwise.
	Tolerance = 300 * time.Second
	// SafetyMargin is what is left of the platform's time when a job is given up, unless [WithSafetyMargin] says
	// otherwise: the time in which the outcome is reported.
	SafetyMargin = 5 * time.Second
	// MaxBodyBytes is the most that the body of a push request may have: Lambda takes no more.
	MaxBodyBytes = 6 << 20

	defaultConcurrency = 10
	defaultMemory      = 4096
)

// Option is a setting of a [Handler].
type Option func(*settings)

type settings struct {
	url, token     string
	secrets        []string
	unsigned       bool
	tolerance      time.Duration
	limit, margin  time.Duration
	concurrency    int
	memory         int
	encryptionKeys string
	registry       *ojs.Registry
	logger         *slog.Logger
	client         *http.Client
	clock          func() time.Time
	wrong          error
}

// WithOJSURL names the server that outcomes of jobs from queues are reported to, such as "https://ojs.example.com".
// Without it $OJS_URL.
func WithOJSURL(url string) Option { return func(s *settings) { s.url = url } }

// WithAuthToken is the bearer token for that server. Without it $OJS_AUTH_TOKEN.
func WithAuthToken(token string) Option { return func(s *settings) { s.token = token } }

// WithSigningSecrets are the secrets of the push endpoint. While a secret is being replaced, give the old one and the
// new one. Without it $OJS_SIGNING_SECRET, with commas between several.
func WithSigningSecrets(secrets ...string) Option { return func(s *settings) { s.secrets = secrets } }

// WithUnsignedRequests accepts push requests without a signature: for functions whose platform checks the caller.
func WithUnsignedRequests() Option { return func(s *settings) { s.unsigned = true } }

// WithTolerance is how long ago a push request may have been signed. Without it 300 s.
func WithTolerance(d time.Duration) Option {
	return func(s *settings) { s.positive("WithTolerance", &s.tolerance, d) }
}

// WithPlatformTimeout is the time that the platform gives a request: 60 s on Google Cloud Functions unless it was
// changed, for instance. Lambda says it itself. Without it there is no limit besides the job's own.
func WithPlatformTimeout(d time.Duration) Option {
	return func(s *settings) { s.positive("WithPlatformTimeout", &s.limit, d) }
}

// WithSafetyMargin is what shall be left of the platform's time when a job is given up. Without it 5 s, and never more
// than half of the time.
func WithSafetyMargin(d time.Duration) Option {
	return func(s *settings) { s.positive("WithSafetyMargin", &s.margin, d) }
}

// WithConcurrency is how many jobs of one batch run at a time. Without it 10. Those of a FIFO queue run one by one.
func WithConcurrency(n int) Option {
	return func(s *settings) { s.atLeastOne("WithConcurrency", &s.concurrency, n) }
}

// WithReplayMemory is how many push deliveries an instance remembers with their answers: one that arrives twice gets
// its first answer and runs once. Without it 4,096.
func WithReplayMemory(deliveries int) Option {
	return func(s *settings) { s.atLeastOne("WithReplayMemory", &s.memory, deliveries) }
}

// WithEncryptionKeys decrypts the arguments of jobs: "name:key,name:key", where a key is 64 hexadecimal characters, or
// base64 of 32 bytes. Without it $OJS_ENCRYPTION_KEYS.
func WithEncryptionKeys(keys string) Option { return func(s *settings) { s.encryptionKeys = keys } }

// WithRegistry takes handlers and middleware that exist already, such as those of a worker:
//
//	registry, err := worker.Registry()
//	handler := serverless.NewHandler(serverless.WithRegistry(registry))
func WithRegistry(registry *ojs.Registry) Option { return func(s *settings) { s.registry = registry } }

// WithLogger gets what goes wrong; slog.Default() without it.
func WithLogger(logger *slog.Logger) Option { return func(s *settings) { s.logger = logger } }

// WithHTTPClient makes the requests to the server. It is kept between invocations, and so are its connections.
func WithHTTPClient(client *http.Client) Option { return func(s *settings) { s.client = client } }

// WithClock says what time it is, for tests.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

func (s *settings) positive(name string, into *time.Duration, d time.Duration) {
	if d <= 0 {
		s.wrong = cmp.Or(s.wrong, invalid("%s: must be longer than 0, got %s", name, d))
	}
	*into = d
}

func (s *settings) atLeastOne(name string, into *int, n int) {
	if n < 1 {
		s.wrong = cmp.Or(s.wrong, invalid("%s: must be at least 1, got %d", name, n))
	}
	*into = n
}

func newSettings(options []Option) settings {
	s := settings{tolerance: Tolerance, margin: SafetyMargin, concurrency: defaultConcurrency, memory: defaultMemory}
	for _, option := range options {
		option(&s)
	}
	s.url = strings.TrimRight(cmp.Or(s.url, os.Getenv("OJS_URL"), os.Getenv("OJS_BACKEND_URL")), "/")
	s.token = cmp.Or(s.token, os.Getenv("OJS_AUTH_TOKEN"))
	s.encryptionKeys = cmp.Or(s.encryptionKeys, os.Getenv("OJS_ENCRYPTION_KEYS"))
	if s.secrets == nil {
		s.secrets = strings.Split(os.Getenv("OJS_SIGNING_SECRET"), ",")
	}
	s.secrets = trimmed(s.secrets)
	if s.unsigned && len(s.secrets) > 0 {
		s.wrong = cmp.Or(s.wrong, invalid("WithUnsignedRequests checks no signature, and there are secrets: leave one out"))
	}
	if s.registry == nil {
		s.registry = ojs.NewRegistry()
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	if s.client == nil {
		s.client = &http.Client{Timeout: 30 * time.Second}
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.url != "" && !strings.HasPrefix(s.url, "http://") && !strings.HasPrefix(s.url, "https://") {
		s.wrong = cmp.Or(s.wrong, invalid("WithOJSURL: '%s' must begin with http:// or https://", s.url))
	}
	return s
}

// trimmed leaves out what is empty: a variable that is set to nothing is no secret.
func trimmed(secrets []string) (known []string) {
	for _, secret := range secrets {
		if secret = strings.TrimSpace(secret); secret != "" {
			known = append(known, secret)
		}
	}
	return known
}

func invalid(format string, args ...any) error {
	return &ojs.Error{Class: ojs.ErrValidation, Code: "invalid_argument", Message: fmt.Sprintf(format, args...)}
}

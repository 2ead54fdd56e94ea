package serverless

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/openjobspec/ojs-go"
)

// maxRemembered is how many bytes the answers that are remembered may have in all.
const maxRemembered = 8 << 20

// reply is the answer to a request.
type reply struct {
	status int
	body   []byte
}

// headers are those of every answer; 405 names the method that is allowed.
func (a reply) headers() map[string]string {
	headers := map[string]string{"content-type": "application/json"}
	if a.status == http.StatusMethodNotAllowed {
		headers["allow"] = http.MethodPost
	}
	return headers
}

func replyOf(status int, body any) reply {
	text, _ := json.Marshal(body)
	return reply{status, text}
}

// ServeHTTP answers push deliveries: 200 with the outcome of the job, 401 without a valid signature, 400, 405 or 413
// for what is no push delivery, and 500 where the handler has no signing secret. It is a handler of net/http, and so a
// function of Google Cloud and of Azure:
//
//	functions.HTTP("Jobs", handler.ServeHTTP)
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBodyBytes+1))
	if err != nil {
		write(w, refusal(http.StatusBadRequest, "invalid_request", "the body did not arrive: "+err.Error(), nil))
		return
	}
	write(w, h.respond(r.Context(), r.Method, r.Header, body))
}

func write(w http.ResponseWriter, answer reply) {
	for name, value := range answer.headers() {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body)
}

// respond runs the job of a push request, whatever brought the request.
func (h *Handler) respond(ctx context.Context, method string, headers http.Header, body []byte) reply {
	if err := h.Check(); err != nil {
		h.logger.Error("ojs: the handler is not set up", "error", err)
		return refusal(http.StatusInternalServerError, "internal_error", "the handler is not set up: its log says why", nil)
	}
	if method != http.MethodPost {
		return refusal(http.StatusMethodNotAllowed, "method_not_allowed", "a push delivery is a POST request", nil)
	}
	if len(body) > MaxBodyBytes {
		return refusal(http.StatusRequestEntityTooLarge, "payload_too_large", "a push delivery has at most 6 MiB", nil)
	}
	now := h.clock()
	if !h.unsigned && len(h.secrets) == 0 {
		// 401 would end the job and disable the endpoint, although only a setting is missing.
		h.logger.Error("ojs: a push endpoint needs its signing secret: set WithSigningSecrets or OJS_SIGNING_SECRET; " +
			"WithUnsignedRequests trusts every request")
		const why = "the function has no signing secret: its log says what to set"
		return refusal(http.StatusInternalServerError, "internal_error", why, nil)
	}
	if !h.unsigned {
		var wrong *ojs.Error
		if err := Verify(body, headers, h.secrets, h.tolerance, now); errors.As(err, &wrong) {
			h.logger.Warn("ojs: a push request is refused", "error", err)
			return refusal(http.StatusUnauthorized, "unauthenticated", wrong.Message, wrong.Details)
		}
	}
	d, err := readDelivery(body)
	if err != nil {
		return refusal(http.StatusBadRequest, "invalid_request", err.Error(), nil)
	}
	// The header with the delivery's id is not signed, the body is.
	key := sha256.Sum256(body)
	if d.id != "" {
		key = sha256.Sum256([]byte(d.id))
	}
	return h.seen.once(ctx, key, now, func() reply { return replyOf(http.StatusOK, resultOf(h.run(ctx, d))) })
}

// refusal is an error in the form of the protocol. A fault of the function (5xx) is worth another try.
func refusal(status int, code, message string, details json.RawMessage) reply {
	retryable := status >= http.StatusInternalServerError
	about := map[string]any{"code": code, "message": message, "retryable": retryable}
	if details != nil {
		about["details"] = details
	}
	return replyOf(status, map[string]any{"error": about})
}

// deliveries remembers answers by delivery, bounded in number, size and time: a delivery that arrives twice gets its
// first answer, and runs once.
type deliveries struct {
	mu    sync.Mutex
	most  int
	keep  time.Duration // How long a signature counts.
	known map[[sha256.Size]byte]*remembered
	order []*remembered
	size  int
}

type remembered struct {
	key    [sha256.Size]byte
	at     time.Time
	done   chan struct{}
	answer reply // Read it when done is closed.
}

func (r *deliveries) once(ctx context.Context, key [sha256.Size]byte, now time.Time, run func() reply) reply {
	r.mu.Lock()
	if before := r.known[key]; before != nil {
		r.mu.Unlock()
		select {
		case <-before.done:
			return before.answer
		case <-ctx.Done():
			return refusal(http.StatusServiceUnavailable, "busy", "the same delivery still runs", nil)
		}
	}
	r.forget(now)
	mine := &remembered{key: key, at: now, done: make(chan struct{})}
	if r.known == nil {
		r.known = map[[sha256.Size]byte]*remembered{}
	}
	r.known[key] = mine
	r.order = append(r.order, mine)
	r.mu.Unlock()

	answer := run()
	r.mu.Lock()
	defer r.mu.Unlock()
	mine.answer = answer
	close(mine.done)
	if r.known[key] == mine {
		r.size += len(answer.body)
	}
	return answer
}

// forget drops what is too old to have a valid signature, and the oldest of what is too much.
func (r *deliveries) forget(now time.Time) {
	for len(r.order) > 0 && (now.Sub(r.order[0].at) > r.keep || len(r.order) >= r.most || r.size > maxRemembered) {
		first := r.order[0]
		r.order[0] = nil
		r.order = r.order[1:]
		delete(r.known, first.key)
		select {
		case <-first.done:
			r.size -= len(first.answer.body)
		default:
		}
	}
}

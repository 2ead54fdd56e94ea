package serverless

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/openjobspec/ojs-go"
)

// LambdaHandler is a handler as a function of AWS Lambda: each of its methods is what lambda.Start takes.
type LambdaHandler struct{ *Handler }

// NewLambdaHandler makes a handler for AWS Lambda. Lambda says itself how much time an invocation has.
func NewLambdaHandler(options ...Option) *LambdaHandler {
	return &LambdaHandler{NewHandler(options...)}
}

// SQSEvent is a batch of messages of SQS.
type SQSEvent struct {
	Records []SQSMessage `json:"Records"`
}

// SQSMessage is one message: its body is a job, or the body of a push delivery.
type SQSMessage struct {
	MessageID      string            `json:"messageId"`
	Body           string            `json:"body"`
	Attributes     map[string]string `json:"attributes"`
	EventSourceARN string            `json:"eventSourceARN"`
}

// SQSResponse names the messages that SQS shall deliver again.
type SQSResponse struct {
	BatchItemFailures []BatchItemFailure `json:"batchItemFailures"`
}

// BatchItemFailure is one such message.
type BatchItemFailure struct {
	ItemIdentifier string `json:"itemIdentifier"`
}

// group is the message group in a FIFO queue. (Messages of standard queues may have one as well, which orders nothing.)
func (m SQSMessage) group() (name string, ordered bool) {
	return m.Attributes["MessageGroupId"], strings.HasSuffix(m.EventSourceARN, ".fifo")
}

// HandleSQS runs the jobs of a batch and returns those that SQS shall deliver again. The event source mapping needs
// ReportBatchItemFailures.
//
// A message is delivered again when it cannot be read, and when its outcome did not reach the server. Where the server
// has taken note of a failure, the server decides about the next attempt. In a FIFO queue the first failure that will
// be tried again ends the work on its message group: that message and those behind it are delivered again, and other
// groups go on. An error is a mistake in the set-up of the handler: then SQS delivers the whole batch again.
func (h *LambdaHandler) HandleSQS(ctx context.Context, event SQSEvent) (SQSResponse, error) {
	if err := h.Check(); err != nil {
		return SQSResponse{}, err
	}
	ctx = h.invocation(ctx)
	again := make([]bool, len(event.Records))
	places := make(chan struct{}, h.concurrency)
	stopped := map[string]bool{}
	var running sync.WaitGroup
	for i, message := range event.Records {
		if group, ordered := message.group(); ordered {
			again[i] = stopped[group] || !h.message(ctx, message, true)
			stopped[group] = again[i]
			continue
		}
		places <- struct{}{}
		running.Add(1)
		go func() {
			defer running.Done()
			defer func() { <-places }()
			again[i] = !h.message(ctx, message, false)
		}()
	}
	running.Wait()
	answer := SQSResponse{BatchItemFailures: []BatchItemFailure{}}
	for i, message := range event.Records {
		if again[i] {
			answer.BatchItemFailures = append(answer.BatchItemFailures, BatchItemFailure{message.MessageID})
		}
	}
	return answer, nil
}

// message runs the job of one message; false when SQS shall deliver it again.
func (h *LambdaHandler) message(ctx context.Context, message SQSMessage, ordered bool) bool {
	if isLate(ctx) {
		return false
	}
	d, err := readDelivery([]byte(message.Body))
	if err != nil {
		h.logger.Error("ojs: a message of SQS has no job", "message", message.MessageID, "error", err)
		return false
	}
	count, _ := strconv.Atoi(message.Attributes["ApproximateReceiveCount"])
	if count > 1 && h.isStale(ctx, d) {
		h.logger.Info("ojs: a job came again after the server moved on; it is not run", "id", d.about.ID)
		return true
	}
	outcome, taken := h.settle(ctx, d)
	return taken && !(ordered && comesAgain(outcome))
}

// HTTPEvent is a request by a function URL, by an HTTP API (payload format 2.0) or by a REST API (1.0).
type HTTPEvent struct {
	HTTPMethod        string              `json:"httpMethod,omitempty"`
	Headers           map[string]string   `json:"headers,omitempty"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders,omitempty"`
	Body              string              `json:"body,omitempty"`
	IsBase64Encoded   bool                `json:"isBase64Encoded,omitempty"`
	RequestContext    HTTPRequestContext  `json:"requestContext"`
}

// HTTPRequestContext is what payload format 2.0 says about the request.
type HTTPRequestContext struct {
	HTTP struct {
		Method string `json:"method,omitempty"`
	} `json:"http"`
}

// HTTPResponse is the answer to an [HTTPEvent].
type HTTPResponse struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

// HandleHTTP answers a push delivery that came by a function URL or by API Gateway.
func (h *LambdaHandler) HandleHTTP(ctx context.Context, event HTTPEvent) (HTTPResponse, error) {
	headers := http.Header{}
	for name, values := range event.MultiValueHeaders {
		headers[name] = values
	}
	for name, value := range event.Headers {
		headers[name] = []string{value}
	}
	method := cmp.Or(event.HTTPMethod, event.RequestContext.HTTP.Method)
	body := []byte(event.Body)
	var err error
	if event.IsBase64Encoded {
		body, err = base64.StdEncoding.DecodeString(event.Body)
	}
	var answer reply
	if err != nil {
		answer = refusal(http.StatusBadRequest, "invalid_request", "the body is no base64", nil)
	} else {
		answer = h.respond(ctx, method, headers, body)
	}
	return HTTPResponse{StatusCode: answer.status, Headers: answer.headers(), Body: string(answer.body)}, nil
}

// DirectResponse is the answer to a job that is the event itself.
type DirectResponse = result

// HandleDirect runs the job that the event is.
func (h *LambdaHandler) HandleDirect(ctx context.Context, event json.RawMessage) (DirectResponse, error) {
	if err := h.Check(); err != nil {
		return DirectResponse{}, err
	}
	d, err := readDelivery(event)
	if err != nil {
		return DirectResponse{}, err
	}
	outcome, _ := h.settle(ctx, d)
	told := resultOf(outcome)
	told.JobID = d.about.ID
	return told, nil
}

// EventBridgeEvent is an event whose detail is a job.
type EventBridgeEvent struct {
	Detail json.RawMessage `json:"detail"`
}

// HandleEventBridge runs the job in the detail of an event. The error is a [DeliveryFailedError] when the job has
// failed and no server knows: then Lambda calls the function again.
func (h *LambdaHandler) HandleEventBridge(ctx context.Context, event EventBridgeEvent) (DirectResponse, error) {
	return h.deliver(ctx, event.Detail, 1)
}

// HandleEvent takes an event of any kind, which it tells by its members.
func (h *LambdaHandler) HandleEvent(ctx context.Context, event json.RawMessage) (any, error) {
	var about struct {
		Records        json.RawMessage
		HTTPMethod     *string `json:"httpMethod"`
		DetailType     *string `json:"detail-type"`
		Source         *string `json:"source"`
		RequestContext struct{ HTTP json.RawMessage }
	}
	if err := json.Unmarshal(event, &about); err != nil {
		const known = "the event must be an object: of SQS, a function URL, API Gateway, EventBridge, or a job"
		return nil, invalid(known+": %v", err)
	}
	switch {
	case about.Records != nil:
		return handle(ctx, event, h.HandleSQS)
	case about.HTTPMethod != nil || about.RequestContext.HTTP != nil:
		return handle(ctx, event, h.HandleHTTP)
	case about.DetailType != nil || about.Source != nil:
		return handle(ctx, event, h.HandleEventBridge)
	}
	return h.HandleDirect(ctx, event)
}

// handle reads an event for the method that takes its kind.
func handle[E, A any](
	ctx context.Context, event json.RawMessage, with func(context.Context, E) (A, error),
) (any, error) {
	var read E
	if err := json.Unmarshal(event, &read); err != nil {
		return nil, invalid("the event cannot be read: %v", err)
	}
	return with(ctx, read)
}

// DeliveryFailedError is returned to platforms that take an error as a failure: the job has failed, and no server has
// taken note of it. The platform shall deliver the event again.
type DeliveryFailedError struct {
	// Code and Message are those of the failure.
	Code, Message string
	// Retryable is false when the job has failed for good.
	Retryable bool
}

func (e *DeliveryFailedError) Error() string {
	return fmt.Sprintf("the job failed, and no server knows: %s: %s", e.Code, e.Message)
}

// deliver runs a job of a platform that takes an error as a failure. count is how often the platform has delivered the
// job.
func (h *Handler) deliver(ctx context.Context, job []byte, count int) (result, error) {
	if err := h.Check(); err != nil {
		return result{}, err
	}
	d, err := readDelivery(job)
	if err != nil {
		return result{}, err
	}
	if count > 1 && h.isStale(ctx, d) {
		return result{Status: "stale", JobID: d.about.ID}, nil
	}
	outcome, taken := h.settle(ctx, d)
	told := resultOf(outcome)
	told.JobID = d.about.ID
	if taken {
		return told, nil
	}
	failure := &DeliveryFailedError{Retryable: outcome.Retryable}
	if outcome.Kind == ojs.OutcomeCompleted {
		failure.Code, failure.Message = "not_reported", "the job is done, and the server could not be told"
	} else {
		_ = json.Unmarshal(told.Error, failure)
	}
	return told, failure
}

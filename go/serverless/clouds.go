package serverless

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/openjobspec/ojs-go"
)

// HandlePubSub runs the job in a message of Google Pub/Sub and reports its outcome. data is that of a CloudEvent: of
// type google.cloud.pubsub.topic.v1.messagePublished, or with the job itself. The error is a [DeliveryFailedError] when
// the job has failed and no server knows: Pub/Sub delivers it again.
//
//	functions.CloudEvent("Jobs", func(ctx context.Context, e event.Event) error {
//		return handler.HandlePubSub(ctx, e.Data())
//	})
func (h *Handler) HandlePubSub(ctx context.Context, data []byte) error {
	job, count, err := pubsubJob(data)
	if err == nil {
		_, err = h.deliver(ctx, job, count)
	}
	return err
}

func pubsubJob(data []byte) (job []byte, count int, err error) {
	var pushed struct {
		Message *struct{ Data []byte } `json:"message"`
		Count   int                    `json:"deliveryAttempt"`
	}
	if err := json.Unmarshal(data, &pushed); err != nil {
		return nil, 0, invalid("the data of the event cannot be read: %v", err)
	}
	if pushed.Message == nil {
		return data, 1, nil
	}
	return pushed.Message.Data, pushed.Count, nil
}

// CloudEvents answers CloudEvents over HTTP, in binary and in structured form, and push subscriptions of Pub/Sub: with
// 204, or with 500 when the event shall be delivered again. The platform checks who may call (an invoker's role): the
// requests are not signed.
func (h *Handler) CloudEvents() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, fault := received(r)
		if fault != nil {
			write(w, *fault)
			return
		}
		var structured struct {
			SpecVersion string          `json:"specversion"`
			Source      string          `json:"source"`
			Data        json.RawMessage `json:"data"`
			Data64      []byte          `json:"data_base64"`
		}
		// A job has a specversion as well, and no source.
		if json.Unmarshal(body, &structured) == nil && structured.SpecVersion != "" && structured.Source != "" {
			if body = structured.Data; body == nil {
				body = structured.Data64
			}
		}
		if err := h.HandlePubSub(r.Context(), body); err != nil {
			write(w, h.fault(err))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// AzureQueue answers the Azure Functions host for a queue trigger of a custom handler (Service Bus or storage queue):
// with 200, or with 500 when the message shall be delivered again. binding is the name of the trigger in function.json.
//
//	http.Handle("/jobs", handler.AzureQueue("message"))
func (h *Handler) AzureQueue(binding string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, fault := received(r)
		if fault != nil {
			write(w, *fault)
			return
		}
		job, count, err := azureJob(body, binding)
		if err == nil {
			_, err = h.deliver(r.Context(), job, count)
		}
		if err != nil {
			write(w, h.fault(err))
			return
		}
		write(w, replyOf(http.StatusOK, map[string]any{"Outputs": map[string]any{}, "Logs": []string{}}))
	})
}

// azureJob is the message that the host hands over: a text with JSON, a text with JSON in that text, or an object.
func azureJob(body []byte, binding string) (job []byte, count int, err error) {
	var call struct {
		Data     map[string]json.RawMessage
		Metadata struct{ DeliveryCount, DequeueCount json.RawMessage }
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, 0, invalid("the request of the host cannot be read: %v", err)
	}
	job = call.Data[binding]
	if job == nil {
		return nil, 0, invalid("the request of the host has no '%s' in its Data: name the trigger's binding", binding)
	}
	for _, said := range []json.RawMessage{call.Metadata.DeliveryCount, call.Metadata.DequeueCount} {
		_ = json.Unmarshal(unquoted(said), &count)
		if count > 0 {
			break
		}
	}
	return unquoted(unquoted(job)), count, nil
}

// unquoted is the text in a JSON string; other JSON comes back as it is.
func unquoted(value json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	return json.RawMessage(text)
}

// received reads the body of a request of a platform.
func received(r *http.Request) ([]byte, *reply) {
	if r.Method != http.MethodPost {
		fault := refusal(http.StatusMethodNotAllowed, "method_not_allowed", "events come by POST", nil)
		return nil, &fault
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBodyBytes+1))
	if err != nil || len(body) > MaxBodyBytes {
		const why = "the body did not arrive, or has more than 6 MiB"
		fault := refusal(http.StatusRequestEntityTooLarge, "payload_too_large", why, nil)
		return nil, &fault
	}
	return body, nil
}

// fault is the answer for an event that shall be delivered again.
func (h *Handler) fault(err error) reply {
	h.logger.Error("ojs: an event shall be delivered again", "error", err)
	code := "handler_error"
	var wrong *ojs.Error
	var failed *DeliveryFailedError
	if errors.As(err, &failed) {
		code = failed.Code
	} else if errors.As(err, &wrong) {
		code = wrong.Code
	}
	return refusal(http.StatusInternalServerError, code, err.Error(), nil)
}

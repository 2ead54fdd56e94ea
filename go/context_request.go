//go:build cgo

package ojs

import (
	"context"
	"fmt"
	"maps"
	"strings"
)

//gen:go/request_info.j2 (make gen; do not edit)

// RequestInfo is what a request hands on to the jobs it makes, in their metadata (specification "Framework Adapters", section 7.1). What
// is empty is left out; what a job says in its own metadata stays.
type RequestInfo struct {
	// UserID: who the user is, "ojs.context.user_id".
	UserID string
	// RequestID: the name of the request, "ojs.context.request_id".
	RequestID string
	// Traceparent: the W3C trace context, "traceparent".
	Traceparent string
	// TenantID: the tenant, "tenant_id".
	TenantID string
	// Locale: the user's language, "ojs.context.locale".
	Locale string
}

// fields are the names in metadata.
func (i *RequestInfo) fields() map[string]*string {
	return map[string]*string{
		"ojs.context.user_id":    &i.UserID,
		"ojs.context.request_id": &i.RequestID,
		"traceparent":            &i.Traceparent,
		"tenant_id":              &i.TenantID,
		"ojs.context.locale":     &i.Locale,
	}
}

//gen:end

// RequestInfoOf reads the headers of a request; who the user is, authentication knows:
//
//	info := ojs.RequestInfoOf(r.Header.Get)
//	info.UserID = session.User
func RequestInfoOf(header func(name string) string) RequestInfo {
	locale, _, _ := strings.Cut(header("Accept-Language"), ",")
	locale, _, _ = strings.Cut(locale, ";")
	if locale = strings.TrimSpace(locale); locale == "*" {
		locale = ""
	}
	return RequestInfo{
		RequestID: header("X-Request-ID"), Traceparent: header("traceparent"), TenantID: header("X-OJS-Tenant"), Locale: locale,
	}
}

// complete adds it to a request.
func (i RequestInfo) complete(request *JobRequest) {
	if i == (RequestInfo{}) {
		return
	}
	meta := Obj{}
	for name, value := range i.fields() {
		if *value != "" && (name != "tenant_id" || request.Tenant == "") {
			meta[name] = *value
		}
	}
	// A new map: the caller's may serve other jobs.
	maps.Copy(meta, request.Meta)
	request.Meta = meta
}

type requestKey struct{}

// requestValue is what a context carries.
type requestValue struct {
	client *Client
	info   RequestInfo
}

func requestOf(ctx context.Context) requestValue {
	value, _ := ctx.Value(requestKey{}).(requestValue)
	return value
}

// WithRequestContext is a context for the length of a request: [EnqueueAfterCommit], [Enqueue] and [EnqueueBulk] find the client in it, and
// jobs that are enqueued with it carry info in their metadata. Without info, the one of the context that is given goes on.
//
// Package ojshttp has this as middleware, ready made.
func WithRequestContext(ctx context.Context, client *Client, info ...RequestInfo) context.Context {
	value := requestValue{client, requestOf(ctx).info}
	if len(info) > 0 {
		value.info = info[0]
	}
	return context.WithValue(ctx, requestKey{}, value)
}

// RequestInfoFrom is what a context carries; empty outside of a request.
func RequestInfoFrom(ctx context.Context) RequestInfo { return requestOf(ctx).info }

// RestoreRequest is middleware for workers: around the handler, the context is as in the request that made the job, and jobs that the
// handler enqueues carry the same metadata.
//
//	err := worker.Use(client.RestoreRequest)
func (c *Client) RestoreRequest(ctx JobContext, next HandlerFunc) error {
	var info RequestInfo
	for name, value := range info.fields() {
		if found, there := ctx.Job.Meta[name]; there && found != nil {
			*value = fmt.Sprint(found)
		}
	}
	return next(ctx.WithContext(WithRequestContext(ctx, c, info)))
}

// Enqueue sends a job now, with the client of [WithRequestContext].
func Enqueue(ctx context.Context, jobType string, args any, options ...EnqueueOption) (*Job, error) {
	client, err := clientOf(ctx)
	if err != nil {
		return nil, err
	}
	return client.Enqueue(ctx, jobType, args, options...)
}

// EnqueueBulk sends many jobs now, in one request, with the client of [WithRequestContext]: all are stored or none.
func EnqueueBulk(ctx context.Context, requests []JobRequest) ([]Job, error) {
	client, err := clientOf(ctx)
	if err != nil {
		return nil, err
	}
	return client.EnqueueBatch(ctx, requests)
}

func clientOf(ctx context.Context) (*Client, error) {
	if client := requestOf(ctx).client; client != nil {
		return client, nil
	}
	return nil, invalid("there is no client in the context: make it with ojs.WithRequestContext(ctx, client), or use ojshttp.Middleware")
}

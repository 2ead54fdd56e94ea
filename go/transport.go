//go:build cgo

package ojs

import (
	"context"
	"errors"
	"fmt"
)

// Transport answers requests in place of a server: for tests, and for networks that the engine does not know. See [WithTransport].
type Transport interface {
	// Request gets one request: path is relative to /ojs/v1 ("/jobs"), or "/ojs/manifest"; body is JSON, nil when there is none. It
	// returns a status of HTTP and JSON. An error says that there was no answer, unless it is an [*Error] with a status. The context
	// ends when the client is closed. Many requests are made at a time.
	Request(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error)
}

// WithTransport sends requests to an object of your own, and none to a server: the URL of the client does not matter.
func WithTransport(transport Transport) ConnectionOption {
	return func(c *connection) { c.transport = transport }
}

// newNativeClientFor is a connection that asks a Transport, with a goroutine that waits for requests until it is closed.
func newNativeClientFor(transport Transport) (*nativeClient, error) {
	host, err := newMailbox()
	if err != nil {
		return nil, err
	}
	client, err := newNativeClientOver(host)
	if err != nil {
		host.free()
		return nil, err
	}
	client.host = host
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer host.free()
		defer cancel()
		for {
			request, over := host.pull()
			if over {
				return
			}
			go answer(ctx, host, transport, request)
		}
	}()
	return client, nil
}

func answer(ctx context.Context, host *mailbox, transport Transport, request letter) {
	status, body, err := ask(ctx, transport, request)
	var refused *Error
	if errors.As(err, &refused) && refused.Status > 0 {
		// An error of a server stays one.
		told, wrong := encode(Obj{"error": refused})
		status, body, err = refused.Status, told, wrong
	}
	// The mailbox may be closed by now: then no call waits.
	_ = host.reply(request.ticket, status, body, err)
}

// ask turns a panic into an error: it would end the program from a goroutine that is not the caller's.
func ask(ctx context.Context, transport Transport, request letter) (status int, body []byte, err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("the transport panicked: %v", wrong)
		}
	}()
	return transport.Request(ctx, request.method, request.path, request.body)
}

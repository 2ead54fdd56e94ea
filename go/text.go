//go:build cgo

package ojs

import (
	"fmt"
	"net/url"
	"strings"
)

// What is printed of clients, workers, outboxes and relays: where they lead, and never a password, a token or a key.

// redacted is a URL without user, password and parameters, any of which may hold a secret.
func redacted(address string) string {
	scheme, rest, there := strings.Cut(address, "://")
	if !there {
		// "memory:name", "sqlite:jobs.db?…"
		address, _, _ = strings.Cut(address, "?")
		return address
	}
	place, _, _ := strings.Cut(rest, "?")
	place, _, _ = strings.Cut(place, "#")
	if at := strings.LastIndexByte(place, '@'); at >= 0 {
		place = "***@" + place[at+1:]
	}
	if _, err := url.Parse(scheme + "://" + place); err != nil {
		return scheme + "://…"
	}
	return scheme + "://" + place
}

// String names the server of the client.
func (c *Client) String() string {
	if c == nil {
		return "ojs.Client(nil)"
	}
	if c.url == "" {
		return "ojs.Client(transport)"
	}
	return "ojs.Client(" + redacted(c.url) + ")"
}

// GoString is String: %#v would print what is inside.
func (c *Client) GoString() string { return c.String() }

// String names the queues of the worker.
func (w *Worker) String() string {
	if w == nil {
		return "ojs.Worker(nil)"
	}
	queues := strings.Join(w.settings.queues, ", ")
	return fmt.Sprintf("ojs.Worker(%s, queues %s, %s)", redacted(w.client.url), queues, w.State())
}

// GoString is String: %#v would print what is inside.
func (w *Worker) GoString() string { return w.String() }

// String names the outbox.
func (o *Outbox) String() string {
	if o == nil {
		return "ojs.Outbox(nil)"
	}
	return fmt.Sprintf("ojs.Outbox(%s in %s, sent to %s)", o.options.Table, o.options.Dialect, redacted(o.client.url))
}

// GoString is String: %#v would print what is inside.
func (o *Outbox) GoString() string { return o.String() }

// String leaves user, password and parameters of the URL out.
func (o OutboxOptions) String() string {
	shown := o.Dialect
	if o.URL != "" {
		shown = redacted(o.URL)
	}
	return fmt.Sprintf("ojs.OutboxOptions(%s in %s)", o.Table, shown)
}

// GoString is String: %#v would print the URL.
func (o OutboxOptions) GoString() string { return o.String() }

// String says what the relay has done.
func (r *Relay) String() string {
	if r == nil {
		return "ojs.Relay(nil)"
	}
	status, err := r.Status()
	if err != nil {
		return "ojs.Relay"
	}
	return fmt.Sprintf("ojs.Relay(leading %t, sent %d)", status.Leading, status.Sent)
}

// GoString is String: %#v would print what is inside.
func (r *Relay) GoString() string { return r.String() }

// String names the database of its outbox.
func (d *DB) String() string {
	if d == nil {
		return "ojs.DB(nil)"
	}
	return "ojs.DB(" + d.outbox.String() + ")"
}

// GoString is String: %#v would print what is inside.
func (d *DB) GoString() string { return d.String() }

// Package ojshttp hands the context of HTTP requests on to the jobs they make: middleware for net/http, chi, and every router whose
// middleware is a func(http.Handler) http.Handler.
//
//	handler = ojshttp.Middleware(client, ojshttp.Options{UserID: currentUser})(handler)
package ojshttp

import (
	"net/http"

	"github.com/openjobspec/ojs-go"
)

// Options say what headers do not.
type Options struct {
	// UserID is the user that authentication found; "" for none.
	UserID func(r *http.Request) string
	// TenantID is the tenant that authentication found. Where it finds one, the header X-OJS-Tenant, which any client can send, does not count.
	TenantID func(r *http.Request) string
}

// Middleware binds the client and the request's metadata to the context of each request: user, X-Request-ID, traceparent, tenant
// (X-OJS-Tenant), language (specification "Framework Adapters", section 7.1). Jobs that are enqueued with r.Context() carry it, and
// [ojs.EnqueueAfterCommit] finds the client. It belongs inside of authentication.
func Middleware(client *ojs.Client, options Options) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := ojs.WithRequestContext(r.Context(), client, options.info(r))
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

func (o Options) info(r *http.Request) ojs.RequestInfo {
	info := ojs.RequestInfoOf(r.Header.Get)
	if o.UserID != nil {
		info.UserID = o.UserID(r)
	}
	if o.TenantID != nil {
		if tenant := o.TenantID(r); tenant != "" {
			info.TenantID = tenant
		}
	}
	return info
}

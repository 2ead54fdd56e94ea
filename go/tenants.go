//go:build cgo

package ojs

// OfTenant is the same client with the requests of one tenant: they see and change what belongs to it, and the jobs
// are the tenant's. It shares connection and middleware; closing it leaves them open. A text that is no id of a tenant
// is an error.
//
//	acme, err := client.OfTenant("acme")
func (c *Client) OfTenant(tenant string) (*Client, error) {
	native, err := c.native.ofTenant(tenant)
	if err != nil {
		return nil, err
	}
	return &Client{native: native, url: c.url, chain: c.chain, tenant: tenant, fake: c.fake}, nil
}

// tenanted gives a request the tenant of this client, unless it names one.
func (c *Client) tenanted(request *JobRequest) {
	if _, there := request.Meta["tenant_id"]; c.tenant != "" && request.Tenant == "" && !there {
		request.Tenant = c.tenant
	}
}

// Client is the worker's client. What it enqueues belongs to the tenant of this job, and so does all that it sees.
func (c JobContext) Client() (*Client, error) {
	tenant := c.Tenant()
	switch {
	case c.client == nil:
		return nil, invalid("this context belongs to no worker, and has no client")
	case tenant == "":
		return c.client, nil
	default:
		return c.client.OfTenant(tenant)
	}
}

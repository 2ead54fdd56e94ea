package ojs_test

import (
	"errors"
	"testing"

	"github.com/openjobspec/ojs-go"
	"github.com/openjobspec/ojs-go/ojstest"
)

func TestAClientOfATenantSeesAndMakesWhatBelongsToIt(t *testing.T) {
	onEveryConnection(t, func(w world) {
		acme, err := w.client.OfTenant("acme")
		must(w, err)
		globex, err := w.client.OfTenant("globex")
		must(w, err)
		job, err := acme.Enqueue(w.ctx, "tenants.mail", nil, ojs.WithQueue(w.queue))
		must(w, err)
		equal(w, job.Meta["tenant_id"], any("acme"), "the tenant of the job")
		if _, err := globex.GetJob(w.ctx, job.ID); !errors.Is(err, ojs.ErrNotFound) {
			w.Error(err)
		}
		if _, err := acme.Enqueue(w.ctx, "tenants.mail", nil, ojs.WithTenant("globex")); err == nil {
			w.Error("a job of another tenant was taken")
		}
		must(w, acme.Close())
		_, err = w.client.GetJob(w.ctx, job.ID)
		must(w, err)
	})
}

func TestAJobNamesItsTenant(t *testing.T) {
	onEveryConnection(t, func(w world) {
		acme := ojs.WithTenant("acme")
		own := ojs.WithMeta(ojs.Obj{"a": "b"})
		job, err := w.client.Enqueue(w.ctx, "tenants.mail", nil, ojs.WithQueue(w.queue), acme, own)
		must(w, err)
		same(w, job.Meta, ojs.Obj{"a": "b", "tenant_id": "acme"}, "the metadata")
		for _, wrong := range []ojs.EnqueueOption{ojs.WithTenant("a b"), ojs.WithTenant("_other")} {
			if _, err := w.client.Enqueue(w.ctx, "tenants.mail", nil, wrong); !errors.Is(err, ojs.ErrValidation) {
				w.Error(err)
			}
		}
		_, err = w.client.Enqueue(w.ctx, "tenants.mail", nil, acme, ojs.WithMeta(ojs.Obj{"tenant_id": "globex"}))
		if !errors.Is(err, ojs.ErrValidation) {
			w.Error(err)
		}
		if _, err := w.client.OfTenant("_other"); !errors.Is(err, ojs.ErrValidation) {
			w.Error(err)
		}
		if _, err := ojs.NewClient("memory:", ojs.WithClientTenant("a b")); !errors.Is(err, ojs.ErrValidation) {
			w.Error(err)
		}
	})
}

func TestWhatAHandlerEnqueuesBelongsToTheTenantOfItsJob(t *testing.T) {
	onEveryConnection(t, func(w world) {
		worker := w.worker()
		later := ojs.WithQueue(w.queue + "-later")
		worker.Register("tenants.parent", func(ctx ojs.JobContext) error {
			client, err := ctx.Client()
			if err != nil {
				return err
			}
			child, err := client.Enqueue(ctx, "tenants.child", nil, later)
			if err != nil {
				return err
			}
			step := ojs.NewJob("tenants.step", nil, later)
			flow, err := client.CreateWorkflow(ctx, ojs.Chain(step, step))
			if err != nil {
				return err
			}
			ctx.SetResult([]string{ctx.Tenant(), child.ID, flow.ID})
			return nil
		})
		w.start(worker)
		run := func(options ...ojs.EnqueueOption) (made []string) {
			mustDecode(w, w.inState(w.enqueue("tenants.parent", nil, options...), ojs.Completed).Result, &made)
			return made
		}
		ours, plain := run(ojs.WithTenant("acme")), run()
		same(w, []string{ours[0], plain[0]}, []string{"acme", ""}, "tenants")
		child, err := w.client.GetJob(w.ctx, ours[1])
		must(w, err)
		equal(w, child.Meta["tenant_id"], any("acme"), "the tenant of what the handler enqueued")
		acme, err := w.client.OfTenant("acme")
		must(w, err)
		_, err = acme.GetWorkflow(w.ctx, ours[2])
		must(w, err)
		if _, err := acme.GetWorkflow(w.ctx, plain[2]); err == nil {
			w.Error("a workflow of no tenant is seen")
		}
	})
}

func TestOperatorsDirectTenants(t *testing.T) {
	onEveryConnection(t, func(w world) {
		id := "direct-" + w.queue
		_, err := w.client.PutTenant(w.ctx, id, ojs.Obj{"name": "Acme Ltd.", "limits": ojs.Obj{"max_concurrency": 10}})
		must(w, err)
		_, err = w.client.SetTenantLimits(w.ctx, id, ojs.Obj{"max_queue_depth": 1})
		must(w, err)
		tenant, err := w.client.OfTenant(id)
		must(w, err)
		job, err := tenant.Enqueue(w.ctx, "tenants.mail", nil, ojs.WithQueue(w.queue))
		must(w, err)
		var refused *ojs.Error
		if _, err = tenant.Enqueue(w.ctx, "tenants.mail", nil); !errors.As(err, &refused) || refused.Status != 429 {
			w.Error(err)
		}
		page, err := w.client.TenantJobs(w.ctx, id, "", "available", 1, 10)
		must(w, err)
		equal(w, page.Jobs[0].ID, job.ID, "the job of the tenant")
		_, err = w.client.SuspendTenant(w.ctx, id)
		must(w, err)
		_, err = w.client.ResumeTenant(w.ctx, id)
		must(w, err)
		found, err := w.client.GetTenant(w.ctx, id)
		must(w, err)
		equal(w, found["status"], any("active"), "the status of the tenant")
		if _, err = tenant.ListTenants(w.ctx, 1, 10); !errors.As(err, &refused) || refused.Status != 403 {
			w.Error(err)
		}
		_, err = tenant.CancelJob(w.ctx, job.ID)
		must(w, err)
		_, err = w.client.DeleteTenant(w.ctx, id)
		must(w, err)
	})
}

func TestAFakeKnowsTenants(t *testing.T) {
	t.Parallel()
	fake := ojstest.New(t)
	acme, err := fake.Client.OfTenant("acme")
	must(t, err)
	_, err = acme.Enqueue(t.Context(), "tenants.fake", nil)
	must(t, err)
	equal(t, fake.AssertEnqueued("tenants.fake")[0].Meta["tenant_id"], any("acme"), "the tenant of the job")
}

// Tenants: clients of one, jobs of one, and what a handler's jobs inherit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OJSClient, OJSNotFoundError, OJSServer, OJSValidationError, OJSWorker, chain, testing }
  from '@openjobspec/sdk';
import { Recorder, onEveryConnection } from './support.mjs';

onEveryConnection('tenants', (make) => {
  test('a client of a tenant sees and makes what belongs to it', async (t) => {
    const { client, enqueue } = await make(t);
    const [acme, globex] = [client.ofTenant('acme'), client.ofTenant('globex')];
    const job = await acme.enqueue('tenants.mail');
    assert.equal(job.meta.tenant_id, 'acme');
    assert.equal((await acme.getJob(job.id)).id, job.id);
    await assert.rejects(globex.getJob(job.id), OJSNotFoundError);
    assert.equal((await enqueue('tenants.mail')).meta?.tenant_id, undefined);
    await assert.rejects(acme.enqueue('tenants.mail', [], { tenant: 'globex' }));
    await acme.close();
    assert.equal((await client.getJob(job.id)).id, job.id, 'the connection stays open');
  });

  test('a job names its tenant', async (t) => {
    const { client, enqueue } = await make(t);
    const { meta } = await enqueue('tenants.mail', [], { tenant: 'acme', meta: { a: 1 } });
    assert.deepEqual(meta, { a: 1, tenant_id: 'acme' });
    const jobs = await client.enqueueBatch([{ type: 'tenants.mail', tenant: 'acme' }, { type: 'tenants.mail' }]);
    assert.deepEqual(jobs.map((job) => job.meta?.tenant_id), ['acme', undefined]);
    await assert.rejects(enqueue('tenants.mail', [], { tenant: 'a b' }), /tenant must be letters/);
    await assert.rejects(enqueue('tenants.mail', [], { tenant: 'acme', meta: { tenant_id: 'globex' } }), /say it once/);
    assert.throws(() => client.ofTenant('_other'), OJSValidationError);
    assert.throws(() => new OJSClient({ url: 'memory:', tenant: 'a b' }), OJSValidationError);
  });

  test('what a handler enqueues belongs to the tenant of its job', async (t) => {
    const { client, enqueue, makeWorker, queue } = await make(t);
    const later = { queue: `${queue}-later` };
    const worker = makeWorker({
      parent: async (ctx) => {
        const child = await ctx.client.enqueue('child', [], later);
        const flow = await ctx.client.workflow(chain({ type: 'step', ...later }, { type: 'step', ...later }));
        return [ctx.tenant ?? null, child.id, flow.id];
      },
    });
    await worker.start();
    const result = async (options) => (await client.waitForResult((await enqueue('parent', [], options)).id)).result;
    const [tenant, child, flow] = await result({ tenant: 'acme' });
    const [none, plain, other] = await result({});
    assert.deepEqual([tenant, none], ['acme', null]);
    assert.equal((await client.getJob(child)).meta.tenant_id, 'acme');
    assert.equal((await client.getJob(plain)).meta?.tenant_id, undefined);
    const acme = client.ofTenant('acme');
    assert.equal((await acme.getWorkflow(flow)).id, flow);
    await assert.rejects(acme.getWorkflow(other));
  });

  test('operators direct tenants', async (t) => {
    const { client } = await make(t);
    const id = `direct-${process.pid}`;
    await client.tenants.put(id, { name: 'Acme Ltd.', limits: { max_concurrency: 10 } });
    assert.ok((await client.tenants.list({ perPage: 100 })).some((tenant) => tenant.id === id));
    assert.equal((await client.tenants.setLimits(id, { max_queue_depth: 1 })).limits.max_queue_depth, 1);
    const tenant = client.ofTenant(id);
    const job = await tenant.enqueue('tenants.mail');
    const full = (error) => error.status === 429 && error.details.limit === 'max_queue_depth';
    await assert.rejects(tenant.enqueue('tenants.mail'), full);
    assert.deepEqual((await client.tenants.jobs(id, { state: 'available' })).jobs.map((one) => one.id), [job.id]);
    assert.equal((await client.tenants.stats(id)).total_jobs, 1);
    assert.equal((await client.tenants.suspend(id)).status, 'suspended');
    await client.tenants.resume(id);
    assert.equal((await client.tenants.get(id)).status, 'active');
    await assert.rejects(tenant.tenants.list(), (error) => error.status === 403);
    await tenant.cancelJob(job.id);
    await client.tenants.delete(id);
    await assert.rejects(client.tenants.get(id));
  });
});

test('the setting of a client counts for all of its requests', async (t) => {
  const server = await OJSServer.start();
  t.after(() => server.stop());
  const acme = new OJSClient({ url: server.url, tenant: 'acme' });
  const globex = new OJSClient({ url: server.url, tenant: 'globex' });
  t.after(() => Promise.all([acme.close(), globex.close()]));
  const job = await acme.enqueue('tenants.mail');
  assert.equal(job.meta.tenant_id, 'acme');
  await assert.rejects(globex.getJob(job.id), OJSNotFoundError);
});

test("a transport of the program's own gets the tenant in the metadata", async () => {
  const recorder = new Recorder();
  const client = new OJSClient({ transport: recorder, tenant: 'acme' });
  await client.enqueue('tenants.mail');
  assert.deepEqual(recorder.body.meta, { tenant_id: 'acme' });
  assert.equal(recorder.body.options?.tenant, undefined);
  await client.ofTenant('globex').enqueue('tenants.mail', [], { priority: 3 });
  assert.deepEqual([recorder.body.meta, recorder.body.options], [{ tenant_id: 'globex' }, { priority: 3 }]);
});

test('a fake knows tenants', async () => {
  const fake = testing.fake();
  const client = new OJSClient({ url: 'memory:', tenant: 'acme' });
  const worker = new OJSWorker({ client }).register('tenants.parent', async (ctx) => {
    await ctx.client.enqueue('tenants.child', [], { queue: 'later' });
  });
  await client.enqueue('tenants.parent');
  assert.equal(await fake.drain(worker), 1);
  fake.assertEnqueued('tenants.child', { meta: { tenant_id: 'acme' } });
  await fake.restore();
});

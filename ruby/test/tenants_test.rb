# frozen_string_literal: true

require_relative "support"

# Tenants: clients of one, jobs of one, and what a handler's jobs inherit.
class TenantsTest < Minitest::Test
  include Support

  # The same test against an engine in this process, and against a server over HTTP.
  def self.on_every_connection(name, &test)
    define_method("test_#{name}_in_memory") { instance_exec(memory, "tenants", &test) }
    define_method("test_#{name}_over_http") { instance_exec(client_of(Support.server), name.tr("_", "-"), &test) }
  end

  def tenant_of(job)
    job.meta["tenant_id"]
  end

  on_every_connection "a_client_of_a_tenant_sees_and_makes_what_belongs_to_it" do |client, queue|
    acme, globex = %w[acme globex].map { |tenant| client.of_tenant(tenant) }
    job = acme.enqueue("tenants.mail", [], queue: queue)
    assert_equal %w[acme acme], [tenant_of(job), tenant_of(client.get_job(job.id))]
    assert_equal job.id, acme.get_job(job.id).id
    assert_raises(OJS::NotFoundError) { globex.get_job(job.id) }
    assert_nil tenant_of(client.enqueue("tenants.mail", [], queue: queue))
    assert_raises(OJS::APIError) { acme.enqueue("tenants.mail", [], queue: queue, tenant: "globex") }
    acme.close
    assert_equal job.id, client.get_job(job.id).id, "the connection stays open"
  end

  on_every_connection "a_job_names_its_tenant" do |client, queue|
    job = client.enqueue("tenants.mail", [], queue: queue, tenant: "acme", meta: { a: 1 })
    assert_equal({ "a" => 1, "tenant_id" => "acme" }, job.meta)
    plain = { type: "tenants.mail", queue: queue }
    jobs = client.enqueue_batch([{ **plain, tenant: "acme" }, plain])
    assert_equal(["acme", nil], jobs.map { |one| tenant_of(one) })
    { { tenant: "a b" } => "tenant must be letters",
      { tenant: "acme", meta: { tenant_id: "globex" } } => "say it once" }.each do |options, message|
      error = assert_raises(OJS::ValidationError) { client.enqueue("tenants.mail", [], **options) }
      assert_includes error.message, message
    end
    assert_raises(OJS::ValidationError) { client.of_tenant("_other") }
    assert_raises(OJS::ValidationError) { OJS::Client.new("memory:", tenant: "a b") }
  end

  on_every_connection "what_a_handler_enqueues_belongs_to_the_tenant_of_its_job" do |client, queue|
    worker = worker_of(client, queues: queue)
    step = { type: "step", queue: "#{queue}-later" }
    worker.register("parent", queue: queue) do |ctx|
      child = ctx.client.enqueue("child", [], queue: "#{queue}-later")
      [ctx.tenant, child.id, ctx.client.workflow(OJS.chain(step, step)).id]
    end
    worker.start
    results = %w[acme none].map do |tenant|
      job = tenant == "none" ? client.enqueue("parent") : client.enqueue("parent", [], tenant: tenant)
      client.wait_for_result(job.id, timeout: PATIENCE).result
    end
    (tenant, child, flow), (none, plain, other) = results
    assert_equal ["acme", nil], [tenant, none]
    assert_equal(["acme", nil], [child, plain].map { |id| tenant_of(client.get_job(id)) })
    acme = client.of_tenant("acme")
    assert_equal flow, acme.get_workflow(flow).id
    assert_raises(OJS::APIError) { acme.get_workflow(other) }
  end

  on_every_connection "operators_direct_tenants" do |client, queue|
    id = "direct-#{queue}"
    client.put_tenant(id, name: "Acme Ltd.", limits: { max_concurrency: 10 })
    assert_includes client.list_tenants(per_page: 100).map { |tenant| tenant["id"] }, id
    assert_equal 1, client.set_tenant_limits(id, max_queue_depth: 1).dig("limits", "max_queue_depth")
    tenant = client.of_tenant(id)
    job = tenant.enqueue("tenants.mail", [], queue: queue)
    refused = assert_raises(OJS::APIError) { tenant.enqueue("tenants.mail", [], queue: queue) }
    assert_equal [429, "max_queue_depth"], [refused.status, refused.details["limit"]]
    assert_equal [job.id], client.tenant_jobs(id, state: "available").map(&:id)
    assert_equal 1, client.tenant_stats(id)["total_jobs"]
    assert_equal "suspended", client.suspend_tenant(id)["status"]
    client.resume_tenant(id)
    assert_equal "active", client.get_tenant(id)["status"]
    assert_equal 403, assert_raises(OJS::APIError) { tenant.list_tenants }.status
    tenant.cancel_job(job.id)
    client.delete_tenant(id)
    assert_raises(OJS::APIError) { client.get_tenant(id) }
  end

  def test_the_setting_of_a_client_counts_for_all_of_its_requests
    acme, globex = %w[acme globex].map { |tenant| client_of(Support.server, tenant: tenant) }
    job = acme.enqueue("tenants.mail", [], queue: "tenants-setting")
    assert_equal "acme", tenant_of(job)
    assert_raises(OJS::NotFoundError) { globex.get_job(job.id) }
  end

  def test_a_row_of_an_outbox_names_the_tenant
    tenant = lambda do |client, **options|
      row = OJS::Outbox.new(client, database: "sqlite").stage({ type: "tenants.mail", args: [], **options }).params
      JSON.parse(row.find { |value| value.to_s.start_with?("{") }).dig("meta", "tenant_id")
    end
    assert_equal "acme", tenant.call(client_of("memory:", tenant: "acme"))
    assert_equal "globex", tenant.call(memory, tenant: "globex")
    assert_equal "initech", tenant.call(memory.of_tenant("initech"))
    OJS::RequestContext.bound("tenant_id" => "hooli") do
      assert_equal %w[hooli acme], [tenant.call(memory), tenant.call(memory, tenant: "acme")]
    end
  end

  # A transport of the program's own: remembers the latest body.
  class Recorder
    attr_reader :body

    def request(_method, _path, body = nil)
      @body = body
      [201, { job: { id: "test-id" } }]
    end
  end

  def test_a_transport_of_the_programs_own_gets_the_tenant_in_the_metadata
    recorder = Recorder.new
    client = OJS::Client.new(transport: recorder, tenant: "acme")
    client.enqueue("tenants.mail")
    assert_equal [{ "tenant_id" => "acme" }, nil], [recorder.body["meta"], recorder.body.dig("options", "tenant")]
    client.of_tenant("globex").enqueue("tenants.mail", [], priority: 3)
    assert_equal [{ "tenant_id" => "globex" }, { "priority" => 3 }], recorder.body.values_at("meta", "options")
  end

  def test_a_fake_knows_tenants
    OJS::Testing.fake do |fake|
      client = client_of("memory:", tenant: "acme")
      worker = OJS::Worker.new(client)
      worker.register("tenants.parent") { |ctx| ctx.client.enqueue("tenants.child", [], queue: "later") && nil }
      client.enqueue("tenants.parent")
      assert_equal 1, fake.drain(worker)
      assert_equal 1, fake.enqueued("tenants.child", meta: { tenant_id: "acme" }).size
    end
  end
end

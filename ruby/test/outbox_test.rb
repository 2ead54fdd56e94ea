# frozen_string_literal: true

require_relative "support"

# What needs no database: rows, request context, settings. The adapters' tests have the databases.
class OutboxTest < Minitest::Test
  include Support

  def test_a_row_for_each_database
    client = memory.use("tenant") { |request, nxt| nxt.call(request.tap { request.meta = { tenant_id: "acme" } }) }
    { "sqlite" => "?", "mysql" => "?", "postgresql" => "$1" }.each do |database, place|
      row = OJS::Outbox.new(client, database: database).stage(["email.welcome", [1], { queue: "mail" }])
      assert_includes row.sql, place
      assert_equal ["email.welcome", "[1]", row.job.id], [row.params[0], row.params[1], row.params.last]
      assert_equal ["mail", "acme"], [row.job.queue, row.job.meta["tenant_id"]]
    end
    row = OJS::Outbox.new(client, database: "postgresql", in_engine: true, style: "format").stage("a")
    assert_match(/INTO ojs_jobs.*%s/m, row.sql)
  end

  def test_what_is_wrong_is_said_before_a_row_is_written
    outbox = OJS::Outbox.new(memory.use("drop") { nil }, database: "sqlite")
    assert_raises(OJS::NotEnqueuedError) { outbox.stage("a") }
    outbox = OJS::Outbox.new(memory, database: "sqlite", table: "no table")
    assert_match(/no table/, assert_raises(OJS::ValidationError) { outbox.stage("a") }.message)
    assert_raises(OJS::ValidationError) { OJS::Outbox.new(memory, database: "oracle") }
    assert_raises(OJS::ValidationError) { OJS::Relay.new(memory, "oracle://x") }
    assert_raises(OJS::OutboxError) { OJS.enqueue_after_commit("a") }
  end

  def test_the_context_of_a_request
    headers = { "Accept-Language" => "de-CH,de;q=0.9", "X-Request-ID" => "r-1", "X-OJS-Tenant" => "acme" }
    meta = OJS::RequestContext.of_request(headers.method(:[]), user_id: 7)
    assert_equal({ "ojs.context.user_id" => "7", "ojs.context.request_id" => "r-1", "tenant_id" => "acme", "ojs.context.locale" => "de-CH" }, meta)
    client = memory
    asked = 0
    OJS::RequestContext.bound(-> { (asked += 1) && meta }) do
      assert_equal meta, client.enqueue("a").meta
      assert_equal "own", client.enqueue_batch([{ type: "a", meta: { tenant_id: "own" } }]).first.meta["tenant_id"]
      Thread.new { assert_empty OJS::RequestContext.current }.join
    end
    assert_equal 2, asked
    assert_empty client.enqueue("a").meta
  end
end

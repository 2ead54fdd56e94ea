# frozen_string_literal: true

require_relative "support"

# Requests through Rack, as the specification's example has them.
class RequestTest < ActionDispatch::IntegrationTest
  include ShopTest
  self.use_transactional_tests = false

  def test_fa_001_the_example_of_the_specification
    post "/users", params: { user: { email: "ada@example.com" } }
    assert_response :success
    job = sent(1).first
    assert_equal ["email.welcome", [User.last.id]], [job.type, job.args]
  end

  def test_fa_002_an_exception_in_the_controller
    post "/failing", params: { user: { email: "ada@example.com" } }
    assert_response :internal_server_error
    assert_equal 0, User.count
    post "/users", params: { user: { email: "bob@example.com" } }
    settle
    assert_equal [[User.last.id]], sent(1).map(&:args)
  end

  def test_fa_r001_the_request_goes_into_the_metadata_and_on_with_the_jobs_of_its_jobs
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    headers = { "X-Account" => "7", "X-Request-ID" => "r-1", "traceparent" => trace, "X-OJS-Tenant" => "acme", "Accept-Language" => "de-CH,de;q=0.9" }
    expected = { "ojs.context.user_id" => "7", "ojs.context.request_id" => "r-1", "traceparent" => trace, "tenant_id" => "acme",
                 "ojs.context.locale" => "de-CH" }
    post "/users", params: { user: { email: "ada@example.com" } }, headers: headers
    work
    assert_equal ["email ada@example.com 7"], notes(1)
    assert_equal expected, sent(1, queue: "follow-up").first.meta.slice(*expected.keys)
    assert_empty OJS::RequestContext.current
  end

  def test_settings_say_who_and_for_whom
    Rails.application.config.ojs.user_id = ->(request) { request.headers["X-User"] }
    Rails.application.config.ojs.tenant_id = ->(request) { request.host }
    post "/users", params: { user: { email: "ada@example.com" } }, headers: { "X-User" => "u-1" }
    assert_equal %w[u-1 www.example.com], sent(1).first.meta.values_at("ojs.context.user_id", "tenant_id")
  ensure
    Rails.application.config.ojs.clear
  end
end

# Scenario 49: Rails' own test case, whose transaction never commits.
class TransactionalTest < ActionDispatch::IntegrationTest
  include Support
  self.use_transactional_tests = true

  def test_jobs_kept_by_ojs_testing_are_there_after_the_commit_and_can_be_run
    File.write(ENV.fetch("NOTES"), "")
    worker = OJS::RailsAdapter::Commands.worker
    OJS::Testing.fake do |jobs|
      post "/users", params: { user: { email: "ada@example.com" } }
      post "/failing", params: { user: { email: "bob@example.com" } }
      User.transaction do
        User.transaction(requires_new: true) { OJS.enqueue_after_commit("nested") }
        User.transaction(requires_new: true) { OJS.enqueue_after_commit("lost").then { raise ActiveRecord::Rollback } }
        jobs.refute_enqueued("nested")
      end
      OJS.enqueue_after_commit("at.once")
      assert_equal %w[email.welcome nested at.once], jobs.enqueued.map { |request| request["type"] }
      jobs.drain(worker, raise_errors: false)
      assert_equal ["email ada@example.com "], File.readlines(ENV.fetch("NOTES"), chomp: true)
    end
    assert_empty OJS.staged
  end

  2.times do |number|
    define_method("test_staged_jobs_are_seen_without_a_commit_and_gone_with_the_test_#{number}") do
      OJS.configure { |config| config.url = "http://127.0.0.1:1" }
      assert_empty OJS.staged
      post "/users", params: { user: { email: "ada@example.com" } }
      assert_response :success
      assert_equal [["email.welcome", [User.last.id]]], OJS.staged.map { |job| job.values_at(:type, :args) }
      OJS.enqueue_after_commit("a", [1])
      assert_equal %w[email.welcome a], OJS.staged.map { |job| job[:type] }
      refute OJS.adapter.relay.running?, "nothing will ever be committed here"
    end
  end
end

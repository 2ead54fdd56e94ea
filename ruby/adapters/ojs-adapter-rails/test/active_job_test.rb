# frozen_string_literal: true

require_relative "support"

# Active Job's jobs in transactions, and in the application's worker.
class ActiveJobTest < ActiveSupport::TestCase
  include ShopTest
  self.use_transactional_tests = false

  def test_fa_001_and_fa_002_a_job_joins_the_transaction
    kept = nil
    User.transaction do
      kept = WelcomeJob.perform_later(User.create!(email: "ada@example.com"))
      User.transaction(requires_new: true) do
        WelcomeJob.perform_later(User.create!(email: "bob@example.com"))
        raise ActiveRecord::Rollback
      end
      assert_raises(OJS::NotFoundError) { client.get_job(kept.provider_job_id) }
    end
    User.transaction do
      WelcomeJob.perform_later(User.create!(email: "eve@example.com"))
      raise ActiveRecord::Rollback
    end
    settle
    job = sent(1, queue: "low-priority").first
    assert_equal [kept.provider_job_id, "active_job.welcome_job", kept.job_id], [job.id, job.type, job.args[0]["job_id"]]
  end

  # What Active Job calls enqueued is a row of the transaction: a job that cannot be one says so there, and none is deferred.
  def test_scenario_50_what_is_called_enqueued_is_enqueued
    assert_raises(OJS::ValidationError) do
      User.transaction do
        User.create!(email: "ada@example.com")
        WelcomeJob.set(priority: 5000).perform_later(nil)
      end
    end
    assert_equal 0, User.count
    adapter = ActiveJob::Base.queue_adapter
    kept = Array.new(3) { WelcomeJob.new(nil) }
    User.transaction do
      assert_equal 3, adapter.enqueue_all(kept)
      assert_equal kept.map(&:provider_job_id), OJS.staged.map { |job| job[:id] }
    end
    User.transaction do
      adapter.enqueue_all([WelcomeJob.new(nil)])
      raise ActiveRecord::Rollback
    end
    settle
    assert_equal kept.map(&:provider_job_id), sent(3, queue: "low-priority").map(&:id)
    at_once = Array.new(2) { ServerJob.new.tap { |job| job.scheduled_at = Time.now.to_f + 60 } }
    adapter.enqueue_all(at_once)
    assert_equal(%w[scheduled scheduled], at_once.map { |job| client.get_job(job.provider_job_id).state })
  end

  # Rails 8.2 sets it for all jobs, and keeps them in memory until the commit.
  def test_scenario_50_rails_does_not_defer_what_is_a_row
    refute ActiveJob::Base.queue_adapter.enqueue_after_transaction_commit?
    refute WelcomeJob.enqueue_after_transaction_commit
    own = Class.new(ApplicationJob) { def self.enqueue_after_transaction_commit = true }
    assert own.enqueue_after_transaction_commit
    own.queue_adapter = :inline
    assert_raises(NoMethodError, "Rails 6.1 has no such setting") { Class.new(ApplicationJob) { self.queue_adapter = :inline }.enqueue_after_transaction_commit }
  end

  def test_queue_priority_and_wait
    WelcomeJob.set(queue: :urgent, priority: 5).perform_later(nil)
    assert_equal 5, sent(1, queue: "urgent").first.priority
    job = WelcomeJob.set(wait: 1.hour).perform_later(nil)
    stored = client.get_job(job.provider_job_id)
    assert_equal "scheduled", stored.state
    assert_in_delta 3600, Time.iso8601(stored.scheduled_at) - Time.now, 60
  end

  def test_arguments_are_serialised_by_active_job
    user = User.create!(email: "ada@example.com")
    at = Time.utc(2026, 1, 2, 3, 4, 5)
    WelcomeJob.perform_later(user, at: at)
    work
    assert_equal ["welcome #{user.id} ada@example.com 1 #{at.iso8601} own"], notes(1)
  end

  def test_retries_and_discards_are_active_jobs
    work
    busy = ShakyJob.perform_later("Busy")
    assert_equal ["shaky Busy 1", "shaky Busy 2", "shaky Busy 3"], notes(3)
    assert_equal "completed", client.wait_for_result(busy.provider_job_id, timeout: PATIENCE).state
    gone = ShakyJob.perform_later("Gone")
    assert_equal "completed", client.wait_for_result(gone.provider_job_id, timeout: PATIENCE).state
    broken = ShakyJob.perform_later("Broken")
    result = client.wait_for_result(broken.provider_job_id, timeout: PATIENCE)
    assert_equal "discarded", result.state
    assert_equal ["active_job", "ShakyJob::Broken"], [result.error["code"], result.error.dig("details", "error_class")]
    assert_equal 5, notes(5).size
    assert_equal [broken.provider_job_id], client.dead_letters.map(&:id)
  end

  def test_a_class_may_leave_retries_to_the_server_and_not_join
    work
    job = nil
    User.transaction do
      job = ServerJob.perform_later
      assert client.get_job(job.provider_job_id)
    end
    assert_equal "discarded", client.wait_for_result(job.provider_job_id, timeout: PATIENCE).state
    assert_equal %w[server server], notes(2)
  end

  def test_a_class_that_is_loaded_later
    work
    Object.const_set(:LateJob, Class.new(ApplicationJob) { def perform = note("late") })
    LateJob.perform_later
    assert_equal ["late"], notes(1)
    unknown = OJS.enqueue("no.such")
    assert_equal "no_handler", client.wait_for_result(unknown.id, timeout: PATIENCE).error["code"]
  ensure
    Object.send(:remove_const, :LateJob)
  end

  def test_a_handler_of_config_ojs_worker
    user = User.create!(email: "ada@example.com")
    OJS.enqueue("email.welcome", [user.id], meta: { "ojs.context.user_id" => "7" })
    work
    assert_equal ["email ada@example.com 7"], notes(1)
  end

  def test_connections_go_back_to_the_pool_after_each_job
    work
    user = User.create!(email: "ada@example.com")
    8.times { WelcomeJob.perform_later(user) }
    notes(8)
    eventually("idle connections") { ActiveRecord::Base.connection_pool.stat[:busy] <= 1 }
  end
end

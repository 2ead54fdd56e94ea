# frozen_string_literal: true

require_relative "support"

# FA-001, FA-002, FA-003, with real transactions.
module TransactionsTest
  include Databases

  def test_fa_001_nothing_is_sent_before_the_outermost_commit
    job = nil
    User.transaction do
      user = User.create!(email: "ada@example.com")
      job = OJS.enqueue_after_commit("email.welcome", [user.id], { queue: "mail", priority: 7 }, meta: { k: "50 % 'x' $1 ?" })
      assert_raises(OJS::NotFoundError) { client.get_job(job.id) }
      refute relay.running?
    end
    found = sent(1, queue: "mail").first
    assert_equal [job.id, "email.welcome", [User.last.id], 7, "50 % 'x' $1 ?"], [found.id, found.type, found.args, found.priority, found.meta["k"]]
    assert_equal [job.queue, job.args], [found.queue, found.args]
  end

  def test_fa_002_a_rollback_takes_its_jobs_along
    assert_raises(ZeroDivisionError) { User.transaction { after_commit([1]).then { 1 / 0 } } }
    User.transaction { after_commit([2]).then { raise ActiveRecord::Rollback } }
    User.transaction { after_commit([3]) }
    assert_equal [[3]], sent(1).map(&:args)
  end

  def test_scenario_48_savepoints
    User.transaction do
      after_commit([1])
      User.transaction(requires_new: true) { after_commit([2]).then { raise ActiveRecord::Rollback } }
      User.transaction(requires_new: true) { after_commit([3]) }
      User.transaction { after_commit([4]) }
      refute relay.running?, "a savepoint that is released does not wake the relay"
    end
    assert_equal [[1], [3], [4]], sent(3).map(&:args)
    User.transaction do
      User.transaction(requires_new: true) { after_commit([5]) }
      raise ActiveRecord::Rollback
    end
    settle
    assert_empty OJS.staged
    assert_equal 0, User.connection.select_value("SELECT count(*) FROM ojs_outbox WHERE status <> 'sent'")
  end

  def test_a_job_in_a_rolled_back_savepoint_does_not_silence_its_transaction
    User.transaction do
      User.transaction(requires_new: true) { after_commit([1]).then { raise ActiveRecord::Rollback } }
      after_commit([2])
    end
    assert relay.running?
    assert_equal [[2]], sent(1).map(&:args)
  end

  def test_outside_of_a_transaction_it_is_sent_at_once
    assert_equal "available", client.get_job(after_commit([1]).id).state
    assert_equal %w[available available], OJS.enqueue_bulk([["a", [2]], { type: "a", args: [3] }]).map(&:state)
  end

  def test_bulk_and_order
    User.transaction { OJS.enqueue_bulk_after_commit((1..250).map { |number| ["a", [number]] }) }
    assert_equal (1..250).map { |number| [number] }, sent(250).map(&:args)
  end

  def test_two_databases
    error = assert_raises(OJS::OutboxError) { User.transaction { Animal.transaction { after_commit([0]) } } }
    assert_match(/primary.* and |and.*primary|on:/, error.message)
    assert_equal "ambiguous_transaction", error.code
    User.transaction do
      Animal.transaction do
        after_commit([1], on: User)
        after_commit([2], on: Databases::Other)
        raise ActiveRecord::Rollback
      end
    end
    Animal.transaction { after_commit([3]) }
    User.transaction { assert_equal "available", after_commit([4], on: Animal).state }
    assert_equal [[1], [3], [4]], sent(3).map(&:args).sort
  end

  def test_a_read_only_transaction_says_what_to_do
    error = assert_raises(OJS::OutboxError) do
      ActiveRecord::Base.while_preventing_writes { User.transaction { after_commit([1]) } }
    end
    assert_match(/read-only.*OJS\.enqueue/m, error.message)
    return if sqlite?

    error = assert_raises(OJS::OutboxError) do
      # MySQL wants to know before the transaction begins.
      User.connection.execute("SET TRANSACTION READ ONLY") if mysql?
      User.transaction do
        User.connection.execute("SET TRANSACTION READ ONLY") unless mysql?
        after_commit([1])
      end
    end
    assert_equal "read_only_transaction", error.code
  end

  def test_roles_of_one_database
    ActiveRecord::Base.connected_to(role: :reading) { ActiveRecord::Base.establish_connection(database.settings(app)) }
    User.transaction do
      # A read elsewhere is not a transaction elsewhere.
      ActiveRecord::Base.connected_to(role: :reading) { User.count }
      after_commit([1])
      error = assert_raises(OJS::OutboxError) { ActiveRecord::Base.connected_to(role: :reading) { after_commit([2]) } }
      assert_equal "read_only_transaction", error.code
    end
    error = assert_raises(OJS::OutboxError) { ActiveRecord::Base.connected_to(role: :reading) { User.transaction { after_commit([3]) } } }
    assert_equal "read_only_transaction", error.code
    assert_equal [[1]], sent(1).map(&:args)
  ensure
    ActiveRecord::Base.connected_to(role: :reading) { ActiveRecord::Base.remove_connection }
  end

  def test_a_connection_that_goes_back_in_mid_transaction_takes_its_jobs_along
    Thread.new do
      User.connection.begin_transaction
      User.create!(email: "lost@example.com")
      after_commit([1])
    end.join
    # What Active Record does about a thread that died: PostgreSQL's connection is reset; SQLite's has to be closed.
    sqlite? ? User.connection_pool.disconnect! : User.connection_pool.reap
    User.transaction { after_commit([2]) }
    assert_equal [[2]], sent(1).map(&:args)
    assert_equal 0, User.count
  end

  def test_a_database_without_the_table_says_what_to_do
    User.connection.drop_ojs_outbox
    error = assert_raises(OJS::OutboxError) { User.transaction { after_commit([1]) } }
    assert_match(/there is no table ojs_outbox: .*create_ojs_outbox.*ojs relay migrate/, error.message)
    assert_equal "no_outbox_table", error.code
  end

  def test_a_wrong_job_is_refused_in_the_transaction
    assert_raises(OJS::ValidationError) do
      User.transaction do
        User.create!(email: "ada@example.com")
        after_commit([Object.new])
      end
    end
    assert_equal 0, User.count
    configure
    OJS.client.use("drop") { |_request, _nxt| nil }
    assert_raises(OJS::NotEnqueuedError) { User.transaction { after_commit([1]) } }
  end

  def test_another_table_and_no_relay_in_this_process
    configure do |config|
      config.outbox_table = "jobs_to_send"
      config.relay = false
    end
    User.connection.create_ojs_outbox("jobs_to_send")
    User.transaction { after_commit([1]) }
    refute relay.running?
    assert_equal [{ type: "a", args: [1], options: {} }], OJS.staged.map { |job| job.except(:id) }
    settle
    assert_equal [[1]], sent(1).map(&:args)
  ensure
    User.connection.drop_ojs_outbox("jobs_to_send")
  end

  def test_a_transaction_that_the_application_opens_by_hand
    User.connection.begin_transaction(joinable: false)
    after_commit([1])
    User.connection.commit_transaction
    assert_equal [[1]], sent(1).map(&:args)
  end
end
Databases.each(TransactionsTest)

# frozen_string_literal: true

require_relative "support"

# Migrations, dumped schemas, and what cannot work.
module DatabaseTest
  include Databases

  def test_a_dumped_schema_makes_the_outbox_again
    schema = StringIO.new
    ActiveRecord::SchemaDumper.dump(User.connection, schema)
    assert_includes schema.string, 'create_ojs_outbox "ojs_outbox"'
    refute_includes schema.string, "ojs_outbox_relay"
    User.connection.drop_ojs_outbox
    User.connection.drop_table(:users)
    User.connection.drop_table(:animals)
    eval(schema.string) # rubocop:disable Security/Eval -- as db:schema:load does
    User.reset_column_information
    User.transaction { after_commit([User.create!(email: "a@example.com").id]) }
    assert_equal [[User.last.id]], sent(1).map(&:args)
  end

  def test_rows_by_plain_sql_in_the_columns_of_the_specification
    User.transaction do
      User.connection.execute(%q(INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('email.welcome', '[1]', '{"queue":"mail"}')))
    end
    OJS.start
    assert_equal [["email.welcome", [1]]], sent(1, queue: "mail").map { |job| [job.type, job.args] }
  end

  # PostgreSQL's: the others know no path of schemas.
  def test_a_schema_of_its_own
    return unless database == Databases::Postgresql

    User.connection.execute("CREATE SCHEMA IF NOT EXISTS tenant")
    ActiveRecord::Base.establish_connection(database.settings(app).merge(schema_search_path: "tenant, pg_catalog"))
    User.connection.create_ojs_outbox
    User.transaction { after_commit([1]) }
    assert_equal 1, User.connection.select_value("SELECT count(*) FROM tenant.ojs_outbox")
    assert_equal [[1]], sent(1).map(&:args)
  end

  def test_without_prepared_statements
    ActiveRecord::Base.establish_connection(database.settings(app).merge(prepared_statements: false))
    User.transaction { after_commit(["it's", "$1", "%s", "\\", "ü"]) }
    assert_equal [["it's", "$1", "%s", "\\", "ü"]], sent(1).map(&:args)
  end
end
Databases.each(DatabaseTest)

# "Framework Adapters", section 6.1: the server keeps its jobs in the application's own database.
module SameDatabaseTest
  include Databases

  def setup
    super
    @shared = OJS::Server.new(OJS::ActiveRecordAdapter::Databases.address(ActiveRecord::Base.connection_pool))
    configure { |config| config.url = @shared.url }
    # There is nothing to fall back to.
    ActiveRecord::Base.connection.drop_ojs_outbox
  end

  # One for each test.
  def app
    "shared_#{name[/\w{20}\z/]}"
  end

  def teardown
    super
    @shared.stop
  end

  def test_a_commit_makes_the_job_and_a_rollback_none
    job = nil
    User.transaction do
      job = OJS.enqueue_after_commit("email.welcome", [2**60, "50 % :x"], { queue: "email", priority: 7 }, meta: { k: "v" })
      after_commit([1], on: User)
      User.transaction(requires_new: true) { after_commit([2]).then { raise ActiveRecord::Rollback } }
      assert_equal [job.id, "a"], OJS.staged.then { |first, second| [first[:id], second[:type]] }
    end
    User.transaction { after_commit([3]).then { raise ActiveRecord::Rollback } }
    done = Queue.new
    worker = worker_of(@shared.url, queues: %w[email default])
    worker.register("*") { |ctx| done << [ctx.type, ctx.args.to_a, ctx.job.priority] }
    worker.start
    assert_equal [["a", [1], 0], ["email.welcome", [2**60, "50 % :x"], 7]], [pop(done), pop(done)].sort
    refute relay.running?, "there is nothing to send"
    assert_equal 2, User.connection.select_value("SELECT count(*) FROM ojs_jobs")
  end

  def test_another_server_is_not_taken_for_this_one
    User.connection.create_ojs_outbox
    configure { |config| config.url = server.url }
    User.transaction { after_commit([1]) }
    assert_equal [[1]], sent(1).map(&:args)
    configure do |config|
      config.url = @shared.url
      config.same_database = false
    end
    User.transaction { after_commit([2]) }
    assert_equal "ojs_outbox", OJS.adapter.outbox_of(User.connection).table
    refute OJS.adapter.outbox_of(User.connection).in_engine?
  end
end
Databases.each(SameDatabaseTest, only: [Databases::Postgresql])

# Settings that are wrong say so before anything is lost.
class SettingsTest < Minitest::Test
  include Databases
  include Databases::Each

  def database
    Databases::Sqlite
  end

  def test_no_adapter_or_an_unknown_one
    configure { |config| config.adapter = nil }
    assert_match(/:active_record/, assert_raises(OJS::OutboxError) { after_commit([1]) }.message)
    configure { |config| config.adapter = :no_such }
    assert_match(/ojs-adapter-nosuch/, assert_raises(OJS::OutboxError) { after_commit([1]) }.message)
  end

  def test_two_copies_of_sqlite_on_one_file_are_refused
    configure { |config| config.url = "sqlite:#{database.settings("app")[:database]}" }
    assert_match(/two copies/, assert_raises(OJS::OutboxError) { OJS.start }.message)
    assert_match(/two copies/, assert_raises(OJS::OutboxError) { User.transaction { after_commit([1]) } }.message)
  end

  def test_a_database_in_memory_has_no_relay
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    assert_match(/in memory/, assert_raises(OJS::OutboxError) { OJS.start }.message)
  end

  def test_a_database_without_an_outbox
    assert_match(/SQLServer.*PostgreSQL, MySQL and SQLite/, assert_raises(OJS::OutboxError) { OJS::ActiveRecordAdapter::Databases.dialect("SQLServer") }.message)
  end

  def test_an_adapter_of_ones_own
    mine = Object.new
    def mine.enqueue_after_commit(request, on:) = [request.type, request.args, on]
    def mine.close(_grace) = nil
    configure { |config| config.adapter = mine }
    assert_equal ["a", [1], :here], after_commit([1], on: :here)
  end

  def test_a_relay_wants_a_database
    assert_raises(OJS::ValidationError) { OJS::Relay.new(client) }
    assert_raises(OJS::ValidationError) { OJS::Relay.new(client, "sqlite:x.db") }
    assert_raises(OJS::ValidationError) { OJS::Outbox.new(client, database: "oracle") }
  end
end

# frozen_string_literal: true

require_relative "support"

# FA-003, FA-R001, FA-R002, FA-R003, forks and threads.
module RelayTest
  include Databases

  # Counts the batches on their way to the real server.
  class Counting
    attr_reader :batches

    def initialize(client)
      @client = client
      @batches = []
    end

    def request(method, path, body = nil)
      @batches << body["jobs"].size if path == "/jobs/batch"
      [200, @client.request(method, path, body)]
    end
  end

  def test_fa_003_a_server_that_is_away_loses_nothing
    logger, log = OJS.logger, StringIO.new
    OJS.logger = Logger.new(log)
    configure { |config| config.url = "http://127.0.0.1:1" }
    5.times { |number| User.transaction { after_commit([number]) } }
    assert_equal 5, OJS.staged.size
    eventually("the relay finds no server") { relay.status["held_up"].to_i.positive? }
    # A process without a worker says it, too.
    eventually("the log says so") { log.string =~ /WARN.*the outbox is held up.*cannot connect to/ }
    configure
    OJS.start
    assert_equal (0..4).map { |number| [number] }, sent(5).map(&:args)
  ensure
    OJS.logger = logger
  end

  # As "Framework Adapters", section 5.2, prints it.
  PRINTED = <<~JSON
    {
      "adapter": {
        "ojs_url": "http://localhost:8080",
        "backend_type": "external",
        "outbox": {
          "enabled": true,
          "table_name": "ojs_outbox",
          "poll_interval": "PT1S",
          "batch_size": 100
        }
      }
    }
  JSON

  def test_the_configuration_of_section_5_2_as_printed
    OJS.configure(JSON.parse(PRINTED))
    assert_equal ["http://localhost:8080", :active_record, "ojs_outbox", false],
                 [OJS.configuration.url, OJS.configuration.adapter, OJS.configuration.outbox_table, OJS.configuration.same_database]
    OJS.configure(JSON.parse(PRINTED, symbolize_names: true)) { |config| config.url = server.url }
    User.transaction { after_commit([1]) }
    assert_equal [[1]], sent(1).map(&:args)
    assert_raises(OJS::ValidationError) { OJS.configure({ backend_type: "redis" }) }
    assert_raises(OJS::ValidationError) { OJS.configure({ adapter: { outbox: { enabled: false } } }) }
    error = assert_raises(OJS::ValidationError) { OJS.configure({ outbox: { table_nam: "x" } }) }
    known = "There are enabled, table_name"
    assert_includes error.message, "unknown setting 'table_nam'; did you mean 'table_name'? #{known}"
  ensure
    OJS.configure { |config| config.same_database = config.outbox_poll_interval = config.outbox_batch_size = nil }
  end

  def test_fa_003_the_process_dies_right_after_the_commit
    pid = fork do
      ActiveRecord::Base.establish_connection(database.settings("app"))
      configure { |config| config.relay = false }
      User.transaction { after_commit([1]) }
      Process.kill("KILL", Process.pid)
    end
    assert_equal Signal.list["KILL"], finish(pid).termsig
    OJS.start
    assert_equal [[1]], sent(1).map(&:args)
  end

  def test_a_forked_process_has_a_relay_of_its_own
    User.transaction { after_commit([1]) }
    sent(1)
    assert relay.running?
    input, output = IO.pipe
    pid = fork do
      output.write relay.running?
      User.transaction { after_commit([2]) }
      output.write relay.running?
      output.close
      # The end of the process flushes what is committed: no more is said.
    end
    output.close
    assert_equal "falsetrue", input.read
    assert finish(pid).success?
    assert_equal [[2]], sent(1).map(&:args)
    User.transaction { after_commit([3]) }
    assert_equal [[3]], sent(1).map(&:args)
  end

  def test_fa_r001_the_context_goes_into_the_metadata_and_on_from_handler_to_job
    done = Queue.new
    worker = worker_of(client)
    worker.use("context", OJS::RequestContext::RESTORE)
    worker.register("outer") { User.transaction { OJS.enqueue_after_commit("inner") } }
    worker.register("inner") { |ctx| done << ctx.meta }
    OJS::RequestContext.bound("tenant_id" => "acme", "ojs.context.user_id" => "7", "other" => "x") do
      User.transaction { OJS.enqueue_after_commit("outer", [], meta: { tenant_id: "own" }) }
    end
    worker.start
    assert_equal({ "tenant_id" => "own", "ojs.context.user_id" => "7" }, pop(done))
    assert_equal({}, OJS.enqueue("plain", [], queue: "q").meta)
  end

  def test_fa_r002_rows_go_in_batches
    counting = Counting.new(client)
    configure do |config|
      config.transport = counting
      config.relay = false
      config.outbox_batch_size = 100
    end
    User.transaction { OJS.enqueue_bulk_after_commit([["a"]] * 250) }
    relay.start
    sent(250)
    assert_equal [100, 100, 50], counting.batches
  ensure
    configure { |config| config.outbox_batch_size = nil }
  end

  SECRET = "4111-1111-1111-1111"

  def test_ei_013_ei_012_the_outbox_and_the_server_hold_ciphertext
    encrypted do
      User.transaction do
        OJS.enqueue_after_commit("card.charge", [SECRET], priority: 7)
        row = OJS.staged.first
        refute_includes row[:args].to_json, SECRET
        assert_includes row.to_json, "ojs_encoded"
        assert_equal 7, row[:options].transform_keys(&:to_s)["priority"], "what the relay looks at is in the clear"
      end
      refute_includes sent(1).first.args.to_json, SECRET
    end
  end

  def test_ei_001_the_unique_key_is_that_of_the_plain_arguments
    encrypted do
      unique = { keys: %w[type args], on_conflict: "ignore" }
      User.transaction { [SECRET, SECRET, "another"].each { |secret| OJS.enqueue_after_commit("card.charge", [secret], unique: unique) } }
      OJS.close(Support::PATIENCE)
      assert_equal 2, sent(2).size
    end
  end

  def encrypted
    configure { |config| config.encryption_keys = { "k-1" => "k" * 32 } }
    yield
  ensure
    configure { |config| config.encryption_keys = nil }
  end

  def test_fa_r003_closing_flushes_and_ends_the_thread
    OJS.start
    User.transaction { after_commit([1]) }
    OJS.close(Support::PATIENCE)
    eventually("the thread has ended") { !Thread.list.map(&:name).include?("ojs-outbox") }
    configure
    assert_equal 1, sent(1).size
  end

  def test_many_threads_write_while_the_relay_works
    OJS.start
    # Each reads before it writes: SQLite refuses that when somebody else, the relay too, has written in between.
    threads = Array.new(4) do |thread|
      Thread.new do
        25.times do |number|
          User.transaction do
            User.count
            User.create!(email: "#{thread}.#{number}@example.com")
            after_commit([thread, number])
          end
        end
      ensure
        ActiveRecord::Base.clear_active_connections!
      end
    end
    threads.each(&:join)
    by_thread = sent(100).map(&:args).group_by(&:first)
    assert_equal [(0..24).to_a] * 4, by_thread.values.map { |jobs| jobs.map(&:last) }
  end
end
Databases.each(RelayTest)

# frozen_string_literal: true

require_relative "support"

# SQLite counts the locks of a file once per process, and a forked child inherits the count.
class ForkedRelayTest < Minitest::Test
  include Databases
  include Databases::Each

  def database
    Databases::Sqlite
  end

  def test_a_fork_waits_until_the_relay_has_no_transaction_open
    relay = OJS::Relay.new(client) { slow_database }
    configure { |config| config.relay = false }
    User.transaction { after_commit([1]) }
    @marking = Queue.new
    @forker = Thread.current
    relay.start
    pop(@marking)
    input, output = IO.pipe
    @forking = true
    pid = fork do
      output.close
      exit!(free?(input))
    end
    @forked = true
    # What is locked now is locked by a transaction that the child believes to be open.
    relay.stop(PATIENCE)
    output.write("the relay has ended")
    output.close
    assert finish(pid).success?, "the child finds the file locked by a transaction of its parent's relay"
    assert_equal [[1]], sent(1).map(&:args)
  end

  def test_a_thread_forks_inside_of_its_transaction_while_the_relay_waits_for_that
    waits = Queue.new
    file = file_of_the_application
    relay = OJS::Relay.new(client) do
      SQLite3::Database.new(file).tap do |opened|
        opened.define_singleton_method(:busy_handler) { |&block| super() { |tries| waits << tries && block.call(tries) } }
      end
    end
    configure { |config| config.relay = false }
    User.transaction { after_commit([1]) }
    status = User.transaction do
      User.create!(email: "a@example.com")
      relay.start
      pop(waits)
      finish(fork { exit!(true) })
    end
    assert status.success?
    relay.stop(PATIENCE)
    assert_equal [[1]], sent(1).map(&:args)
  end

  private

  def file_of_the_application
    database.settings("app")[:database]
  end

  # A database whose transaction that marks rows as sent stays open until this process has forked, or waits to.
  def slow_database
    test = self
    SQLite3::Database.new(file_of_the_application).tap do |opened|
      opened.define_singleton_method(:execute) do |sql, *rest|
        super(sql, *rest).tap { test.stay if sql.include?("status = 'sent'") && sql.start_with?("UPDATE") }
      end
    end
  end

  public

  # Called by the relay's thread, in its transaction.
  def stay
    @marking << true
    Thread.pass until @forked || (@forking && @forker.status == "sleep")
  end

  # Whether a new connection may write at once, when the parent says that it has ended its own.
  def free?(input)
    input.read
    SQLite3::Database.new(file_of_the_application).transaction(:immediate) { true }
  rescue SQLite3::BusyException
    false
  end
end

# frozen_string_literal: true

module OJS
  # Runs the relay's statements on the application's own driver, in a thread with a connection of its own.
  class DatabaseHost # :nodoc:
    # How long a statement waits for the application's transaction to end, in seconds.
    BUSY = 10
    attr_reader :mailbox

    def initialize(open)
      @open = open
      @mailbox = Native::HostTransport.new
      @thread = Thread.new { serve }
      @thread.name = "ojs-outbox"
      @thread.report_on_exception = false
    end

    def close
      @mailbox.close
      @thread.join(BUSY)
    end

    # Closes the connection, which the next statement opens again. One that waits for another writer stays: SQLite has its mutex locked.
    def disconnect
      return if @answering

      begin
        @database&.close
      rescue StandardError
        nil # the application's statements are not closed: the file stays open, as it was
      end
      @database = nil
    end

    private

    def serve
      Forks.register(self)
      loop do
        ticket, _method, _path, body = @mailbox.pull(60_000)
        Forks.working { answer(ticket, body) } if ticket
      end
    rescue ClosedError, ForkedError
      nil
    ensure
      Forks.working { disconnect }
      Forks.forget(self)
    end

    def answer(ticket, body)
      @answering = true
      @database ||= opened
      @mailbox.reply(ticket, 200, Wire.dump(perform(Wire.load(body))))
    rescue StandardError => e
      @mailbox.reply(ticket, 500, "#{e.class}: #{e.message}")
    ensure
      @answering = false
    end

    # The driver's own way of waiting keeps Ruby's lock: the application's thread, which is to end its transaction, would wait too.
    def opened
      database = @open.call
      ends = nil
      database.busy_handler do |tries|
        ends = now + BUSY if tries.zero?
        pause
        now < ends
      end
      database
    end

    # Waits for another writer. Until the transaction has begun, SQLite holds no lock of the file meanwhile, so the process may fork: the
    # thread that forks may be the one whose transaction is waited for.
    def pause
      @begun ? sleep(0.002) : Forks.resting { sleep(0.002) }
    end

    # All statements in one transaction; the rows of each. A mere look takes no write lock.
    def perform(statements)
      mode = statements.all? { |one| one["sql"].start_with?("SELECT") } ? :deferred : :immediate
      answers = nil
      @database.transaction(mode) do
        @begun = true
        answers = statements.map { |one| @database.execute(one["sql"], one["params"]).map(&:to_a) }
      end
      answers
    ensure
      @begun = false
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
  private_constant :DatabaseHost

  # Keeps relays off their SQLite files while this process forks. SQLite counts the locks of a file once per process, and a child inherits
  # the count, not the thread: a transaction that a relay had open at the moment of the fork would lock the file for the child for ever.
  # An idle relay is disconnected too: SQLite does not bear a file that is open across a fork.
  module Forks # :nodoc:
    @lock = Mutex.new
    @changed = ConditionVariable.new
    @hosts = {}.compare_by_identity
    @working = {}.compare_by_identity # by thread
    @forking = 0

    class << self
      def register(host)
        @lock.synchronize { @hosts[host] = true }
      end

      def forget(host)
        @lock.synchronize { @hosts.delete(host) }
      end

      # Runs the block while no thread of this process forks.
      def working
        enter
        begin
          yield
        ensure
          leave
        end
      end

      # Runs the block, inside of +working+, at a moment at which the process may fork.
      def resting
        leave
        begin
          yield
        ensure
          enter
        end
      end

      # Runs the block, which forks, while no host works.
      def forking(&fork)
        # A signal handler may take no lock: Ruby runs it in the middle of anything.
        held = begin
          @lock.lock
        rescue ThreadError
          nil
        end
        held ? quiet(&fork) : yield
      end

      private

      # With the lock held, which is given back: the child has the thread that holds it.
      def quiet
        parent = Process.pid
        @forking += 1
        @changed.wait(@lock) until @working.keys.all?(Thread.current)
        @hosts.each_key(&:disconnect)
        yield
      ensure
        # The threads of the parent's hosts are not in the child.
        [@hosts, @working].each(&:clear) if Process.pid != parent
        @forking -= 1
        @changed.broadcast
        @lock.unlock
      end

      def enter
        @lock.synchronize do
          @changed.wait(@lock) while @forking.positive?
          @working[Thread.current] = true
        end
      end

      def leave
        @lock.synchronize do
          @working.delete(Thread.current)
          @changed.broadcast
        end
      end
    end

    # What Ruby calls for fork and IO.popen("-"), and Process.daemon, which forks by itself.
    module Hook # :nodoc:
      def _fork
        Forks.forking { super }
      end

      def daemon(...)
        Forks.forking { super }
      end
    end
    Process.singleton_class.prepend(Hook)
  end
  private_constant :Forks
end

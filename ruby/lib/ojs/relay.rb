# frozen_string_literal: true

module OJS
  # Sends what is in an outbox, in the order of its rows. Any number may run, in any number of processes: one sends at a time.
  #
  # +source+ is the URL of a PostgreSQL, MySQL or MariaDB database; or a block opens a connection of the application's own SQLite driver
  # (SQLite3::Database), which a thread of the relay uses alone. In this process an SQLite file is read by that driver only, never by the
  # core's: two copies of SQLite in one process that open the same file destroy it.
  #
  #   relay = OJS::Relay.new(client) { SQLite3::Database.new("app.db") }.start
  #   relay.wake                          # after a commit; else it looks once a second
  #   relay.stop                          # sends what is committed, and ends
  #
  # A process made by fork starts its own relay with the first wake or start.
  class Relay
    # Lengths of time are seconds or text such as "1s": +poll_interval+ (1 s), +retention+ of sent rows (24 h). +batch_size+: most rows in
    # one request (1,000). +migrate+ makes the tables first.
    def initialize(client, source = nil, table: Outbox::TABLE, poll_interval: nil, batch_size: nil, retention: nil, migrate: false, &open)
      @client = client
      @open = open
      if source && !source.match?(%r{\A(postgres(ql)?|mysql|mariadb)://})
        raise ValidationError, "a relay in this process reads PostgreSQL and MySQL by URL, and SQLite through a block that opens it"
      end
      raise ValidationError, "a relay needs the URL of a PostgreSQL or MySQL database, or a block that opens an SQLite one" if source.nil? == open.nil?

      @settings = { table: table.to_s, database: source ? "postgresql" : "sqlite", url: source,
                    poll_interval: Durations.seconds("poll_interval", poll_interval), batch_size: batch_size,
                    retention: Durations.seconds("retention", retention), migrate: migrate || nil }.compact
      @lock = Mutex.new
      @pid = nil
      # What a fork took along: never closed, for that would drop the locks of the file.
      @inherited = []
    end

    # Starts it, unless it runs in this process. What is committed is flushed when the process ends.
    def start
      @lock.synchronize do
        return self if running?

        @inherited << [@native, @host, @transport]
        @host = @open && DatabaseHost.new(@open)
        @transport = @client.transport.connection ? nil : TransportThreads.new(@client.transport.custom)
        connection = @transport ? @transport.connection : @client.transport.connection
        @native = Native::Relay.new(connection, Wire.dump(@settings), @host&.mailbox)
        Logs.start
        @pid = Process.pid
        Relay.live(self)
      end
      self
    end

    # Says that a transaction has committed. Cheap; a relay that is not woken looks by itself.
    def wake
      start unless running?
      @native&.wake
    end

    # Whether it runs in this process.
    def running?
      @pid == Process.pid
    end

    # What it has done so far: "leading", "sent", "deduplicated", "refused", "parked", "held_up", "error". Empty while it does not run.
    def status
      text = @native.status if running?
      text ? Wire.load(text) : {}
    end

    # Sends what is committed, for at most +grace+, and ends. What is left stays in the table. May be started again.
    def stop(grace = 5.0)
      @lock.synchronize do
        return unless running?

        @pid = nil
        Relay.over(self)
        begin
          @native.stop(Durations.seconds("grace", grace))
        ensure
          Logs.flush
          @host&.close
          @transport&.close
          @native = @host = @transport = nil
        end
      end
    end

    def inspect
      "#<OJS::Relay table=#{@settings[:table].inspect} running=#{running?}>"
    end

    @live = {}.compare_by_identity

    class << self
      # Flushes those that run when the process ends; a forked child's are its own.
      def live(relay) # :nodoc:
        @at_exit ||= at_exit { @live.keys.each(&:stop) }
        @live[relay] = true
      end

      def over(relay) # :nodoc:
        @live.delete(relay)
      end
    end
  end
end

# frozen_string_literal: true

module OJS
  # Whether a client's server keeps its jobs in the application's PostgreSQL: asked once, remembered. Then a transaction inserts the
  # job itself, and there is neither an outbox nor a relay (specification "Framework Adapters", section 6.1).
  class SameDatabase
    # Tells the nodes after a commit; without it they look ten times a second.
    NOTIFY = Native.outbox_notify
    # Seconds until the server is asked again when it did not answer, and until a table is looked for again that was not there.
    PATIENCE = 30.0
    private_constant :PATIENCE

    # +wanted+: true or false decide, nil finds out.
    def initialize(client, wanted = nil)
      @client = client
      @known = wanted
      @lock = Mutex.new
      @ask_at = 0.0
    end

    # The block runs a statement on the application's connection, in a savepoint, and returns the first value of the first row.
    def shared?(&query)
      return @known unless @known.nil?

      @lock.synchronize do
        if @known.nil? && now >= @ask_at
          @known = find(query)
          @ask_at = now + PATIENCE
        end
        @known || false
      end
    end

    private

    # True, false, or nil: not known yet.
    def find(query)
      ours = query.call(Native.outbox_identity)
      return if ours.nil?

      @client.health.dig("backend", "id") == ours.to_s
    rescue Error => e
      OJS.logger.info { "jobs go through the outbox for now: the server did not say where it keeps them (#{e.message})" }
      nil
    rescue StandardError => e
      OJS.logger.info { "jobs go through the outbox: the database does not say which one it is (#{e.message})" }
      false
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

# frozen_string_literal: true

module OJS
  # Whether a client's server keeps its jobs in the application's PostgreSQL. Then a transaction inserts the job
  # itself, and there is neither an outbox nor a relay (specification "Framework Adapters", section 6.1). The core
  # says what to ask, and decides.
  class SameDatabase
    # Notifies the nodes after a commit; without it they look ten times a second.
    NOTIFY = Native.outbox_notify

    # +wanted+: true or false decide, nil finds out.
    def initialize(client, wanted = nil)
      @client = client
      @wanted = wanted
      @lasting = nil
      @lock = Mutex.new
    end

    # The block runs a statement on the application's connection, in a savepoint, and returns the first value of the first row.
    def shared?(&query)
      return @lasting unless @lasting.nil?

      @lock.synchronize do
        found = step("begin", value: @wanted)
        found = ask(found, query) until found["next"] == "enqueue"
        OJS.logger.info { found["reason"] } if found["reason"]
        @lasting = found["shared"] if found["lasting"]
        found["shared"]
      end
    end

    private

    def ask(found, query)
      event = found["next"]
      step(event, value: event == "database" ? query.call(found["sql"]) : @client.health)
    rescue StandardError => e
      step(event, error: e.message)
    end

    def step(event, **what)
      found = Wire.load(Native.same_database_step(Wire.dump({ state: @state, event: event, **what })))
      @state = found["state"]
      found
    end
  end
end

# frozen_string_literal: true

module OJS
  class Event < Record # :nodoc:
    def inspect
      "#<OJS::Event type=#{type.inspect} subject=#{subject.inspect} time=#{time.inspect}>"
    end
  end

  # The place of a reader in the log of events. The core says what it asks, after which pause, and which errors end it.
  class EventReader
    def initialize(filter)
      say(begin: filter)
    end

    def path
      @step["path"]
    end

    # How long the server may hold back its answer, in seconds.
    def wait
      @step["wait_ms"] / 1000.0
    end

    # Seconds before the next request.
    def pause
      @step["pause_ms"] / 1000.0
    end

    # So many events have been read, up to this cursor.
    def answered(count, cursor)
      say(answered: { state: @step["state"], events: count, cursor: cursor })
    end

    # No answer, or a refusal. Raises the error when waiting does not help.
    def failed(error)
      about = { status: error.status, code: error.code, retryable: error.retryable? }
      about[:connection] = error.is_a?(ConnectionError)
      raise error unless say(failed: { state: @step["state"], error: about })
    end

    private

    def say(said)
      @step = Wire.load(Native.follow_events(Wire.dump(said)))
    end
  end
  private_constant :EventReader
end

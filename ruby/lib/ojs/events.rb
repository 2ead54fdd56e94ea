# frozen_string_literal: true

module OJS
  class Event < Record # :nodoc:
    def inspect
      "#<OJS::Event type=#{type.inspect} subject=#{subject.inspect} time=#{time.inspect}>"
    end
  end

  # How far a program has read the log of events. No I/O: the client asks it what to send, and tells it what came of it.
  class EventReader
    # How long the server may hold back an answer, in seconds: below the time-outs of common proxies.
    WAIT = 20.0
    # Between two looks at a server that does not hold back.
    PAUSE = 0.5
    BACKOFF = (0.1..10.0)

    attr_reader :cursor

    def initialize(after)
      @cursor = after || "latest"
      @heard = false
      @backoff = BACKOFF.begin
    end

    # How long the next answer may be held back. The first says where the log ends, at once.
    def wait
      @heard ? WAIT : 0.0
    end

    # An answer has come; returns how long to pause before the next request.
    def fed(count, cursor, took)
      idle = @heard && count.zero? && took < WAIT / 2
      @heard = true
      @backoff = BACKOFF.begin
      @cursor = cursor
      idle ? PAUSE : 0.0
    end

    # No answer, or a refusal: returns how long to pause before asking again, or raises what waiting does not help.
    def failed(error)
      passing = error.is_a?(ConnectionError) || [408, 429].include?(error.status) || error.status >= 500
      raise error unless @heard && passing

      pause = @backoff * rand(0.5..1.0)
      @backoff = [@backoff * 2, BACKOFF.end].min
      pause
    end
  end
  private_constant :EventReader
end

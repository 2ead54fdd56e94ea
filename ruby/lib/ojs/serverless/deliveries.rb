# frozen_string_literal: true

module OJS
  module Serverless
    # The answers to push deliveries of late, bounded in number, size and time: a delivery that arrives twice gets its
    # first answer, and runs once.
    class Deliveries
      MOST = 4096
      # Bytes of all answers that are kept.
      BYTES = 8 * 1024 * 1024
      Known = Struct.new(:since, :answer, :over)
      private_constant :BYTES, :Known

      # +seconds+ is how long a signature counts.
      def initialize(seconds, most = MOST)
        @seconds = seconds
        @most = most
        @known = {}
        @bytes = 0
        @lock = Monitor.new
        @answered = @lock.new_cond
      end

      # The answer that the block gives the first time, for every time.
      def once(key, now)
        mine = first = nil
        @lock.synchronize do
          first = @known[key]
          next if first

          forget(now)
          @known[key] = mine = Known.new(now)
        end
        return wait(first) unless mine

        begin
          mine.answer = yield
        ensure
          @lock.synchronize { settle(key, mine) }
        end
      end

      private

      def wait(first)
        @lock.synchronize { @answered.wait_until { first.over } }
        return first.answer if first.answer

        raise Error.new("the first run of this delivery was given up", code: "abandoned", retryable: true)
      end

      def settle(key, mine)
        mine.over = true
        @answered.broadcast
        return unless @known[key].equal?(mine) # It was forgotten while it ran.

        # A run that was given up may be tried again.
        mine.answer ? @bytes += size(mine) : @known.delete(key)
      end

      # Drops what is too old to have a valid signature, and the oldest of what is too much.
      def forget(now)
        while (key, oldest = @known.first)
          return if now - oldest.since <= @seconds && @known.size < @most && @bytes <= BYTES

          @known.delete(key)
          @bytes -= size(oldest) if oldest.answer && oldest.over
        end
      end

      def size(known)
        known.answer.body.bytesize
      end
    end
    private_constant :Deliveries
  end
end

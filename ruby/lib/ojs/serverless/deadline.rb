# frozen_string_literal: true

module OJS
  module Serverless
    # The time by which a run must have ended: a platform's limit less a margin for the answer. Of a short limit at most
    # half is the margin: a function with three seconds works one and a half.
    class Deadline
      # Without +seconds+ there is no limit.
      def initialize(seconds, margin)
        @end = seconds && (now + seconds - [margin, seconds / 2.0].min)
      end

      # That of an invocation of AWS Lambda; where the context does not say, +otherwise+ is the time in seconds.
      def self.of_lambda(context, margin, otherwise = nil)
        says = context.respond_to?(:get_remaining_time_in_millis)
        new(says ? context.get_remaining_time_in_millis / 1000.0 : otherwise, margin)
      end

      # Seconds that are left, +most+ at most; nil without a limit.
      def left(most = nil)
        return most unless @end

        [[@end - now, 0.0].max, most].compact.min
      end

      # Whether there is no time left.
      def passed?
        !@end.nil? && @end <= now
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end

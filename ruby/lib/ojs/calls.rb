# frozen_string_literal: true

require "erb"
require "uri"

module OJS
  # What the calls of a client are made of: paths, members of requests, and what is read of an answer.
  module Calls
    private

    # A path: each name is one segment of it, whatever it holds.
    def path(kind, *parts)
      parts.each do |part|
        next if (part.is_a?(String) || part.is_a?(Symbol)) && !part.empty?

        shown = part.nil? || part.is_a?(String) || part.is_a?(Numeric) ? part.inspect : "a #{part.class}"
        raise ValidationError, "a path under /#{kind} needs an id or a name as text, such as job.id; got #{shown}"
      end
      [kind, *parts].map { |part| "/#{ERB::Util.url_encode(part.to_s)}" }.join
    end

    # The path with those parameters that are not nil.
    def query(path, **parameters)
      given = parameters.compact
      given.empty? ? path : "#{path}?#{URI.encode_www_form(given)}"
    end

    def atomicity(atomic)
      atomic ? "atomic" : "partial"
    end

    # A point in time, if there is one.
    def time(name, value)
      value && Durations.time(name, value)
    end

    # A length of time, if there is one.
    def length(name, value)
      value && Durations.text(name, value)
    end

    # A point in time, or a length of time before now.
    def age(name, value)
      value.is_a?(Numeric) ? Durations.text(name, value) : time(name, value)
    end

    def member(answer, name)
      return answer[name] if answer.is_a?(Hash) && answer.key?(name)

      raise Error.new("the answer has no '#{name}'", code: "unexpected_answer")
    end

    # A member that is a list.
    def list(answer, name)
      found = member(answer, name) || []
      return found if found.is_a?(Array)

      raise Error.new("'#{name}' of the answer is not a list", code: "unexpected_answer")
    end

    def job(answer)
      Job.answered(member(answer, "job"))
    end

    def jobs(answer)
      list(answer, "jobs").map { |one| Job.answered(one) }
    end

    # Cron entries, under the names that servers have for them.
    def crons(answer)
      answer["crons"] || answer["cron_jobs"] || answer["cron"] || []
    end

    def cron(answer)
      answer.fetch("cron", answer)
    end
  end
  private_constant :Calls
end

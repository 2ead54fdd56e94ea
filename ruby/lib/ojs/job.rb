# frozen_string_literal: true

module OJS
  # The arguments of a job: an Array. When there is one argument and it is a Hash, its members can be read from here as well, by
  # String or Symbol: <tt>args["to"]</tt> is <tt>args[0]["to"]</tt>.
  class Args < Array
    def [](key, *rest)
      key.is_a?(String) || key.is_a?(Symbol) ? named(key) { nil } : super
    end

    def fetch(key, *default, &block)
      return super unless key.is_a?(String) || key.is_a?(Symbol)

      named(key) { block ? yield(key) : default.fetch(0) { raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key) } }
    end

    def dig(key, *rest)
      value = self[key]
      rest.empty? || value.nil? ? value : value.dig(*rest)
    end

    # Whether the single Hash has this member.
    def key?(key)
      named(key) { return false }
      true
    end

    private

    def named(key, &missing)
      only = first if size == 1
      only.is_a?(Hash) ? only.fetch(key.to_s, &missing) : yield
    end
  end

  # The JSON of a job that comes to a handler is read when the first member is asked for.
  class Job < Record
    # The job of a JSON text.
    def self.from_json(text)
      allocate.tap { |job| job.instance_variable_set(:@text, text) }
    end

    # The job of an answer. Raises Error when there is none in it: what has no id is no job.
    def self.answered(data) # :nodoc:
      raise Error.new("the answer has no job", code: "unexpected_answer") unless data.is_a?(Hash) && data["id"].is_a?(String)

      new(data)
    end

    def to_h
      @data ||= Wire.load(@text)
    end

    # Never the arguments: they may be secret, and logs are not.
    def inspect
      "#<OJS::Job id=#{id.inspect} type=#{type.inspect} queue=#{queue.inspect} state=#{state.inspect}>"
    end
  end

  # A page of Client#list_jobs: an Enumerable of its jobs.
  class JobPage < Record
    include Enumerable
    # The jobs of this page.
    attr_reader :jobs

    def initialize(data)
      super
      unless data["items"].is_a?(Array) && data["pagination"].is_a?(Hash)
        raise Error.new("the answer has no list of jobs", code: "unexpected_answer")
      end

      @jobs = data["items"].map { |job| Job.answered(job) }
    end

    def each(&block)
      jobs.each(&block)
    end

    # All members, and not Enumerable's.
    def to_h
      @data
    end

    # Jobs that the filter finds, on all pages.
    def total
      dig("pagination", "total")
    end

    # Which page this is, from 1.
    def page
      dig("pagination", "page")
    end

    # Whether there is a next page.
    def more?
      dig("pagination", "has_more") == true
    end

    def inspect
      "#<OJS::JobPage page=#{page} jobs=#{jobs.size} total=#{total}>"
    end
  end

  class JobResult < Record # :nodoc:
    def inspect
      "#<OJS::JobResult job_id=#{job_id.inspect} state=#{state.inspect}>"
    end
  end
end

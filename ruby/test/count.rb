# frozen_string_literal: true

# What scripts/check.py reads.
class Count < Minitest::StatisticsReporter
  def report
    super
    io.puts "#{count - failures - errors} passed, #{failures + errors} failed"
  end
end

# Minitest's own way of adding a reporter.
module Minitest
  extensions << "count"

  def self.plugin_count_init(options)
    reporter << Count.new(options[:io], options)
  end
end

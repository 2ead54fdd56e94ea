# frozen_string_literal: true

# Every test of the gem, the shared vectors, and the Ruby examples of the seeds. Ends with "N passed, N failed".
require_relative "support"

files = [*Dir[File.join(__dir__, "*_test.rb")], *Dir[File.join(Support::ROOT, "tests/seeds/*_test.rb")]]
files.sort.each { |file| require file }

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

exit Minitest.run(ARGV)

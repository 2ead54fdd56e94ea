# frozen_string_literal: true

# Every test of the gem, the shared vectors, and the Ruby examples of the seeds. Ends with "N passed, N failed".
require_relative "support"
require_relative "count"

files = [*Dir[File.join(__dir__, "*_test.rb")], *Dir[File.join(Support::ROOT, "tests/specification/*_test.rb")]]
files.sort.each { |file| require file }

exit Minitest.run(ARGV)

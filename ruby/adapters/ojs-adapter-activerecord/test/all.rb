# frozen_string_literal: true

# Every test of the adapter, on SQLite and PostgreSQL: postgres-fixture -- ruby all.rb. Ends with "N passed, N failed".
require_relative "support"
Dir[File.join(__dir__, "*_test.rb")].sort.each { |file| require file }
require "count"
exit Minitest.run(ARGV)

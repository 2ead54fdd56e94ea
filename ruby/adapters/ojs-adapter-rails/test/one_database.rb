# frozen_string_literal: true

# The tests on one database: one_database.rb sqlite|postgresql [options of Minitest]
require_relative "support"
# The generator knows nothing of databases.
files = Dir[File.join(__dir__, "*_test.rb")].reject { |file| file.end_with?("generator_test.rb") && Shop::DATABASE != "sqlite" }
files.sort.each { |file| require file }
require "count"

# frozen_string_literal: true

# Every test of the adapter in a real Rails application, on SQLite and then on PostgreSQL, each in a process of its own:
# postgres-fixture -- ruby all.rb. Each ends with "N passed, N failed".
passed = %w[sqlite postgresql].map do |database|
  puts "--- #{database}"
  $stdout.flush
  system(RbConfig.ruby, File.join(__dir__, "one_database.rb"), database, *ARGV)
end
exit passed.all?

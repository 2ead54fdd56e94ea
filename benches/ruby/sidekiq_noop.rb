# frozen_string_literal: true

# The rival: `ruby sidekiq_noop.rb enqueue` fills the queue, `sidekiq -r` of this file empties it, prints its rate and ends.
require "sidekiq"
require_relative "tally"

Sidekiq.logger.level = Logger::ERROR
JOBS = Integer(ENV.fetch("BENCH_JOBS"))

# Does what the handler of bench.rb does.
class Noop
  include Sidekiq::Worker
  sidekiq_options retry: false

  TALLY = Tally.new(JOBS)

  def perform(number, _text)
    TALLY.ran(number)
  end
end

if ARGV.first == "enqueue"
  (0...JOBS).each_slice(1000) { |numbers| Sidekiq::Client.push_bulk("class" => Noop, "args" => numbers.map { |n| [n, ENV.fetch("BENCH_TEXT")] }) }
else
  Thread.new do
    Noop::TALLY.wait
    puts "rate #{Noop::TALLY.rate}"
    $stdout.flush
    Process.kill("TERM", Process.pid)
  end
end

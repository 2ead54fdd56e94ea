# frozen_string_literal: true

# The rival: `ruby sidekiq_noop.rb enqueue` fills the queue, `sidekiq -r` of this file empties it, prints one line of JSON and ends.
require "sidekiq"
require_relative "tally"

Sidekiq.logger.level = Logger::ERROR
JOBS = Integer(ENV.fetch("BENCH_JOBS"))

# Does what the handler of noop.rb does.
class Noop
  include Sidekiq::Worker
  sidekiq_options retry: false

  TALLY = Tally.new(JOBS)

  def perform(number, _text)
    TALLY.ran(number)
  end
end

if ARGV.first == "enqueue"
  text = "x" * Integer(ENV.fetch("BENCH_PAYLOAD"))
  (0...JOBS).each_slice(1000) { |numbers| Sidekiq::Client.push_bulk("class" => Noop, "args" => numbers.map { |n| [n, text] }) }
else
  # From the first job: its start takes seconds, and is not what is measured.
  cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  Thread.new do
    Noop::TALLY.wait
    puts Noop::TALLY.line(Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu)
    $stdout.flush
    Process.kill("TERM", Process.pid)
  end
end

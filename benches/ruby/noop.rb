# frozen_string_literal: true

# Handlers that do nothing, in one Ruby process. Prints one line of JSON; languages.py says what it is compared with.
#
#     ruby -Iruby/lib benches/ruby/noop.rb --url sqlite:/tmp/jobs.db [--jobs 20000] [--payload 150] [--concurrency 10]
require "ojs"
require "optparse"
require_relative "tally"

OPTIONS = { jobs: 20_000, payload: 150, concurrency: 10 }
URL = [nil]
OptionParser.new do |on|
  on.on("--url URL") { |value| URL[0] = value }
  OPTIONS.each_key { |name| on.on("--#{name} N", Integer) { |value| OPTIONS[name] = value } }
end.parse!
JOBS = OPTIONS[:jobs]

client = OJS::Client.new(URL[0])
text = "x" * OPTIONS[:payload]
(0...JOBS).each_slice(1000) { |numbers| client.enqueue_batch(numbers.map { |number| { type: "bench.noop", args: [number, text] } }) }
tally = Tally.new(JOBS)
worker = OJS::Worker.new(client, concurrency: OPTIONS[:concurrency])
worker.register("bench.noop") do |ctx|
  tally.ran(ctx.args[0])
  nil
end
cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
tally.begin
worker.start
tally.wait
cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
worker.stop
completed = client.queue_stats("default")["completed"]
raise "#{completed} completed" unless completed == JOBS

client.close
puts tally.line(cpu)

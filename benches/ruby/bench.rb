# frozen_string_literal: true

# Handlers that do nothing, in one Ruby process: this gem embedded (durable and in memory) and over HTTP, and Sidekiq on Redis without
# persistence, all in one run, in turns.
#
#     scripts/setup.sh ruby ruby-sidekiq redis-server && scripts/ruby.sh
#     ruby -Iruby/lib benches/ruby/bench.rb [--jobs 20000] [--runs 3] [--payload 150] [--threads 10]
#
# The jobs are enqueued before the clock starts; it runs from the first handler to the last. Every run ends with an exact check: each
# number once. A run that fails it prints no figure. Medians; compare the ratios, not the figures.
require "ojs"
require "optparse"
require "socket"
require "tmpdir"
require_relative "tally"

OPTIONS = { jobs: 20_000, runs: 3, payload: 150, threads: 10 }
OptionParser.new do |on|
  OPTIONS.each_key { |name| on.on("--#{name} N", Integer) { |value| OPTIONS[name] = value } }
end.parse!
TEXT = "x" * OPTIONS[:payload]

def batches
  (0...OPTIONS[:jobs]).each_slice(1000) { |numbers| yield numbers }
end

def ojs(url)
  client = OJS::Client.new(url)
  batches { |numbers| client.enqueue_batch(numbers.map { |number| { type: "bench.noop", args: [number, TEXT] } }) }
  tally = Tally.new(OPTIONS[:jobs])
  worker = OJS::Worker.new(client, concurrency: OPTIONS[:threads])
  worker.register("bench.noop") do |ctx|
    tally.ran(ctx.args[0])
    nil
  end
  worker.start
  tally.wait
  worker.stop
  completed = client.queue_stats("default")["completed"]
  raise "#{completed} completed" unless completed == OPTIONS[:jobs]

  client.close
  tally.rate
end

def embedded
  Dir.mktmpdir { |dir| ojs("sqlite:#{dir}/jobs.db") }
end

def http
  Dir.mktmpdir do |dir|
    binary = ENV.fetch("OJS_BIN", "target/release/ojs")
    program(binary, "server", "--store", "sqlite:#{dir}/jobs.db", "--listen", "127.0.0.1:0", "--log-level", "error") do |output|
      ojs(output.gets[/http\S+/])
    end
  end
end

def sidekiq
  Dir.mktmpdir do |dir|
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    redis = ["redis-server", "--port", port.to_s, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir]
    program(*redis) do |output|
      output.each_line.find { |line| line.include?("Ready to accept connections") }
      environment = { "REDIS_URL" => "redis://127.0.0.1:#{port}/0", "BENCH_JOBS" => OPTIONS[:jobs].to_s, "BENCH_TEXT" => TEXT,
                      "RUBYOPT" => "-W0" }
      rival = File.join(__dir__, "sidekiq_noop.rb")
      system(environment, RbConfig.ruby, rival, "enqueue", exception: true)
      command = ["sidekiq", "-r", rival, "-c", OPTIONS[:threads].to_s, "-q", "default"]
      program(*command, environment: environment, gently: true) { |lines| Float(lines.each_line.find { |line| line.start_with?("rate ") }[5..]) }
    end
  end
end

# Runs a program while the block reads its output.
def program(*command, environment: {}, gently: false)
  input, output = IO.pipe
  pid = Process.spawn(environment, *command, out: output, err: File::NULL)
  output.close
  result = yield input
  Process.kill("TERM", pid) unless gently
  result
ensure
  Process.kill("TERM", pid) if result.nil?
  Process.wait(pid)
end

SYSTEMS = { "ojs, embedded, memory" => -> { ojs("memory:bench-#{rand(1 << 40)}") }, "ojs, embedded, SQLite (durable)" => method(:embedded),
            "ojs, over HTTP, SQLite (durable)" => method(:http), "Sidekiq, Redis (not durable)" => method(:sidekiq) }.freeze

rates = SYSTEMS.transform_values { [] }
OPTIONS[:runs].times { SYSTEMS.each { |name, run| rates[name] << run.call } }
medians = rates.transform_values { |values| values.sort[values.size / 2] }
rival = medians.values.last
puts "#{OPTIONS[:jobs]} jobs, #{OPTIONS[:threads]} threads, one process, Ruby #{RUBY_VERSION}, median of #{OPTIONS[:runs]}"
medians.each do |name, rate|
  puts format("  %-34s %9d jobs/s  %5.2f x Sidekiq  (%d to %d)", name, rate, rate / rival, *rates[name].minmax)
end

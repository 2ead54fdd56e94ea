# frozen_string_literal: true

# The Ruby side of languages.py: a worker for the queue `ruby`, until SIGTERM.
require "ojs"

client = OJS::Client.new # OJS_URL
worker = OJS::Worker.new(client, queues: "ruby", concurrency: 8)

# Gives back what it got.
worker.register("ruby.echo", &:args)

# Sends jobs to another language.
worker.register("ruby.send") do |ctx|
  count, type, queue, args = ctx.args
  client.enqueue_batch(Array.new(count) { { type: type, args: args, queue: queue } }).size
end

# Reads the result of the step before.
worker.register("ruby.reverse") { |ctx| { words: ctx.parent_results.last["words"].reverse } }

Thread.new do
  sleep 0.01 until worker.id
  puts "ready"
  $stdout.flush
end
worker.run
client.close

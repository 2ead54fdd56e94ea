# frozen_string_literal: true

# Active Record: a transaction with one record, without and with OJS.enqueue_after_commit (scripts/bench_adapters.py runs it).
#
#     active_record.rb DATABASE_URL WARM WITHOUT WITH
require "json"
require "ojs-adapter-activerecord"

# No server listens there: staging a job in an outbox sends no request.
SERVER = "http://127.0.0.1:9"

# Milliseconds of transactions without and with a job, in turns.
class Turns
  def initialize(warm, without, with)
    @warm = warm
    @wanted = { false => without, true => with }
    @spent = { false => [], true => [] }
  end

  # Yields whether the transaction is to enqueue a job.
  def each
    @warm.times { [false, true].each { |staged| yield staged } }
    @wanted.values.max.times do |number|
      @wanted.each do |staged, wanted|
        next if number >= wanted

        started = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
        yield staged
        @spent[staged] << (Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) - started)
      end
    end
  end

  # Prints the line of JSON; +rows+ is how many the outbox holds: no figure without its job.
  def report(adapter, rows)
    expected = @warm + @wanted[true]
    abort "#{adapter}: #{rows} rows in the outbox, #{expected} jobs enqueued" if rows != expected
    puts JSON.generate(adapter: adapter, without_ms: median(@spent[false]), with_ms: median(@spent[true]), transactions: @wanted[true])
  end

  private

  def median(values)
    return 0 if values.empty?

    sorted = values.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2
  end
end

url, *numbers = ARGV
turns = Turns.new(*numbers.map { |number| Integer(number) })
ActiveRecord::Base.establish_connection(url)
ActiveRecord::Migration.verbose = false
ActiveRecord::Base.connection.create_ojs_outbox
ActiveRecord::Base.connection.create_table(:users) { |t| t.string :email }
# The application's.
class User < ActiveRecord::Base; end

OJS.configure do |config|
  config.url = SERVER
  config.adapter = :active_record
  config.relay = false
  config.same_database = false
end

turns.each do |staged|
  User.transaction do
    user = User.create!(email: "ada@example.com")
    OJS.enqueue_after_commit("email.welcome", [user.id]) if staged
  end
end

turns.report("Active Record", ActiveRecord::Base.connection.select_value("SELECT count(*) FROM ojs_outbox"))
OJS.close

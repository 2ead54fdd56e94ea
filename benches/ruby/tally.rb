# frozen_string_literal: true

require "json"

# Which jobs have run, and how long it took. The same for all that are compared.
class Tally
  def initialize(jobs)
    @jobs = jobs
    @seen = "\0" * jobs
    @ran = 0
    @lock = Mutex.new
    @done = ConditionVariable.new
  end

  # The worker starts now. Without it the clock starts with the first job.
  def begin
    @began = now
  end

  def ran(number)
    @lock.synchronize do
      @began ||= now
      @seen.setbyte(number, @seen.getbyte(number) + 1)
      next if (@ran += 1) < @jobs

      @ended = now
      @done.signal
    end
  end

  def wait
    @lock.synchronize { @done.wait(@lock, 300) until @ended }
    raise "not each job once" unless @seen.each_byte.all?(1)
  end

  # What languages.py reads.
  def line(cpu)
    JSON.generate({ jobs_per_second: @jobs / (@ended - @began), cpu_us: cpu * 1e6 / @jobs })
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

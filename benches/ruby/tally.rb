# frozen_string_literal: true

# Which jobs have run, and how long it took from the first to the last. The same for all that are compared.
class Tally
  def initialize(jobs)
    @jobs = jobs
    @seen = "\0" * jobs
    @ran = 0
    @lock = Mutex.new
    @done = ConditionVariable.new
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

  # Jobs in a second.
  def rate
    @jobs / (@ended - @began)
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# frozen_string_literal: true

require_relative "support"
require "net/http"

# FA-R003: server, worker and relay as processes, from start to end.
class LifecycleTest < ActiveSupport::TestCase
  include ShopTest
  self.use_transactional_tests = false

  def setup
    super
    ENV["OJS_URL"] = @server.url
  end

  def teardown
    running = @running.to_a
    running.each { |pid| Process.kill("KILL", pid) && Process.wait(pid) }
    super
  end

  def start(*command, **options)
    Shop.rails(*command, **options).tap { |pid| (@running ||= []) << pid }
  end

  def stop(pid, signal)
    Process.kill(signal, pid)
    @running.delete(pid)
    finish(pid)
  end

  # A process that ends flushes for five seconds: more than enough, but for a machine that does something else.
  PATIENT = 'require "ojs"; OJS::Relay.prepend(Module.new { def stop(grace = 60.0) = super })'

  def left_behind
    User.connection.execute("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('left.behind', '[1]')")
  end

  # Not one that the system hands out: what was free a moment ago may be another program's when Puma binds it.
  def free_port
    (20_000...30_000).to_a.shuffle.find do |port|
      TCPServer.open("127.0.0.1", port) { true }
    rescue Errno::EADDRINUSE
      false
    end
  end

  # Puma loads the application and then forks: each process has a relay, and one of them sends.
  def test_fa_003_fa_r003_the_relay_starts_with_the_server_and_is_flushed_at_its_end
    left_behind
    File.write("#{Shop::PLACE}/config/puma.rb", "#{PATIENT}\nworkers 2\nthreads 2, 2\npreload_app!\n")
    port = free_port
    pid = start("server", "-u", "puma", "-b", "127.0.0.1", "-p", port.to_s, out: File::NULL, err: File::NULL)
    assert_equal ["left.behind"], sent(1).map(&:type), "before any request"
    uri = URI("http://127.0.0.1:#{port}/users")
    10.times do
      answer = eventually("the server answers") do
        Net::HTTP.post_form(uri, "user[email]" => "ada@example.com")
      rescue SystemCallError
        nil
      end
      assert_equal "204", answer.code
    end
    stop(pid, "TERM")
    assert_equal User.order(:id).map { |user| ["email.welcome", [user.id]] }, sent(10).map { |job| [job.type, job.args] }
  end

  def test_the_worker_command
    input, output = IO.pipe
    pid = start("ojs:worker", out: output, err: output)
    assert_equal "working default with 10 threads\n", Timeout.timeout(PATIENCE) { input.gets }
    user = User.create!(email: "ada@example.com")
    OJS.enqueue("email.welcome", [user.id])
    assert_equal ["email ada@example.com "], notes(1)
    status = stop(pid, "TERM")
    output.close
    assert status.success?, input.read
  end

  def test_in_development_the_worker_writes_its_log_on_the_terminal
    input, output = IO.pipe
    ENV["RAILS_ENV"] = "development"
    pid = start("ojs:worker", out: output, err: output)
    OJS.enqueue("no.such")
    Timeout.timeout(PATIENCE) { nil until input.gets.include?("job failed for good type=no.such") }
    drain = Thread.new { input.read }
    status = stop(pid, "INT")
    output.close
    assert status.success?, drain.value
  ensure
    ENV["RAILS_ENV"] = "test"
  end

  def test_the_relay_command
    OJS.configure { |config| config.relay = false }
    User.transaction { OJS.enqueue_after_commit("a", [1]) }
    refute OJS.adapter.relay.running?
    ENV["ONCE"] = "1"
    Shop.run("ojs:relay")
    ENV.delete("ONCE")
    assert_equal [[1]], sent(1).map(&:args)
    input, output = IO.pipe
    pid = start("ojs:relay", out: output)
    assert_match(/relaying ojs_outbox/, input.gets)
    User.transaction { OJS.enqueue_after_commit("a", [2]) }
    assert_equal [[2]], sent(1).map(&:args)
    assert stop(pid, "TERM").success?
  ensure
    ENV.delete("ONCE")
    OJS.configure { |config| config.relay = true }
  end

  def test_the_migration_goes_down_and_up_again
    migrations = User.connection.migration_context
    migrations.rollback
    refute User.connection.table_exists?("ojs_outbox")
    migrations.migrate
    left_behind
    assert_equal 1, OJS.staged.size
  end
end

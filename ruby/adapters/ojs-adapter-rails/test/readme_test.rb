# frozen_string_literal: true

require_relative "support"

# The README's further blocks, as printed; the first one is what the application's own files are (generator_test.rb).
module Printed
  BLOCKS = File.read("#{ADAPTERS}/ojs-adapter-rails/README.md").scan(/^```ruby\n(.*?)^```$/m).flatten

  def self.block(word)
    found = BLOCKS.select { |block| block.include?(word) }
    found.size == 1 ? found.first : raise("#{found.size} blocks of the README say #{word}")
  end
end

# Over HTTP, to a server and back to a worker.
class PrintedTest < ActionDispatch::IntegrationTest
  include ShopTest
  self.use_transactional_tests = false

  # What the application has by that name: Action Mailer's interface.
  class Mail
    def self.welcome(user) = new(user)

    def initialize(user)
      @user = user
    end

    def deliver_now
      File.open(ENV.fetch("NOTES"), "a") { |file| file.puts("welcome #{@user.email}") }
    end
  end

  def test_there_are_four_blocks
    assert_equal 4, Printed::BLOCKS.size
  end

  def test_a_handler
    Object.const_set(:UserMailer, Mail)
    worker = OJS::Worker.new(client)
    worker.instance_eval(Printed.block("config/ojs_worker.rb"))
    (@workers ||= []) << worker.start
    post "/users", params: { user: { email: "ada@example.com" } }
    assert_equal ["welcome ada@example.com"], notes(1)
  ensure
    Object.send(:remove_const, :UserMailer)
  end
end

# In a test case that leaves Active Job its adapter.
class PrintedJobTest < ActiveSupport::TestCase
  include ShopTest
  self.use_transactional_tests = false

  def test_options_of_a_class_of_active_job
    Object.class_eval(Printed.block("ReportJob"))
    User.transaction do
      ReportJob.perform_later
      job = sent(1).first
      assert_equal ["active_job.report_job", 5, 300_000], [job.type, job.max_attempts, job["timeout_ms"]], "sent at once"
      raise ActiveRecord::Rollback
    end
  ensure
    Object.send(:remove_const, :ReportJob) if Object.const_defined?(:ReportJob)
  end
end

# The block about tests, in a test whose transaction never commits.
class PrintedTestsTest < ActionDispatch::IntegrationTest
  include Support
  self.use_transactional_tests = true

  def test_the_block_about_tests
    File.write(ENV.fetch("NOTES"), "")
    instance_eval(Printed.block("OJS::RailsAdapter::Commands.worker"))
    assert_equal ["email ada@example.com "], File.readlines(ENV.fetch("NOTES"), chomp: true)
  end
end

# frozen_string_literal: true

require_relative "support"

# The example of the README, in a process of its own.
class ReadmeTest < Minitest::Test
  include Support

  EXAMPLE = File.read("#{__dir__}/../README.md")[/^```ruby\n(.*?)^```$/m, 1]

  # A program without Rails has Active Record 6.1 as it comes: one connection handler per role, and a list of them that Rails would fill.
  ROLLED_BACK = <<~RUBY
    #{EXAMPLE[/.*?^end$\n/m]}
    abort "Active Record has other defaults than this test says" unless ActiveRecord::Base.legacy_connection_handling
    rolled_back = nil
    User.transaction do
      rolled_back = OJS.enqueue_after_commit("email.welcome", [1])
      raise ActiveRecord::Rollback
    end
    begin
      puts "it was sent: " + OJS.client.get_job(rolled_back.id).state
    rescue OJS::NotFoundError
      puts "nobody has it"
    end
  RUBY

  def test_the_example
    assert_equal "available", run_program(EXAMPLE)
  end

  def test_a_rolled_back_job_without_rails
    assert_equal "nobody has it", run_program(ROLLED_BACK)
  end

  private

  # Its last line.
  def run_program(code)
    OJS::Server.open("memory:") do |server|
      Dir.mktmpdir do |place|
        libraries = [LIB, File.expand_path("../lib", __dir__)].join(":")
        output, status = Open3.capture2e({ "OJS_URL" => server.url, "RUBYLIB" => libraries }, RbConfig.ruby, "-e", code, chdir: place)
        assert status.success?, output
        return output.lines.last.chomp
      end
    end
  end
end

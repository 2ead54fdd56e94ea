# frozen_string_literal: true

require_relative "support"

# The example of the README, in a process of its own.
class ReadmeTest < Minitest::Test
  include Support

  def test_the_example
    code = File.read("#{__dir__}/../README.md")[/^```ruby\n(.*?)^```$/m, 1]
    OJS::Server.open("memory:") do |server|
      Dir.mktmpdir do |place|
        libraries = [LIB, File.expand_path("../lib", __dir__)].join(":")
        output, status = Open3.capture2e({ "OJS_URL" => server.url, "RUBYLIB" => libraries }, RbConfig.ruby, "-e", code, chdir: place)
        assert status.success?, output
        assert_equal "available", output.lines.last.chomp
      end
    end
  end
end

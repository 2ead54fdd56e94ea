# frozen_string_literal: true

require_relative "support"

# What `bin/rails generate ojs:install` writes; that it works, every other test shows.
class GeneratorTest < Minitest::Test
  def test_what_the_generator_writes_is_what_the_specification_prints
    Dir.mktmpdir do |place|
      FileUtils.cp_r("#{Shop::PLACE}/.", place)
      FileUtils.rm_rf(["#{place}/config/initializers/ojs.rb", "#{place}/config/ojs_worker.rb", *Dir["#{place}/db/migrate/*outbox.rb"]])
      output = IO.popen({ "RUBYLIB" => LIBRARIES.join(":") }, [RbConfig.ruby, "bin/rails", "generate", "ojs:install", { chdir: place, err: %i[child out] }], &:read)
      printed = File.read("#{Shop::PLACE}/config/initializers/ojs.rb")[/^OJS.configure.*?^end$/m]
      assert_equal printed, File.read("#{place}/config/initializers/ojs.rb").strip, output
      assert_includes File.read("#{place}/config/ojs_worker.rb"), "register"
      assert_includes File.read(Dir["#{place}/db/migrate/*_create_ojs_outbox.rb"].first), "create_ojs_outbox OJS.configuration.outbox_table"
    end
  end
end

# The README prints the specification's example, and the application's files are that example.
class ReadmeTest < Minitest::Test
  def test_the_example_is_what_the_tests_run
    printed = File.read("#{ADAPTERS}/ojs-adapter-rails/README.md")[/^```ruby\n(.*?)^```$/m, 1]
    run = %w[config/initializers/ojs.rb app/controllers/users_controller.rb].map do |file|
      File.read("#{__dir__}/app/#{file}")[/^# --- as in "Framework Adapters".*?\n(.*?)^# --- end ---$/m, 1]
    end
    assert_equal printed, run.join("\n")
  end
end

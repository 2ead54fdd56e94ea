# frozen_string_literal: true

require "digest"
require_relative "support"

# The gem as users install it: a gem file in an empty place.
class PackageTest < Minitest::Test
  include Support

  APP = <<~'RUBY'
    require "ojs"

    client = OJS::Client.new("sqlite:jobs.db")
    worker = OJS::Worker.new(client)
    worker.register("email.send") do |ctx|
      puts "to #{ctx.args["to"]}"
      worker.shutdown
    end
    client.enqueue("email.send", to: "ada@example.com")
    worker.run
    client.close
  RUBY

  def test_gem_build_gem_install_a_first_job
    Dir.mktmpdir do |place|
      home = File.join(place, "gems")
      env = { "GEM_HOME" => home, "GEM_PATH" => home, "RUBYLIB" => nil, "RUBYOPT" => nil, "HOME" => place }
      run = lambda do |*command, chdir: place|
        output, status = Open3.capture2e(env, *command, chdir: chdir)
        assert status.success?, "#{command.join(" ")}: #{output}"
        output
      end
      run.call("gem", "build", "--quiet", "--output", "#{place}/ojs.gem", "ojs.gemspec", chdir: File.join(ROOT, "ruby"))
      names = run.call("gem", "spec", "#{place}/ojs.gem", "files")
      assert_match(%r{lib/ojs/\d+\.\d+/ojs_ruby\.(so|bundle)}, names, "the native half is in it")
      refute_match(/test/, names.gsub("lib/ojs/testing.rb", ""))
      run.call("gem", "install", "--local", "--no-document", "--quiet", "#{place}/ojs.gem")
      File.write(File.join(place, "app.rb"), APP)
      assert_operator APP.lines.size, :<=, 15
      assert_equal "to ada@example.com\n", run.call(RbConfig.ruby, "app.rb")
      assert_equal "ojs #{OJS::VERSION}\n", run.call(RbConfig.ruby, File.join(home, "bin", "ojs"), "--version")
    end
  end

  def test_versions_agree
    cargo = File.read(File.join(ROOT, "Cargo.toml"))[/^version = "(.*)"$/, 1]
    assert_equal [cargo, cargo], [OJS::VERSION, OJS.const_get(:Native)::VERSION]
  rescue NameError
    assert_equal cargo, OJS::VERSION # the native half is private
  end

  # What the README and the tests use has a type.
  def test_types
    require "rbs"
    require "rbs/cli"
    output = StringIO.new
    RBS::CLI.new(stdout: output, stderr: output).run(["-I", File.join(ROOT, "ruby", "sig"), "validate", "--silent"])
    assert_empty output.string
  rescue LoadError
    skip "rbs is not installed"
  end

  def test_types_name_every_public_method
    require "rbs"
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(File.join(ROOT, "ruby", "sig")))
    builder = RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
    missing = public_modules.flat_map do |mod|
      name = RBS::TypeName.new(name: mod.name.split("::").last.to_sym, namespace: RBS::Namespace.parse("::#{mod.name.rpartition("::").first}"))
      typed = builder.build_instance(name).methods.select { |_, method| method.public? }.keys
      (documented(mod) - typed).map { |method| "#{mod}##{method}" }
    end
    assert_empty missing
  rescue LoadError
    skip "rbs is not installed"
  end

  private

  def public_modules
    OJS.constants.map { |name| OJS.const_get(name) }.grep(Module).reject { |mod| mod == OJS::CLI }
  rescue NameError
    OJS.constants.map { |name| OJS.const_get(name) }.grep(Module)
  end

  # Methods that are there for users: those that are marked :nodoc: in the source are not.
  def documented(mod)
    mod.public_instance_methods(false).reject do |method|
      file, line = mod.instance_method(method).source_location
      file && File.readlines(file)[line - 1].include?(":nodoc:")
    end
  end
end

# `ojs server` and `ojs worker` of the gem.
class CLITest < Minitest::Test
  include Support

  def command(*arguments)
    [RbConfig.ruby, "-I#{LIB}", File.join(ROOT, "ruby/exe/ojs"), *arguments]
  end

  def ojs(*arguments, **options)
    Process.spawn(*command(*arguments), err: File::NULL, **options)
  end

  def test_server_and_worker
    Dir.mktmpdir do |dir|
      input, output = IO.pipe
      running = [ojs("server", "--store", "sqlite:#{dir}/jobs.db", "--listen", "127.0.0.1:0", out: output)]
      url = input.gets[/http\S+/]
      File.write("#{dir}/mail.rb", 'OJS::Worker.new.register("a") { |ctx| ctx.args[0] + 1 }')
      running << ojs("worker", "#{dir}/mail.rb", "--url", url, "--queues", "x,y", "--concurrency", "2")
      client = client_of(url)
      job = client.enqueue("a", [1], queue: "y")
      assert_equal 2, client.wait_for_result(job.id, timeout: PATIENCE).result
      until running.empty?
        Process.kill("TERM", running.last)
        assert_equal 0, finish(running.pop).exitstatus
      end
    ensure
      running&.each { |pid| Process.kill("KILL", pid) }
    end
  end

  def test_a_server_asks_for_keys
    Dir.mktmpdir do |dir|
      key = { name: "shop", roles: ["producer"], sha256: Digest::SHA256.hexdigest("secret"), created_at: "2026-01-01T00:00:00Z" }
      File.write("#{dir}/keys.json", JSON.generate(keys: [key]))
      start = ["server", "--store", "memory:", "--listen"]
      assert_equal 2, finish(ojs(*start, "0.0.0.0:0", out: File::NULL)).exitstatus
      input, output = IO.pipe
      pid = ojs(*start, "127.0.0.1:0", "--keys", "#{dir}/keys.json", out: output)
      url = input.gets[/http\S+/]
      refused = assert_raises(OJS::Error) { client_of(url).enqueue("a") }
      assert_equal "unauthenticated", refused.code
      assert_equal "available", client_of(url, auth_token: "secret").enqueue("a").state
    ensure
      Process.kill("TERM", pid) if pid
      finish(pid) if pid
    end
  end

  def test_wrong_usage
    {
      [] => "ojs: a command is needed: server or worker\n", ["fly"] => /\Aojs: unknown command 'fly'/,
      ["worker"] => "ojs: worker takes one FILE\n", ["worker", "/no/such/file.rb"] => %r{no file /no/such/file.rb},
      ["server", "--liste", "x"] => /did you mean '--listen'\?/, ["server", "--store", "ftp://x"] => /ftp/,
      ["server", "--log-level", "loud"] => /\Aojs: --log-level must be one of error, warn, info, debug, trace/,
      ["worker", "a.rb", "--concurrency", "0"] => /\Aojs: --concurrency must be a whole number of at least 1, got '0'/
    }.each do |arguments, message|
      status, errors = failed(*arguments)
      assert_equal 2, status, arguments.inspect
      assert_operator message, :===, errors
    end
  end

  def test_variables_of_the_environment
    message = "ojs: OJS_INSECURE must be true or false, got 'maybe'\n"
    assert_equal [2, message], failed({ "OJS_INSECURE" => "maybe" }, "server")
    input, output = IO.pipe
    told = { "OJS_STORE" => "memory:", "OJS_LISTEN" => "127.0.0.1:0", "OJS_KEYS" => "", "OJS_LOG_FORMAT" => "json" }
    pid = Process.spawn(told, *command("server"), out: output, err: File::NULL)
    assert_match %r{\Alistening on http://127.0.0.1:\d+$}, input.gets
    help, help_out = IO.pipe
    assert_equal 0, finish(ojs("--help", out: help_out)).exitstatus
    help_out.close
    assert_includes help.read, "ojs worker FILE [options]"
  ensure
    Process.kill("TERM", pid) if pid
    finish(pid) if pid
  end

  # The exit status and what was written to stderr.
  def failed(*arguments)
    variables = arguments.first.is_a?(Hash) ? arguments.shift : {}
    input, output = IO.pipe
    pid = Process.spawn(variables, *command(*arguments), out: File::NULL, err: output)
    output.close
    [finish(pid).exitstatus, input.read]
  end
end

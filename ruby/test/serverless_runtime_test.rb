# frozen_string_literal: true

require_relative "serverless_support"

# A function as AWS Lambda runs it: a process of its own that asks the published Runtime API for events.
class ServerlessRuntimeTest < Minitest::Test
  include ServerlessSupport

  # What the service does: it answers +next+ with an event, and takes the answer.
  class RuntimeAPI
    attr_reader :events, :answers

    def initialize
      @server = TCPServer.new("127.0.0.1", 0)
      @events = Queue.new
      @answers = Queue.new
      @threads = [Thread.new { loop { serve(@server.accept) } }]
    end

    def address
      "127.0.0.1:#{@server.addr[1]}"
    end

    def close
      @threads.each(&:kill)
      @server.close
    end

    private

    def serve(socket)
      @threads << Thread.new do
        verb, path = socket.gets.split
        length = 0
        while (line = socket.gets) && line != "\r\n"
          length = line[/\Acontent-length: (\d+)/i, 1].to_i if line.match?(/\Acontent-length/i)
        end
        body = socket.read(length)
        verb == "GET" ? give(socket) : take(socket, path, body)
        socket.close
      end
    end

    def give(socket)
      event = JSON.generate(@events.pop)
      ends = ((Time.now.to_f + 30) * 1000).round
      socket.write("HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: 8476a536\r\n",
                   "Lambda-Runtime-Deadline-Ms: #{ends}\r\n",
                   "Content-Length: #{event.bytesize}\r\nConnection: close\r\n\r\n", event)
    end

    def take(socket, path, body)
      socket.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      @answers << [path[%r{/2018-06-01/runtime/invocation/8476a536/(\w+)\z}, 1], JSON.parse(body)]
    end
  end

  # The loop of a runtime, and a function as the guide shows it.
  FUNCTION = <<~'RUBY'
    require "net/http"
    require "ojs/serverless"

    HANDLER = OJS::Serverless::LambdaHandler.new
    HANDLER.register("email.send") { |ctx| { sent_to: ctx.args[0] } }
    HANDLER.register("email.fail") { raise "no mail today" }

    def handler(event:, context:)
      HANDLER.handle(event: event, context: context)
    end

    Context = Struct.new(:ends) do
      def get_remaining_time_in_millis = ends - (Time.now.to_f * 1000).round
    end

    base = "http://#{ENV.fetch("AWS_LAMBDA_RUNTIME_API")}/2018-06-01/runtime/invocation"
    loop do
      event = Net::HTTP.get_response(URI("#{base}/next"))
      id = event["Lambda-Runtime-Aws-Request-Id"]
      begin
        context = Context.new(event["Lambda-Runtime-Deadline-Ms"].to_i)
        kind, body = "response", handler(event: JSON.parse(event.body), context: context)
      rescue StandardError => e
        kind, body = "error", { errorMessage: e.message, errorType: e.class.name }
      end
      Net::HTTP.post(URI("#{base}/#{id}/#{kind}"), JSON.generate(body))
    end
  RUBY

  def test_a_function_acks_to_the_server
    api = RuntimeAPI.new
    said = Tempfile.new("function")
    environment = { "AWS_LAMBDA_RUNTIME_API" => api.address, "OJS_URL" => server }
    pid = Process.spawn(environment, RbConfig.ruby, "-I#{LIB}", "-e", FUNCTION, %i[out err] => said.path)
    invoke = ->(event) { (api.events << event) && pop(api.answers) }
    done, one = leased("email.send", ["ada"])
    failed, two = leased("email.fail")
    again = { "batchItemFailures" => [{ "itemIdentifier" => "m3" }] }
    batch = { "Records" => [sqs("m1", one), sqs("m2", two), sqs("m3", "no job")] }
    assert_equal ["response", again], invoke.call(batch)
    assert_equal %w[completed retryable], [done, failed].map { |id| client.get_job(id).state }
    assert_equal({ "sent_to" => "ada" }, client.get_job(done).result)
    kind, answer = invoke.call({ "httpMethod" => "POST", "headers" => {}, "body" => two })
    assert_equal ["response", 500], [kind, answer["statusCode"]], "the function has no signing secret"
    assert_equal "error", invoke.call({ "source" => "x", "detail" => {} }).first
  ensure
    Process.kill("KILL", pid)
    Process.wait(pid)
    api.close
    puts File.read(said.path) if $!
  end
end

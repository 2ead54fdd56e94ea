# frozen_string_literal: true

require_relative "support"

# Answers of servers that are broken, or hostile, become the gem's own errors.
class AnswersTest < Minitest::Test
  include Support

  SECRET = "planted-secret"
  # What the gem says of an answer, and what the core says of one that has neither the members of a bulk call nor an error.
  CODES = %w[unexpected_answer connection_error].freeze

  # A server that answers everything with the same text.
  def answering
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      loop do
        Thread.new(server.accept) { |socket| serve(socket) }
      end
    rescue IOError
      nil
    end
    yield client_of("http://127.0.0.1:#{server.addr[1]}", max_sends: 1)
  ensure
    server&.close
    thread&.join
  end

  def serve(socket)
    while (head = socket.gets)
      length = 0
      while (line = socket.gets.chomp) && !line.empty?
        length = line[/\d+/].to_i if line.downcase.start_with?("content-length")
      end
      socket.read(length)
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{@answer.bytesize}\r\n\r\n#{@answer}")
    end
    head
  rescue IOError, SystemCallError
    socket.close
  end

  def calls(client)
    [-> { client.get_job("x") }, -> { client.enqueue("a") }, -> { client.cancel_job("x") }, -> { client.enqueue_batch(["a"]) },
     -> { client.dead_letters }, -> { client.list_queues }, -> { client.list_jobs }, -> { client.bulk_cancel(["x"]) }, -> { client.results(["x"]) }]
  end

  def refused(client, text)
    @answer = text
    calls(client).each do |call|
      error = assert_raises(OJS::Error, text[0, 60], &call)
      assert_includes CODES, error.code, text[0, 60]
      refute_includes "#{error.message} #{error.cause&.message}", SECRET if error.code == "unexpected_answer"
    end
  end

  def test_malformed_json_and_integers_of_more_digits_than_anything_reads
    answering do |client|
      ["{", "{\"job\": {\"id\": \"#{SECRET}\"", "<html>", "nul", "{\"job\": {\"id\": \"x\", \"args\": [1 2]}}", "[1,]", "{'job': '#{SECRET}'}",
       "{\"job\": {\"id\": \"x\", \"args\": [#{"9" * 100_000}]}}", "[-#{"1" * 4301}]", "#{"[" * 100_000}#{"]" * 100_000}", "{\"job\": \"\xFF\""].each do |text|
        refused(client, text)
      end
    end
  end

  def test_json_that_is_not_what_was_asked_for
    answering do |client|
      ["null", "5", "\"text\"", "[]", "{}", "{\"job\": null}", "{\"job\": 5}", "{\"job\": {}}", "{\"job\": {\"id\": 7}}",
       "{\"jobs\": 5, \"queues\": {}, \"items\": \"x\", \"results\": 1}"].each { |text| refused(client, text) }
      @answer = "{\"jobs\": null}"
      assert_equal [], client.dead_letters, "what a server in Go writes for an empty list"
      @answer = "{\"job\": {\"id\": \"x\", \"args\": [#{"9" * 4300}, \"#{"9" * 5000}\"]}}"
      assert_equal 10**4300 - 1, client.get_job("x").args[0]
    end
  end
end

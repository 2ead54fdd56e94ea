# frozen_string_literal: true

require_relative "support"
require "bigdecimal"
require "date"
require "pathname"
require "set"
require "uri"

# What becomes of values: those that would arrive as something else are refused, with their place and what to pass instead.
class ValuesTest < Minitest::Test
  include Support

  Pair = Struct.new(:left, :right)
  CIRCLE = [].tap { |list| list << list }
  REFUSED = {
    Time.now => /a Time has no form in JSON: pass \.iso8601\(3\)/,
    Date.new(2026, 1, 1) => /a Date has no form in JSON: pass \.iso8601/,
    DateTime.now => /a DateTime .*pass \.iso8601/,
    BigDecimal("1.5") => /a BigDecimal .*pass \.to_s/,
    Rational(1, 3) => /a Rational .*pass \.to_s/,
    Complex(1, 2) => /a Complex .*pass \.to_s/,
    Set[1] => /a Set .*pass \.to_a/,
    (1..2) => /a Range .*pass \.to_a/,
    [1].each => /an Enumerator .*pass \.to_a/,
    Pair.new(1, 2) => /Pair .*pass \.to_h/,
    ArgumentError.new("no") => /an ArgumentError .*pass \.message/,
    /a/ => /a Regexp .*pass \.source/,
    Pathname("/tmp") => /a Pathname .*pass \.to_s/,
    URI("http://example.com") => /a URI::HTTP .*pass \.to_s/,
    Object => /a Class .*pass \.name/,
    Object.new => /an Object .*pass text, a number, a Hash or an Array/,
    -> {} => /a Proc .*pass what the handler needs of it/,
    Float::NAN => /JSON has no NaN: pass nil/,
    -Float::INFINITY => /JSON has no -Infinity/,
    "\xFF" => /not valid UTF-8: pass \[bytes\]\.pack\("m0"\)/,
    "žluť".b => /not UTF-8 but binary/,
    10**4300 => /an integer of more than 4300 digits: pass \.to_s/,
    { 1 => "a" } => /the key 1 is an Integer, and keys in JSON are text: pass key\.to_s/,
    { nil => 1 } => /the key nil is a NilClass/,
    { [1] => 1 } => /the key of a member is an Array/,
    { "\xFF" => 1 } => /not valid UTF-8/,
    { a: 1, "a" => 2 } => /the keys :a and "a" are one name in JSON/,
    CIRCLE => /nested more than 500 levels deep, or it contains itself/
  }.freeze

  def doors(client, value)
    job = { type: "a", args: [{ when: value }] }
    {
      "args[0].when" => -> { client.enqueue("a", [{ when: value }]) },
      "meta.when" => -> { client.enqueue("a", [], meta: { when: value }) },
      "args[0].when: " => -> { client.enqueue_batch([{ type: "a" }, job]) },
      "args[0].when:" => -> { client.bulk_enqueue([job]) },
      "steps[1].args[0].when" => -> { client.workflow(OJS.chain("a", job)) },
      "job_template.args[0].when" => -> { client.register_cron("x", "0 0 * * *", job) }
    }
  end

  def test_what_would_arrive_as_something_else_is_refused_through_every_door
    client = memory
    REFUSED.each do |value, message|
      doors(client, value).each do |place, call|
        error = assert_raises(OJS::ValidationError, "#{value.class} in #{place}", &call)
        assert_match message, error.message
        assert error.message.start_with?(place), "#{place}: #{error.message}" unless value.equal?(CIRCLE)
        assert_equal ["invalid_payload", false], [error.code, error.retryable?]
      end
      assert_raises(OJS::ValidationError) { OJS::Outbox.new(client, database: "sqlite").stage(["a", [value]]) }
    end
    assert_equal 0, client.list_jobs.total, "nothing was sent"
  end

  def test_the_place_is_named_however_odd_the_names_on_the_way_are
    error = assert_raises(OJS::ValidationError) { memory.enqueue("a", [1, { list: [{ "first name" => Float::NAN }] }]) }
    assert_match(/\Aargs\[1\]\.list\[0\]\["first name"\]: JSON has no NaN/, error.message)
  end

  def test_what_arrives
    client = memory
    passed = ["", "ž 馬 🐎", 0, -1.5, 1e300, true, nil, [], {}, [nil, [{}]], 2**80, { "a b" => [1] }]
    assert_equal passed, client.enqueue("a", passed).args
    assert_equal ["b", { "c" => "d", "e" => 1 }, "é"], client.enqueue("a", [:b, { c: :d, "e" => 1 }, "é".encode("ISO-8859-1")]).args
  end

  def test_a_result_that_cannot_be_kept_says_where
    client = memory
    worker_of(client).register("late") { { list: [Time.now] } }.start
    error = job_in(client, client.enqueue("late").id, "discarded").error
    assert_equal "serialization_error", error["code"]
    assert_match(/\Athe handler's result cannot be kept: result\.list\[0\]: a Time has no form in JSON/, error["message"])
  end
end

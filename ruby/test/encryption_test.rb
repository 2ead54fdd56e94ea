# frozen_string_literal: true

require_relative "support"

# Encrypted arguments: what the handler sees, and what no other reader does (EI-012, EI-013).
class EncryptionTest < Minitest::Test
  include Support

  SECRET = "4111 1111 1111 1111"
  KEYS = { "k-2" => (0..31).to_a.pack("C*"), "k-1" => "\0" * 32 }.freeze

  # The arguments and metadata that a handler sees.
  def seen(client)
    found = Queue.new
    worker = worker_of(client, concurrency: 1).register("card.charge") { |ctx| found << [ctx.args.to_a, ctx.meta] }.start
    # Over before the directory of its engine goes away.
    pop(found).tap { worker.stop }
  end

  def test_the_handler_sees_what_the_server_does_not
    client = client_of("memory:encrypted-#{object_id}", encryption_keys: KEYS)
    job = client.enqueue("card.charge", [SECRET, { n: 1.5 }], meta: { tenant_id: "acme" })
    stored = client.get_job(job.id)
    refute_includes stored.to_h.to_s, SECRET
    assert_equal "k-2", stored.meta["ojs.codec.key_id"]
    assert_equal [[SECRET, { "n" => 1.5 }], { "tenant_id" => "acme" }], seen(client)
  end

  def test_older_keys_as_text_and_the_environment
    Dir.mktmpdir do |place|
      ENV["OJS_ENCRYPTION_KEYS"] = "k-1:#{"00" * 32}"
      OJS::Client.open("sqlite:#{place}/jobs.db") do |before|
        assert_equal "k-1", before.enqueue("card.charge", [SECRET]).meta["ojs.codec.key_id"]
      end
      assert_equal [SECRET], seen(client_of("sqlite:#{place}/jobs.db", encryption_keys: KEYS)).first
    ensure
      ENV.delete("OJS_ENCRYPTION_KEYS")
    end
  end

  def test_the_outbox_holds_ciphertext
    client = client_of("memory:encrypted-outbox-#{object_id}", encryption_keys: KEYS)
    row = OJS::Outbox.new(client, database: "sqlite").stage(["card.charge", [SECRET]])
    refute_includes row.params.to_s, SECRET
    assert_includes row.params[1], "ojs_encoded"
    assert_equal [SECRET], row.job.args.to_a
  end

  def test_a_wrong_key_is_refused_without_being_repeated
    ["nonsense", "k:short", { "k" => "short" }].each do |keys|
      message = assert_raises(OJS::ValidationError) { OJS::Client.new("memory:", encryption_keys: keys) }.message
      assert_match(/32 bytes|name:key/, message)
      refute_includes message, "short"
    end
  end
end

# frozen_string_literal: true

# Receiving webhooks.
module OJS
  # Checks that one of the secrets signed a request at most +tolerance+ seconds ago; returns nothing when it did. +body+
  # is the body byte for byte as it arrived, +headers+ are all headers, with names in any case; those of Rack
  # (+HTTP_X_OJS_SIGNATURE+) are known, too. While a secret is being replaced, give both. A request may arrive more than
  # once: +X-OJS-Delivery-ID+ is the same each time.
  #
  # Raises UntrustedWebhookError, whose <tt>details["reason"]</tt> is a word for the reason.
  def self.verify_webhook(body, headers, secrets, tolerance: 300, now: nil)
    known = headers.each_with_object({}) do |(name, value), all|
      name = name.to_s.delete_prefix("HTTP_").tr("_", "-")
      all[name] = Array(value).map(&:to_s) if value.is_a?(String) || value.is_a?(Array)
    end
    request = { headers: known, secrets: Array(secrets), tolerance: tolerance, now: now&.to_f }
    Native.verify_webhook(body, Wire.dump(request))
    nil
  end
end

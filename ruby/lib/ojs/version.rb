# frozen_string_literal: true

module OJS
  VERSION = "0.1.0"
end

# frozen_string_literal: true

module OJS
  # Something that a server describes: its members by their names on the wire, unknown ones included.
  class Record
    def initialize(data)
      raise Error.new("the answer has no #{self.class.name}", code: "unexpected_answer") unless data.is_a?(Hash)

      @data = data
    end

    # All members. Changes to it are changes to the object.
    def to_h
      @data
    end

    # One member by its name on the wire.
    def [](name)
      to_h[name.to_s]
    end

    def dig(name, *more)
      to_h.dig(name.to_s, *more)
    end

    def ==(other)
      other.instance_of?(self.class) && other.to_h == to_h
    end
    alias eql? ==

    def hash
      to_h.hash
    end
  end
end

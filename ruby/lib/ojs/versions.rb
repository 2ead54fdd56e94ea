# frozen_string_literal: true

module OJS
  # Versions of the arguments of a job type: what a worker says about them, and the blocks that change old arguments.
  # Which jobs the worker takes and which changes are made is decided by the core; here the blocks are called.
  class Versions
    Change = Struct.new(:from, :to, :block)

    def initialize
      @changes = []
    end

    # What a registration says: the version that the handler is written for, and ranges in place of those that follow
    # from it.
    def take(version, ranges)
      @version = version.to_s unless version.nil?
      @ranges = Array(ranges).map(&:to_s) unless ranges.nil?
    end

    # A further change. The core refuses it when the worker starts, should it contradict the others.
    def add(type, from, to, change)
      unless change.respond_to?(:call)
        raise ValidationError, "transform(#{type.inspect}, from, to) { |args| … } needs a block"
      end

      @changes << Change.new(from.to_s, to.to_s, change)
    end

    # As the core reads it.
    def said
      { version: @version, versions: @ranges, transforms: @changes.map { |change| [change.from, change.to] } }.compact
    end

    # Changes the arguments of a job up to the version of its handler.
    def apply(ctx)
      return if @changes.empty?

      @said ||= Wire.dump(said)
      path = Wire.load(Native.version_changes(ctx.type, @said, ctx.envelope))
      path.each { |number| change(ctx, @changes.fetch(number)) }
    end

    private

    def change(ctx, change)
      begin
        args = change.block.call(ctx.args)
      rescue StandardError => e
        raise wrong("The arguments cannot become those of version #{change.to}: #{e.message}")
      end
      raise wrong("The transform to version #{change.to} must return an Array of arguments.") unless args.is_a?(Array)

      ctx.changed(args, change.to)
    end

    def wrong(message)
      NonRetryableError.new(message, code: "version_transform")
    end
  end
  private_constant :Versions
end

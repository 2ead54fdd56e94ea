# frozen_string_literal: true

require "json"

# Reads the vectors for the tests of Ruby, and refuses members that no test compares.
module VectorsRead
  FOLDER = File.expand_path("../../tests/vectors", __dir__)

  # The object, which must have only these members: what another one says would not be tested.
  def self.known(object, members, where)
    unknown = object.keys - members
    return object if unknown.empty?

    raise ArgumentError, "#{where}: these tests do not know #{unknown.join(", ")}: compare it or remove it"
  end

  # The vectors of a kind, which have only these members. +inside+ names those of a member that holds objects.
  def self.vectors(kind, members, inside = {}, file: "vectors.json")
    cases = JSON.parse(File.read(File.join(FOLDER, file))).fetch(kind)
    raise ArgumentError, "there are no vectors of #{kind}" if cases.empty?

    cases.each do |vector|
      where = "#{kind}: #{vector["name"]}"
      known(vector, members, where)
      inside.each do |member, names|
        [vector[member] || []].flatten.each { |object| known(object, names, "#{where}, in #{member}") }
      end
    end
  end
end

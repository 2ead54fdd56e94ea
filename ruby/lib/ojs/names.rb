# frozen_string_literal: true

module OJS
  # Names that do not exist, refused with the one that was probably meant: the sentence and the rule are the core's.
  module Names
    module_function

    # What is said of a name that is none of +names+; +place+ is what it is in, such as " of retry".
    def unknown(name, names, place = "", kind: "option")
      near = nearest(name.to_s, names.map(&:to_s))
      there = near ? "; did you mean '#{near}'? There are" : "; there are"
      "unknown #{kind} '#{name}'#{place}#{there} #{names.join(", ")}"
    end

    # The name that was probably meant: at most half of its letters differ.
    def nearest(wrong, names)
      wrong = bare(wrong)
      return if wrong.size > 64

      far, near = names.map { |name| [distance(wrong, bare(name)), name] }.min
      near if near && far * 2 <= [wrong.size, bare(near).size].max
    end
    private_class_method :nearest

    def bare(name) = name.gsub(/[^A-Za-z0-9]/, "").downcase
    private_class_method :bare

    # How many letters must change to make one word the other.
    def distance(one, other)
      row = (0..other.size).to_a
      one.each_char.with_index(1) do |letter, at|
        row = other.each_char.with_index.each_with_object([at]) do |(against, to), below|
          below << [row[to] + (letter == against ? 0 : 1), row[to + 1] + 1, below[to] + 1].min
        end
      end
      row.last
    end
    private_class_method :distance
  end
  private_constant :Names
end

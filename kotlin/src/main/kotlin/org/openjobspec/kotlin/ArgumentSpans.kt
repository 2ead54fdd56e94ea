package org.openjobspec.kotlin

private const val QUOTE = '"'.code.toByte()
private const val BACKSLASH = '\\'.code.toByte()
private const val COMMA = ','.code.toByte()
private const val MINUS = '-'.code.toByte()
private val NAME = "args".encodeToByteArray()

/** As many digits fit into a `Long` for certain. */
private const val LONG_DIGITS = 18

/** Where each argument stands in the JSON of a job, so that one of them is read without the rest of the job. */
internal class ArgumentSpans private constructor(private val json: ByteArray, private val bounds: List<Int>) {
    val size: Int get() = bounds.size / 2

    /** The JSON of one argument. */
    fun text(index: Int): String = String(json, from(index), until(index) - from(index), Charsets.UTF_8)

    /** A text without escapes; null where the argument is anything else. */
    fun plainText(index: Int): String? {
        val (from, until) = from(index) to until(index)
        if (json[from] != QUOTE) return null
        for (at in from until until) if (json[at] == BACKSLASH) return null
        return String(json, from + 1, until - from - 2, Charsets.UTF_8)
    }

    /** A whole number of few digits; null where the argument is anything else. */
    fun wholeNumber(index: Int): Long? {
        val until = until(index)
        val negative = json[from(index)] == MINUS
        val first = if (negative) from(index) + 1 else from(index)
        if (until - first !in 1..LONG_DIGITS) return null
        var number = 0L
        for (at in first until until) {
            val digit = json[at] - '0'.code
            if (digit !in 0..9) return null
            number = number * 10 + digit
        }
        return if (negative) -number else number
    }

    private fun from(index: Int) = bounds[index * 2]

    private fun until(index: Int) = bounds[index * 2 + 1]

    companion object {
        /** Null where the arguments are found only by reading the whole job. */
        fun of(json: ByteArray): ArgumentSpans? = try {
            Scan(json).arguments()?.let { ArgumentSpans(json, it) }
        } catch (e: IndexOutOfBoundsException) { // JSON that ends too early: reading the whole of it says so
            null
        }
    }
}

/** Goes over JSON without making values of it. The core has checked its form. */
private class Scan(private val json: ByteArray) {
    private var at = 0

    /** Bounds of the items of the last member `args`, as in any reader of JSON that keeps the last of two. */
    fun arguments(): List<Int>? {
        var found: List<Int>? = null
        if (!enters('{')) return null
        while (next('}')) {
            val from = at + 1
            // A name with an escape may be any name.
            if (json[at] != QUOTE || string()) return null
            val isArguments = at - 1 - from == NAME.size && NAME.indices.all { json[from + it] == NAME[it] }
            if (!enters(':')) return null
            blanks()
            if (isArguments) found = items() ?: return null else value()
        }
        return found
    }

    private fun items(): List<Int>? {
        if (!enters('[')) return null
        val bounds = ArrayList<Int>(8)
        while (next(']')) {
            val from = at
            value()
            if (at == from) return null // no JSON
            bounds += from
            bounds += at
        }
        return bounds
    }

    private fun enters(letter: Char): Boolean {
        blanks()
        return (json[at] == letter.code.toByte()).also { if (it) at++ }
    }

    /** At the next member or item; false at the end, which is passed. */
    private fun next(end: Char): Boolean {
        if (enters(end)) return false
        if (json[at] == COMMA) at++
        blanks()
        return true
    }

    private fun value() = when (json[at].toInt().toChar()) {
        '"' -> { string(); Unit }
        '{', '[' -> nested()
        else -> while (!endsWord(json[at].toInt().toChar())) at++
    }

    private fun nested() {
        var depth = 0
        do {
            when (json[at].toInt().toChar()) {
                '"' -> { string(); at-- }
                '{', '[' -> depth++
                '}', ']' -> depth--
            }
            at++
        } while (depth > 0)
    }

    /** Whether there is an escape in it. */
    private fun string(): Boolean {
        var escaped = false
        at++
        while (json[at] != QUOTE) {
            if (json[at] == BACKSLASH) {
                escaped = true
                at++
            }
            at++
        }
        at++
        return escaped
    }

    private fun endsWord(letter: Char) = letter == ',' || letter == '}' || letter == ']' || isBlank(letter)

    private fun isBlank(letter: Char) = letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r'

    private fun blanks() {
        while (isBlank(json[at].toInt().toChar())) at++
    }
}

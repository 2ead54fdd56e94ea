package org.openjobspec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON text, strictly as RFC 8259 has it. */
final class JsonReader {
    /** Deeper texts are refused instead of overflowing the stack; the engine takes 128 levels. */
    private static final int DEEPEST = 512;
    /** More than the 4,300 digits that every language reads. Reading a number takes the square of its length. */
    private static final int LONGEST_NUMBER = 4400;
    /** Digits that surely fit a long. */
    private static final int LONG_DIGITS = 18;

    private final String text;
    private int at;
    private int depth;

    JsonReader(String text) {
        this.text = text;
    }

    Object document() {
        Object value = value();
        blanks();
        if (at < text.length()) throw wrong("the end");
        return value;
    }

    private Object value() {
        blanks();
        return switch (peek()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        deeper();
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        blanks();
        if (peek() == '}') return up(members);
        while (true) {
            blanks();
            if (peek() != '"') throw wrong("a name");
            String name = string();
            blanks();
            take(':');
            members.put(name, value());
            blanks();
            if (peek() == '}') return up(members);
            take(',');
        }
    }

    private List<Object> array() {
        deeper();
        List<Object> items = new ArrayList<>();
        at++;
        blanks();
        if (peek() == ']') return up(items);
        while (true) {
            items.add(value());
            blanks();
            if (peek() == ']') return up(items);
            take(',');
        }
    }

    private void deeper() {
        if (++depth > DEEPEST) throw wrong("at most " + DEEPEST + " levels");
    }

    private <T> T up(T value) {
        at++;
        depth--;
        return value;
    }

    private String string() {
        int from = ++at;
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"') return text.substring(from, at++);
            if (c == '\\' || c < ' ') break;
        }
        StringBuilder out = new StringBuilder(text.length() - from < 64 ? 64 : 256).append(text, from, at);
        while (true) {
            char c = peek();
            if (c < ' ') throw wrong("the end of a string");
            at++;
            if (c == '"') return out.toString();
            out.append(c == '\\' ? escape() : c);
        }
    }

    private char escape() {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> throw wrong("an escape");
        };
    }

    private char unit() {
        int unit = 0;
        for (int end = at + 4; at < end; at++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0 || peek() > 'f') throw wrong("four hexadecimal digits");
            unit = unit << 4 | digit;
        }
        return (char) unit;
    }

    private Object number() {
        int from = at;
        if (peek() == '-') at++;
        if (peek() == '0') at++;
        else digits();
        boolean whole = true;
        if (at < text.length() && text.charAt(at) == '.') {
            whole = false;
            at++;
            digits();
        }
        if (at < text.length() && (text.charAt(at) | 0x20) == 'e') {
            whole = false;
            at++;
            if (peek() == '+' || peek() == '-') at++;
            digits();
        }
        String number = text.substring(from, at);
        if (number.length() > LONGEST_NUMBER) throw wrong("a number of at most " + LONGEST_NUMBER + " characters");
        try {
            if (!whole) return new BigDecimal(number);
            if (number.length() <= LONG_DIGITS) return Long.parseLong(number);
            BigInteger big = new BigInteger(number);
            return big.bitLength() < Long.SIZE ? (Object) big.longValue() : big;
        } catch (ArithmeticException | NumberFormatException e) {
            throw wrong("a number with a smaller exponent");
        }
    }

    private void digits() {
        int from = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
        if (at == from) throw wrong("a value");
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong("a value");
        at += word.length();
        return value;
    }

    private void blanks() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
            at++;
        }
    }

    /** The character here; NUL, which JSON has nowhere, at the end. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void take(char wanted) {
        if (peek() != wanted) throw wrong("'" + wanted + "'");
        at++;
    }

    private OJSException wrong(String wanted) {
        return new OJSException.Validation("not JSON: expected " + wanted + " at character " + at, "invalid_json");
    }
}

// JSON as the vectors need it: values that point into their text, so that every number and every string stays as it was written.
#ifndef JSON_H
#define JSON_H

#include "ojs.h"

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A text that grows. Free `at`.
typedef struct {
    char *at;
    size_t len;
} text_t;

static void push(text_t *text, const char *bytes, size_t len) {
    text->at = (char *)realloc(text->at, text->len + len + 1);
    if (len) memcpy(text->at + text->len, bytes, len); // a value that is not there has no bytes to point to
    text->len += len;
    text->at[text->len] = 0;
}

static void push_text(text_t *text, const char *more) { push(text, more, strlen(more)); }

static ojs_slice slice_of(const text_t *text) {
    ojs_slice slice = {(const uint8_t *)text->at, text->len};
    return slice;
}

// A document; the text is the caller's.
typedef struct {
    const char *text;
    jsmntok_t *tokens;
    int count;
} json_t;

// A value of a document. One that is not there has the index -1.
typedef struct {
    const json_t *in;
    int at;
} value_t;

static json_t json_parse(const char *text, size_t len) {
    json_t json = {text, NULL, 0};
    jsmn_parser parser;
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, text, len, NULL, 0);
    if (count <= 0) {
        printf("no JSON (%d): %.200s\n", count, text);
        exit(2);
    }
    json.tokens = (jsmntok_t *)calloc((size_t)count, sizeof *json.tokens);
    jsmn_init(&parser);
    json.count = jsmn_parse(&parser, text, len, json.tokens, (unsigned)count);
    return json;
}

static value_t root_of(const json_t *json) {
    value_t value = {json, 0};
    return value;
}

static const jsmntok_t *token(value_t value) { return &value.in->tokens[value.at]; }

static bool there(value_t value) { return value.at >= 0; }

// The index after a value and everything in it.
static int after(value_t value) {
    int at = value.at + 1, end = token(value)->end;
    while (at < value.in->count && value.in->tokens[at].start < end) at++;
    return at;
}

static size_t size_of(value_t value) { return there(value) ? (size_t)token(value)->size : 0; }

// Goes through the items of an array: `value_t item = first(list); for (n < size_of(list)) item = next(item)`.
static value_t first(value_t list) {
    value_t item = {list.in, list.at + 1};
    return item;
}

static value_t next(value_t item) {
    value_t following = {item.in, after(item)};
    return following;
}

// The text of a value as it stands; strings without their quotes, escapes left.
static ojs_slice raw(value_t value) {
    ojs_slice none = {NULL, 0};
    if (!there(value)) return none;
    ojs_slice slice = {(const uint8_t *)value.in->text + token(value)->start, (size_t)(token(value)->end - token(value)->start)};
    return slice;
}

static bool is(value_t value, const char *text) {
    ojs_slice found = raw(value);
    return there(value) && found.len == strlen(text) && memcmp(found.ptr, text, found.len) == 0;
}

// A member of an object; one that is null counts as missing.
static value_t member(value_t object, const char *name) {
    value_t missing = {object.in, -1};
    if (!there(object) || token(object)->type != JSMN_OBJECT) return missing;
    value_t key = first(object);
    for (size_t n = 0; n < size_of(object); n++) {
        value_t value = {object.in, key.at + 1};
        if (is(key, name)) return token(value)->type == JSMN_PRIMITIVE && is(value, "null") ? missing : value;
        key.at = after(value);
    }
    return missing;
}

// Whether the members of an object are among these names, each of which stands between blanks.
static inline bool known(value_t object, const char *names) {
    value_t name = first(object);
    for (size_t n = 0; n < size_of(object); n++) {
        text_t word = {NULL, 0};
        push_text(&word, " ");
        push(&word, (const char *)raw(name).ptr, raw(name).len);
        push_text(&word, " ");
        bool found = strstr(names, word.at) != NULL;
        free(word.at);
        if (!found) return false;
        value_t value = {name.in, name.at + 1};
        name.at = after(value);
    }
    return true;
}

static inline long number(value_t value) { return there(value) ? strtol(value.in->text + token(value)->start, NULL, 10) : 0; }

// Appends a value without blanks.
static inline void push_value(text_t *out, value_t value) {
    bool string = token(value)->type == JSMN_STRING, inside = string;
    if (string) push_text(out, "\"");
    ojs_slice slice = raw(value);
    for (size_t n = 0; n < slice.len; n++) {
        char c = (char)slice.ptr[n];
        if (inside && c == '\\') {
            push(out, &c, 1);
            c = (char)slice.ptr[++n];
        } else if (c == '"') {
            inside = !inside;
        } else if (!inside && isspace((unsigned char)c)) {
            continue;
        }
        push(out, &c, 1);
    }
    if (string) push_text(out, "\"");
}

// The characters of a string. Only escapes that the vectors have.
static inline text_t unescaped(value_t value) {
    text_t out = {NULL, 0};
    ojs_slice slice = raw(value);
    push(&out, "", 0);
    for (size_t n = 0; n < slice.len; n++) {
        char c = (char)slice.ptr[n];
        if (c == '\\') {
            static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
            c = (char)slice.ptr[++n];
            const char *known = strchr(from, c);
            if (c == 'u') {
                c = (char)strtol((const char *)slice.ptr + n + 1, NULL, 16);
                n += 4;
            } else if (known) {
                c = to[known - from];
            }
        }
        push(&out, &c, 1);
    }
    return out;
}

// Whether two values are the same, whatever the order of members and the spelling of numbers.
static inline bool same(value_t a, value_t b) {
    if (!there(a) || !there(b)) return there(a) == there(b);
    if (token(a)->type != token(b)->type) return false;
    ojs_slice left = raw(a), right = raw(b);
    bool identical = left.len == right.len && memcmp(left.ptr, right.ptr, left.len) == 0;
    if (token(a)->type == JSMN_STRING) return identical;
    if (token(a)->type == JSMN_PRIMITIVE) {
        bool numbers = (isdigit(left.ptr[0]) || left.ptr[0] == '-') && (isdigit(right.ptr[0]) || right.ptr[0] == '-');
        return identical || (numbers && strtod((const char *)left.ptr, NULL) == strtod((const char *)right.ptr, NULL));
    }
    if (size_of(a) != size_of(b)) return false;
    value_t one = first(a), other = first(b);
    for (size_t n = 0; n < size_of(a); n++) {
        if (token(a)->type == JSMN_ARRAY) {
            if (!same(one, other)) return false;
            other = next(other);
        } else {
            text_t name = {NULL, 0};
            push(&name, (const char *)raw(one).ptr, raw(one).len);
            one.at++;
            bool found = same(one, member(b, name.at)) || (is(one, "null") && !there(member(b, name.at)));
            free(name.at);
            if (!found) return false;
        }
        one.at = after(one);
    }
    return true;
}

// A whole file.
static text_t file(const char *path) {
    text_t text = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        perror(path);
        exit(2);
    }
    char block[65536];
    for (size_t len; (len = fread(block, 1, sizeof block, stream)) > 0;) push(&text, block, len);
    fclose(stream);
    return text;
}

#endif

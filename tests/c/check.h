// What the test programs share: checks that count, and slices of all kinds, good and bad.
#ifndef CHECK_H
#define CHECK_H

#include "ojs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

#define CHECK(condition) check((condition), #condition, __LINE__)
#define OK(call) ok((call), #call, __LINE__)
#define FAILS(class_, text, call) fails((call), (class_), (text), #call, __LINE__)

static void check(bool good, const char *what, int line) {
    // Handlers check on threads of the library.
    __atomic_add_fetch(good ? &passed : &failed, 1, __ATOMIC_RELAXED);
    if (!good) printf("FAILED line %d: %s\n", line, what);
}

static void ok(ojs_error *error, const char *what, int line) {
    ojs_slice message = ojs_error_message(error);
    if (error) printf("line %d: %.*s\n", line, (int)message.len, (const char *)message.ptr);
    check(error == NULL, what, line);
    ojs_error_free(error);
}

static bool contains(ojs_slice slice, const char *text) {
    size_t length = strlen(text);
    for (size_t at = 0; at + length <= slice.len; at++) {
        if (memcmp(slice.ptr + at, text, length) == 0) return true;
    }
    return length == 0;
}

static inline void fails(ojs_error *error, ojs_class class_, const char *text, const char *what, int line) {
    ojs_slice message = ojs_error_message(error);
    bool good = error && ojs_error_class(error) == class_ && contains(message, text);
    if (!good) printf("line %d: class %d, %.*s\n", line, (int)ojs_error_class(error), (int)message.len, message.ptr ? (const char *)message.ptr : "");
    check(good, what, line);
    ojs_error_free(error);
}

static ojs_slice S(const char *text) {
    ojs_slice slice;
    slice.ptr = (const uint8_t *)text;
    slice.len = strlen(text);
    return slice;
}

static ojs_slice none(void) {
    ojs_slice slice = {NULL, 0};
    return slice;
}

static inline ojs_slice null_with_length(void) {
    ojs_slice slice = {NULL, 3};
    return slice;
}

static bool equals(ojs_slice slice, const char *text) {
    return slice.len == strlen(text) && memcmp(slice.ptr, text, slice.len) == 0;
}

static inline ojs_slice invalid_utf8(void) {
    static const uint8_t bytes[] = {'a', 0xff, 0xfe};
    ojs_slice slice = {bytes, sizeof bytes};
    return slice;
}

#endif

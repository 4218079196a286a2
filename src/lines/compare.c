/*
 * lines/compare.c - the order of two records, and the first record of a block that is out of order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <string.h>

bool lines_is_unique(const struct lines_order *order)
{
    return order->unique;
}

bool lines_has_last_resort(const struct lines_order *order)
{
    return order->resort;
}

static int compare_bytes(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const size_t n = a_bytes < b_bytes ? a_bytes : b_bytes;
    const int order = n ? memcmp(a, b, n) : 0;
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

/* Compares the streams of both keys window by window. */
static int compare_keys(const struct lines_order *order, const char *a, size_t a_bytes,
                        const char *b, size_t b_bytes)
{
    enum { FIRST = 64, MOST = 4096 };
    unsigned char left[MOST], right[MOST];
    size_t room = FIRST;
    for (size_t skip = 0;; skip += room, room = MOST) {
        struct sink x = { .to = left, .skip = skip, .room = room };
        struct sink y = { .to = right, .skip = skip, .room = room };
        lines_encode(order, a, a_bytes, false, &x);
        lines_encode(order, b, b_bytes, false, &y);
        const size_t x_bytes = x.n < skip ? 0 : x.n - skip < room ? x.n - skip : room;
        const size_t y_bytes = y.n < skip ? 0 : y.n - skip < room ? y.n - skip : room;
        const int result = compare_bytes(left, x_bytes, right, y_bytes);
        if (result || x_bytes < room) return result;
    }
}

int lines_compare(const struct lines_order *order, const char *a, size_t a_bytes, const char *b,
                  size_t b_bytes)
{
    int result;
    if (order->direct) {
        size_t x_bytes, y_bytes;
        const char *x = lines_direct(order, a, a_bytes, &x_bytes);
        const char *y = lines_direct(order, b, b_bytes, &y_bytes);
        result = compare_bytes(x, x_bytes, y, y_bytes);
    } else {
        result = compare_keys(order, a, a_bytes, b, b_bytes);
    }
    if (result || !order->resort) return result;
    result = compare_bytes(a, a_bytes, b, b_bytes);
    return order->reversed ? -result : result;
}

size_t lines_unsorted(const struct lines_order *order, const char *before, size_t before_bytes,
                      const char *text, size_t bytes, uint64_t *number)
{
    const int most = order->unique ? -1 : 0;
    *number = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t n = lines_next(order, text + at, bytes - at);
        const size_t body = lines_body(order, text + at, n);
        if (before && lines_compare(order, before, before_bytes, text + at, body) > most) return at;
        before = text + at;
        before_bytes = body;
        at += n;
        ++*number;
    }
    return bytes;
}

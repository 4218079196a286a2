/*
 * lines/order.c - makes an order from the words of the user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lines_order *lines_order_new(const struct lines_words *words, char error[LINES_ERROR])
{
    const char *letters = words->letters ? words->letters : "";
    if (words->n_keys || strspn(letters, "r") != strlen(letters)) {
        snprintf(error, LINES_ERROR, "this version has no keys and no letter except r");
        return NULL;
    }
    struct lines_order *order = calloc(1, sizeof *order);
    if (!order) {
        snprintf(error, LINES_ERROR, "out of memory");
        return NULL;
    }
    order->reversed = *letters != 0;
    order->direct = order->whole = !order->reversed;
    order->unique = words->unique;
    order->csv = words->csv;
    order->header = words->header;
    order->terminator = words->zero ? 0 : '\n';
    order->delimiter = words->delimiter;
    return order;
}

void lines_order_free(struct lines_order *order)
{
    free(order);
}

bool lines_has_names(const struct lines_order *order)
{
    (void)order;
    return false;
}

bool lines_bind(struct lines_order *order, const char *header, size_t bytes,
                char error[LINES_ERROR])
{
    (void)order, (void)header, (void)bytes, (void)error;
    return true;
}

void lines_describe(const struct lines_order *order, char *text, size_t capacity_bytes)
{
    snprintf(text, capacity_bytes, "bytes of the line%s", order->reversed ? ", descending" : "");
}

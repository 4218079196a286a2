/*
 * core/error.c - messages: the last failure of a context, the last failure of a thread without a
 * context, and the log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/internal.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char thread_error[ECHI_ERROR_BYTES];

static const char *const status_names[] = {
#define STATUS(constant) [constant] = #constant,
#include "core/status.def"
#undef STATUS
};

const char *ech_status_name(ech_status status)
{
    size_t i = (size_t)status;
    return i < sizeof status_names / sizeof *status_names ? status_names[i] : "ECH_ERR_?";
}

const char *ech_error(const ech_ctx *ctx)
{
    return ctx ? ctx->error : thread_error;
}

#undef echi_fail /* internal.h */
ech_status echi_fail(ech_ctx *ctx, ech_status code, const char *format, ...)
{
    /* Formatted in a separate buffer first: an argument may be the old message itself. */
    char message[ECHI_ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(ctx ? ctx->error : thread_error, ECHI_ERROR_BYTES, "%s", message);
    echi_log(ctx, ECH_LOG_ERROR, "%s: %s", ech_status_name(code), message);
    return code;
}

void echi_log(ech_ctx *ctx, ech_log_level level, const char *format, ...)
{
    if (!ctx || !ctx->log || level > ctx->log_level) return;
    char message[ECHI_ERROR_BYTES + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ctx->log(ctx->log_user, level, message);
}

void echi_print(struct echi_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at, text->left, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length;
    const size_t room = text->left ? text->left - 1 : 0;
    if (used > room) {
        text->lost += used - room;
        used = room;
    }
    text->at += used;
    text->left -= used;
}

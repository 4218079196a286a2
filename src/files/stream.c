/*
 * files/stream.c - reads the inputs one after the other, on a thread, if one of them is a stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "files/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Reads up to want bytes of an input; fewer at its end. */
static io_status read_input(struct files_stream *stream, const struct files_input *input,
                            unsigned char *to, size_t want, size_t *got)
{
    if (input->fd < 0) return io_read(input->stream, to, want, got, &stream->error);
    const uint64_t left = input->bytes - stream->done;
    if (want > left) want = (size_t)left;
    for (*got = 0; *got < want;) {
        const ssize_t n =
            pread(input->fd, to + *got, want - *got, (off_t)(input->offset + stream->done + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return files_failed(&stream->error, input->name, n < 0 ? errno : FILES_ENDED, false);
        *got += (size_t)n;
    }
    return IO_OK;
}

/* The next input must not close a quote of CSV that this one has opened. */
static io_status check_quotes(struct files_stream *stream, const struct files_input *input)
{
    const char *text = (const char *)stream->to + stream->begin;
    const size_t bytes = stream->got - stream->begin;
    char message[LINES_ERROR];
    stream->begin = stream->got;
    if (!stream->run->kind->misplaced) return IO_OK;
    const size_t quote = lines_open_quote(text, bytes);
    if (quote == SIZE_MAX) return IO_OK;
    lines_quote_error(text, bytes, quote, message);
    return io_fail(&stream->error, IO_FAIL, input->name, "%s", message);
}

/* At the end of an input: adds a missing terminator, or checks the size of records. */
static io_status end_input(struct files_stream *stream, const struct files_input *input)
{
    const struct files_kind *kind = stream->run->kind;
    const bool open_end =
        stream->done && kind->terminator >= 0 && stream->last != (unsigned char)kind->terminator;
    if (open_end) stream->to[stream->got++] = (unsigned char)kind->terminator;
    if (check_quotes(stream, input) != IO_OK) return IO_FAIL;
    if (input->fd < 0 && input->expects && stream->done != input->expected)
        return io_fail(&stream->error, IO_FAIL, input->name, "%s, but %s follow", input->expects,
                       stream->done < input->expected ? "fewer" : "more");
    if (kind->record_bytes && stream->done % kind->input_bytes)
        return io_fail(&stream->error, IO_FAIL, input->name,
                       "has %llu bytes, which is not a multiple of the %zu bytes of a record",
                       (unsigned long long)stream->done, kind->input_bytes);
    stream->input++;
    stream->done = 0;
    return IO_OK;
}

/* On a thread.  One byte of the room is kept for a terminator. */
static int fill(void *arg)
{
    struct files_stream *stream = arg;
    const struct files_sort *sort = stream->run->sort;
    const size_t spare = stream->run->kind->terminator >= 0;
    stream->got = stream->have;
    while (stream->input < sort->input_count && stream->got + spare < stream->want) {
        const struct files_input *input = &sort->inputs[stream->input];
        unsigned char *to = stream->to + stream->got;
        const size_t want = stream->want - stream->got - spare;
        size_t got;
        if (read_input(stream, input, to, want, &got) != IO_OK) return EIO;
        stream->done += got;
        stream->got += got;
        if (got) stream->last = to[got - 1];
        const bool ended = got < want || (input->fd >= 0 && stream->done == input->bytes);
        if (ended && end_input(stream, input) != IO_OK) return EIO;
    }
    return 0;
}

void files_stream_begin(struct files_stream *stream, unsigned char *to, size_t have, size_t want)
{
    stream->to = to;
    stream->have = have;
    stream->begin = 0;
    stream->want = want;
    files_call(stream->run->queue, &stream->batch, fill, stream);
}

io_status files_stream_end(struct files_stream *stream, size_t *got)
{
    struct files_run *run = stream->run;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &stream->batch);
    run->sort->times.read += files_seconds() - start;
    *got = stream->got;
    run->sort->times.read_bytes += stream->got - stream->have;
    if (!why) return IO_OK;
    *run->error = stream->error;
    return IO_FAIL;
}

/*
 * ladder_settings.c - options of "echelon ladder" that change the rungs of a ladder: the bits to
 * sort by, the width of a digit, the number of columns.
 *
 *     echelon ladder warp --bits 0:10 --digit-bits 3
 *       -> struct ladder_settings -> adapt() of the ladder, for each rung -> a changed ladder
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RUNGS = 64, TEXT_BYTES = 64, MOST_COLUMNS = 1024 };

static struct {
    struct ladder ladder;
    struct rung rungs[MOST_RUNGS];
    char texts[MOST_RUNGS][TEXT_BYTES];
} adapted;

/* An integer in the range [low, most]. */
static int parse_small(const char *name, const char *text, unsigned low, unsigned most,
                       unsigned *value)
{
    uint64_t count = 0;
    int code = cli_parse_count(name, text, &count);
    if (code != EXIT_DONE) return code;
    if (count < low || count > most)
        return cli_fail(EXIT_BAD, "--%s is %s; give an integer from %u to %u", name, text, low,
                        most);
    *value = (unsigned)count;
    return EXIT_DONE;
}

/* BEGIN:END, for example 0:10 for the bits 0 to 9. */
static int parse_bits(const char *text, struct ladder_settings *settings)
{
    char begin[16];
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : 0;
    if (!colon || length == 0 || length >= sizeof begin || !colon[1])
        return cli_fail(EXIT_BAD, "--bits is \"%s\"; give BEGIN:END, for example 0:10", text);
    memcpy(begin, text, length);
    begin[length] = 0;
    int code = parse_small("bits", begin, 0, 31, &settings->begin_bit);
    if (code == EXIT_DONE) code = parse_small("bits", colon + 1, 1, 32, &settings->end_bit);
    if (code == EXIT_DONE && settings->begin_bit >= settings->end_bit)
        code = cli_fail(EXIT_BAD, "--bits is \"%s\"; BEGIN must be less than END", text);
    settings->bits = true;
    return code;
}

int ladder_parse_settings(const struct ladder_setting_words *words,
                          struct ladder_settings *settings)
{
    int code = EXIT_DONE;
    if (words->bits) code = parse_bits(words->bits, settings);
    if (code == EXIT_DONE && words->digit_bits)
        code = parse_small("digit-bits", words->digit_bits, 1, 32, &settings->digit_bits);
    if (code == EXIT_DONE && words->columns)
        code = parse_small("columns", words->columns, 1, MOST_COLUMNS, &settings->columns);
    return code;
}

int ladder_check_settings(const struct ladder *ladder, bool one,
                          const struct ladder_setting_words *words)
{
    const struct {
        const char *name, *text;
        unsigned bit;
    } rows[] = { { "bits", words->bits, LADDER_BITS },
                 { "digit-bits", words->digit_bits, LADDER_DIGIT },
                 { "columns", words->columns, LADDER_COLUMNS } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text && (!one || !(ladder->settings & rows[i].bit)))
            return cli_fail(EXIT_BAD, "--%s is not an option of %s", rows[i].name,
                            one ? ladder->name : "all");
    return EXIT_DONE;
}

bool ladder_has_settings(const struct ladder_settings *settings)
{
    return settings->bits || settings->digit_bits || settings->columns;
}

static bool same_number(const struct rung *a, const struct rung *b)
{
    return a->number == b->number && a->parameter == b->parameter && a->run == b->run;
}

/* Rows of a rung that differ only in the parameter become one row. */
const struct ladder *ladder_adapt(const struct ladder *ladder,
                                  const struct ladder_settings *settings)
{
    int count = 0;
    if (!ladder_has_settings(settings)) return ladder;
    for (int i = 0; i < ladder->rung_count && count < MOST_RUNGS; i++) {
        struct rung *rung = &adapted.rungs[count];
        char *text = adapted.texts[count];
        *rung = ladder->rungs[i];
        snprintf(text, TEXT_BYTES, "%s", rung->text);
        if (!ladder->adapt(settings, rung, text, TEXT_BYTES)) continue;
        rung->text = text;
        bool repeated = false;
        for (int k = 0; k < count; k++) repeated = repeated || same_number(&adapted.rungs[k], rung);
        count += !repeated;
    }
    adapted.ladder = *ladder;
    adapted.ladder.rungs = adapted.rungs;
    adapted.ladder.rung_count = count;
    return &adapted.ladder;
}

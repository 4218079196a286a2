/*
 * quantile/cuda/choice.c - chooses the algorithm for elements of given ranks on the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cuda/choice.h"

#include "quantile/cuda/common.h"
#include "quantile/cuda/tuning.h"

#include <string.h>

/* Names that end in "ids" exist for partitions around several ranks only,
 * "block" for single elements. */
static const struct quantile_algorithm algorithms[] = {
    {
        .name = "select",
        .what = "filters the elements near the ranks by a sample, and searches these by digits; "
                "partitions in one pass",
        .when = "n is large, there are at most 16 ranks or quantiles, and a partition is around at "
                "most 14 ranks",
        .select = true,
    },
    {
        .name = "sort",
        .what = "sorts positions, or keys for quantiles and for an integer without its position; "
                "partitions in one pass",
        .when = "n is small, or there are more than 16 ranks or quantiles",
    },
    {
        .name = "select_ids",
        .what = "finds the elements of the ranks as select does; partitions by a stable sort of "
                "part numbers",
        .when = "n is large, and a partition is around 15 or 16 ranks",
        .select = true,
        .ids = true,
    },
    {
        .name = "sort_ids",
        .what = "sorts positions; partitions by a stable sort of part numbers",
        .when = "a partition is around more than 16 ranks, or around 15 or 16 if n is small",
        .ids = true,
    },
    {
        .name = "block",
        .what = "one block searches the element by digits",
        .when = "one element of at most 32,768, or 16,384 of 64 bits",
        .few = true,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* A row of QUANTILE_TUNING in tuning.h. */
struct quantile_tuning {
    int key_bytes;
    size_t nth, positions, positions_many, quantiles, quantiles_many;
};

static const struct quantile_tuning *tuning_of(const struct echi_quantile *s)
{
#define ROW(key, nth, positions, positions_many, quantiles, quantiles_many)                        \
    { key, nth, positions, positions_many, quantiles, quantiles_many },
    static const struct quantile_tuning rows[] = { QUANTILE_TUNING(ROW) };
#undef ROW
    const struct quantile_tuning *row = rows;
    while (row->key_bytes != s->key_bytes) row++;
    return row;
}

bool echi_quantile_has_parts(const struct echi_quantile *s)
{
    return s->call == ECH_QUANTILE_CALL_PARTITION && s->count > 1;
}

bool echi_quantile_sorts_keys(const struct echi_quantile *s)
{
    return s->call == ECH_QUANTILE_CALL_NTH && !s->has_index && !echi_dtype_is_float(s->dtype);
}

/* The number of elements from which "select" is chosen. */
static size_t select_least(const struct echi_quantile *s)
{
    const struct quantile_tuning *t = tuning_of(s);
    const bool many = s->count > QUANTILE_FEW;
    if (echi_quantile_sorts_keys(s)) return QUANTILE_SORTED_KEYS;
    if (s->call == ECH_QUANTILE_CALL_QUANTILES) return many ? t->quantiles_many : t->quantiles;
    if (s->call == ECH_QUANTILE_CALL_NTH) return t->nth; /* the query does not know the outputs */
    return many ? t->positions_many : t->positions;
}

static bool can_select(const struct echi_quantile *s)
{
    return s->count <= QUANTILE_SELECT;
}

bool echi_quantile_has_sample(const struct echi_quantile *s)
{
    return s->key_bytes > (s->call == ECH_QUANTILE_CALL_NTH && s->n <= QUANTILE_WHOLE ? 2 : 1);
}

static bool can_few(const struct echi_quantile *s)
{
    return s->call == ECH_QUANTILE_CALL_NTH && s->n <= QUANTILE_FEW_KEYS &&
           s->n <= (size_t)QUANTILE_FEW_BYTES / (size_t)s->key_bytes;
}

static bool can_place(const struct echi_quantile *s)
{
    return !echi_quantile_has_parts(s) || s->count <= QUANTILE_PLACE_RANKS;
}

const struct quantile_algorithm *echi_quantile_named(const char *name)
{
    for (int i = 0; i < ALGORITHMS; i++)
        if (strcmp(name, algorithms[i].name) == 0) return &algorithms[i];
    return NULL;
}

const struct quantile_algorithm *echi_quantile_choose(const struct echi_quantile *s)
{
    const struct quantile_algorithm *forced =
        s->algorithm ? echi_quantile_named(s->algorithm) : NULL;
    const bool select = can_select(s) && (forced ? forced->select : s->n >= select_least(s));
    const bool ids = echi_quantile_has_parts(s) && (!can_place(s) || (forced && forced->ids));
    const bool few = can_few(s) && (!forced || forced->few);
    const struct quantile_algorithm *row = algorithms;
    while (row->few != few || (!few && (row->select != select || row->ids != ids))) row++;
    return row;
}

void echi_quantile_explain_choice(const struct echi_quantile *s, struct echi_explain *e)
{
    const struct quantile_algorithm *chosen = echi_quantile_choose(s);
    echi_explain_algorithm(e, true, chosen->name, "%s", chosen->what);
    for (const struct quantile_algorithm *row = algorithms; row < algorithms + ALGORITHMS; row++)
        if (row != chosen && (!row->select || can_select(s)) && (!row->few || can_few(s)) &&
            (row->ids ? echi_quantile_has_parts(s) : can_place(s)))
            echi_explain_algorithm(e, false, row->name, "%s", row->what);
}

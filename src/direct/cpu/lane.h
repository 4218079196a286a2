/*
 * direct/cpu/lane.h - what lanes.h and small.h have in common for f32 and f64: vectors of f64, and
 * the reports of a group of systems.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/determinant.h"
#include "direct/direct.h"
#include "cpu/vector.h"

enum {
    WIDTH = VECTOR_BYTES / 8,
    MASKED = 8 /* rows of a column whose rows are exchanged without branches, maximum */
};

typedef double wide __attribute__((vector_size(WIDTH * 8)));
typedef int64_t wide_mask __attribute__((vector_size(WIDTH * 8)));

INLINE wide all_wide(double x)
{
    return x - (wide){ 0 };
}

INLINE wide_mask all_whole(size_t x)
{
    return (int64_t)x - (wide_mask){ 0 };
}

INLINE wide_mask select_whole(wide_mask mask, wide_mask yes, wide_mask no)
{
    return (mask & yes) | (~mask & no);
}

INLINE wide select_wide(wide_mask mask, wide yes, wide no)
{
    return (wide)select_whole(mask, (wide_mask)yes, (wide_mask)no);
}

INLINE bool any_lane(wide_mask mask)
{
    int64_t any = 0;
    for (int l = 0; l < WIDTH; l++) any |= mask[l];
    return any != 0;
}

INLINE wide_mask is_finite(wide x)
{
    return x - x == 0;
}

/* frexp() of normal numbers: returns mantissas, adds exponents; marks the lanes of others. */
INLINE wide split_lanes(wide x, wide_mask *exponent, wide_mask *odd)
{
    const wide_mask bits = (wide_mask)x, field = (bits >> 52) & 0x7ff;
    *odd |= (field == 0) | (field == 0x7ff);
    *exponent += field - 0x3fe;
    return (wide)((bits & ~((int64_t)0x7ff << 52)) | (int64_t)0x3fe << 52);
}

/* A maximum, and the first place of an element that is not finite; -1: none. */
struct largest {
    wide value;
    wide_mask bad;
};

INLINE struct largest no_largest(void)
{
    return (struct largest){ .bad = ~(wide_mask){ 0 } };
}

INLINE void add_largest(struct largest *largest, wide here, size_t i)
{
    const wide_mask bad = ~is_finite(here) & (largest->bad < 0);
    largest->bad = select_whole(bad, all_whole(i), largest->bad);
    largest->value = select_wide(~(here <= largest->value), here, largest->value);
}

/* The systems of a group, one per lane; the lanes from count on are idle. */
struct lanes {
    size_t count;
    size_t system[WIDTH];
    ech_direct_report report[WIDTH];
    wide row, column; /* norms of the matrices */
};

static void begin_lanes(struct lanes *lanes, ech_factor kind)
{
    for (size_t l = lanes->count; l < WIDTH; l++)
        lanes->system[l] = lanes->system[lanes->count - 1];
    for (size_t l = 0; l < WIDTH; l++)
        lanes->report[l] = (ech_direct_report){ .kind = kind, .log_abs = NAN };
}

/* Ends the systems with a place that is not negative. */
static void stop_lanes(struct lanes *lanes, ech_direct_status status, wide_mask place)
{
    for (size_t l = 0; l < lanes->count; l++) {
        if (place[l] < 0 || lanes->report[l].status != ECH_DIRECT_STATUS_SOLVED) continue;
        lanes->report[l].status = status;
        lanes->report[l].failed_index = (uint64_t)place[l];
    }
}

static wide_mask solved_lanes(const struct lanes *lanes)
{
    wide_mask solved = { 0 };
    for (size_t l = 0; l < lanes->count; l++)
        solved[l] = lanes->report[l].status == ECH_DIRECT_STATUS_SOLVED ? -1 : 0;
    return solved;
}

/* Writes the reports, except of lanes that are processed again. */
static void finish_lanes(struct lanes *lanes, const struct echi_direct *call, uint32_t again)
{
    for (size_t l = 0; l < lanes->count; l++) {
        ech_direct_report *report = &lanes->report[l];
        if (again >> l & 1) continue;
        if (report->status != ECH_DIRECT_STATUS_SOLVED) report->backward_error = 0;
        echi_direct_put(call, lanes->system[l], report);
    }
}

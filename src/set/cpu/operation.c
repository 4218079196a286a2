/*
 * set/cpu/operation.c - ech_set_operation() on the CPU: threads compute parts of the result.
 *
 *     merged inputs   |  part 0  |  part 1  | ...     parts of nearly the same size: boundaries do
 *     a               |    |        |                 not divide a pair of equal elements (balanced
 *     b               |      |  |                     path: Green, Odeh, Birk, 2014)
 *     out             | r0 .. | r1 ...|  r2 .         a result begins where it would if the parts
 *     out             | r0 r1 r2 |                    before it had kept all; then it is moved
 *
 * One thread writes the results next to each other. Parts depend only on the sizes of the inputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cpu/cpu.h"
#include "cpu/vector.h"
#include "set/set.h"

enum {
    PART = 1 << 14,   /* elements, at least */
    MOST_PARTS = 256, /* several per thread */
    RUN = 16,         /* elements that are tested together */
    BLOCK = 64,       /* steps between two tests and copies of keys */
    AT_ONCE = 4096    /* elements of each input that one thread processes */
};

#define FROM_B ((uint32_t)1 << 31) /* a position in b */

/* How many elements of a and of b precede a part. */
struct bound {
    size_t at[2];
};

/* bytes is a constant for the sizes that move_values() lists. */
INLINE void move_sized(const struct echi_set *s, const struct bound *begin, const uint32_t *from,
                       size_t n, size_t to, size_t bytes)
{
    const char *a = (const char *)s->values[0] + begin->at[0] * bytes;
    const char *b = s->kept & ECHI_SET_B ? (const char *)s->values[1] + begin->at[1] * bytes : NULL;
    char *out = (char *)s->values_out + to * bytes;
    for (size_t k = 0; k < n; k++) {
        const size_t place = from[k] & ~FROM_B;
        memcpy(out + k * bytes, (from[k] & FROM_B ? b : a) + place * bytes, bytes);
    }
}

static void move_values(const struct echi_set *s, const struct bound *begin, const uint32_t *from,
                        size_t n, size_t to)
{
    switch (s->value_bytes) {
    case 1:
        move_sized(s, begin, from, n, to, 1);
        break;
    case 2:
        move_sized(s, begin, from, n, to, 2);
        break;
    case 4:
        move_sized(s, begin, from, n, to, 4);
        break;
    case 8:
        move_sized(s, begin, from, n, to, 8);
        break;
    case 16:
        move_sized(s, begin, from, n, to, 16);
        break;
    default:
        move_sized(s, begin, from, n, to, s->value_bytes);
    }
}

#define FROM u8
#include "set/cpu/width.h"
#define FROM u16
#include "set/cpu/width.h"
#define FROM u32
#include "set/cpu/width.h"
#define FROM u64
#include "set/cpu/width.h"

static const struct {
    struct bound (*bound)(const struct echi_set *s, size_t diagonal);
    size_t (*part)(const struct echi_set *s, struct bound at, const struct bound *end, size_t to);
} widths[9] = { [1] = { bound_u8, part_u8 },
                [2] = { bound_u16, part_u16 },
                [4] = { bound_u32, part_u32 },
                [8] = { bound_u64, part_u64 } };

struct job {
    struct echi_set s;
    size_t parts, each; /* elements of a part */
    struct bound bounds[MOST_PARTS + 1];
    size_t counts[MOST_PARTS];
};

static void find_bound(void *arg, size_t p, int thread)
{
    struct job *job = arg;
    (void)thread;
    job->bounds[p] = widths[job->s.key_bytes].bound(&job->s, p * job->each);
}

/* Inputs that are not sorted may have boundaries in descending order. */
static void order_bounds(struct job *job)
{
    const size_t *n = job->s.n;
    job->bounds[job->parts] = (struct bound){ { n[0], n[1] } };
    for (size_t p = 1; p <= job->parts; p++)
        for (int i = 0; i < 2; i++)
            if (job->bounds[p].at[i] < job->bounds[p - 1].at[i])
                job->bounds[p].at[i] = job->bounds[p - 1].at[i];
}

/* The first place of the result of a part if the parts before it kept all that they could. */
static size_t place_of(const struct job *job, size_t p)
{
    return echi_set_capacity(&job->s, job->bounds[p].at[0], job->bounds[p].at[1]);
}

static void run_part(void *arg, size_t p, int thread)
{
    struct job *job = arg;
    (void)thread;
    job->counts[p] = widths[job->s.key_bytes].part(&job->s, job->bounds[p], &job->bounds[p + 1],
                                                   place_of(job, p));
}

static void move_down(void *array, size_t bytes, size_t to, size_t from, size_t n)
{
    if (n && bytes && to != from)
        memmove((char *)array + to * bytes, (char *)array + from * bytes, n * bytes);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct job job = { .s = *(const struct echi_set *)request };
    const struct echi_set *s = &job.s;
    const size_t n = s->n[0] + s->n[1], most = n / PART + 1;
    const int threads = echi_parallel_for_bytes(ctx, 2 * n * (s->key_bytes + s->value_bytes));
    (void)plan;
    (void)work;
    size_t to = 0;
    job.parts = threads == 1 ? 1 : echi_min(most, MOST_PARTS);
    job.each = n / job.parts + (n % job.parts != 0);
    while (job.parts > 1 && (job.parts - 1) * job.each >= n) job.parts--;
    echi_parallel(threads, job.parts, find_bound, &job);
    order_bounds(&job);
    echi_parallel(threads, job.parts, run_part, &job);
    for (size_t p = 0; p < job.parts; p++) {
        const size_t from = place_of(&job, p);
        move_down(s->keys_out, s->key_bytes, to, from, job.counts[p]);
        move_down(s->values_out, s->value_bytes, to, from, job.counts[p]);
        to += job.counts[p];
    }
    *s->count = to;
    return ECH_OK;
}

static bool set_at_once(const void *request)
{
    const struct echi_set *s = request;
    const struct bound none = { { 0, 0 } }, all = { { s->n[0], s->n[1] } };
    if (s->n[0] > AT_ONCE || s->n[1] > AT_ONCE) return false;
    *s->count = widths[s->key_bytes].part(s, none, &all, 0);
    return true;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    (void)request;
    echi_explain_algorithm(e, true, "balanced_path",
                           "threads compute at most %d parts of at least %d elements, whose "
                           "boundaries they find by binary search",
                           MOST_PARTS, PART);
    return ECH_OK;
}

const struct echi_operation echi_cpu_set = { .explain = explain, .run = run, .quick = set_at_once };

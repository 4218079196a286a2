/*
 * sort/cuda/msd_plan.cuh - the lists of an MSD radix sort: the segments that a level divides, and
 * the leaves.
 *
 *     sort_msd_begin   one segment, the array
 *     sort_msd_plan    from the counts of a level's segments: the position of each digit's keys;
 *                      which digits become leaves, which segments of the next level
 *
 * For small arrays sort_msd_count_plan, or sort_pairs_count_plan, counts the first level, and its
 * last block plans it: three launches would take longer than the work.  One block checks whether
 * keys are skewed (small_lsd.cuh); if so, the lists stay empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_PLAN_CUH
#define ECHI_SORT_CUDA_MSD_PLAN_CUH

#if VAL_BYTES
#include "sort/cuda/msd_pairs.cuh"
#else
#include "sort/cuda/lengths.cuh"
#include "sort/cuda/msd.cuh"
#include "sort/cuda/msd_value.cuh"
#endif

/* The array as one segment. */
static __device__ inline struct sort_segment msd_whole(const struct sort_common &a)
{
    struct sort_segment s = {};
    s.count = (uint32_t)a.n;
    s.source = SORT_IN;
    s.shift = KEY_BITS - SORT_DIGIT_BITS;
    s.bits = SORT_DIGIT_BITS;
    return s;
}

/* Clears the counters, except those of segments and their tiles: one thread. */
static __device__ inline void msd_clear(const msd_args &a)
{
    a.lists.msd->leaves = a.lists.msd->skewed_leaves = a.lists.msd->seen = a.lists.msd->arrived = 0;
    a.lists.msd->skewed = a.lists.msd->lsd_arrived[0] = a.lists.msd->lsd_arrived[1] = 0;
    a.lists.msd->even = a.lists.msd->uneven = a.lists.msd->packed_tiles = 0;
    a.lists.msd->mapping = SORT_MAPS_NONE;
    a.lists.msd->map_arrived = a.lists.msd->first_leaf = 0;
    a.lists.msd->copies = SORT_COPIES_NONE;
}

/* The lists before the first level; seen: the order of all keys, if it is known. */
static __device__ inline void msd_begin(const msd_args &a, uint32_t seen)
{
    const uint32_t me = threadIdx.x;
    if (me <= SORT_MSD_LEVELS) {
        a.lists.msd->segments[me] = me == 0;
        a.lists.msd->tiles[me] = me == 0 ? msd_tiles((uint32_t)a.common.n) : 0;
    }
    if (me != 0) return;
    a.lists.segments[0][0] = msd_whole(a.common);
    msd_clear(a);
    a.lists.msd->seen = seen;
}

/* The same with cleared counts, by SORT_BINS threads. */
static __device__ inline void msd_begin_counts(const msd_args &a, uint32_t seen)
{
    const uint32_t bin = threadIdx.x;
    a.lists.counts[0][bin] = 0;
    if (bin < SORT_MSD_ROW - SORT_BINS) a.lists.counts[0][SORT_BINS + bin] = 0;
    msd_begin(a, seen);
}

#if VAL_BYTES
/* The shift of clamped digits. */
static __device__ inline uint32_t msd_first_shift(ukey low, ukey high)
{
    uint32_t shift = 0;
    while ((high >> shift) - (low >> shift) >= SORT_BINS) shift++;
    return shift;
}

/* Chooses the first digit for keys that are mostly in [low, high], according to a sample; one
 * thread.  Others have the first or the last digit. */
static __device__ inline void msd_begin_digit(const msd_args &a, ukey low, ukey high)
{
    struct sort_segment &s = a.lists.segments[0][0];
    const uint32_t shift = msd_first_shift(low, high);
    const ukey first = low >> shift, last = high >> shift, most = (ukey) ~(ukey)0 >> shift;
    const ukey spare = (SORT_BINS - 1 - (last - first)) / 2; /* digits before and after */
    s.known = SORT_CLAMPED;
    s.shift = shift;
    s.prefix = most < SORT_BINS || first < spare ? 0 : first - spare;
}
#endif

/* The copy of input that is in order in a sample; one thread, after msd_clear(). */
static __device__ inline void msd_begin_copy(const msd_args &a, uint32_t seen)
{
    a.lists.msd->seen = seen;
    if (!msd_ordered(a)) return;
    a.lists.msd->copies = seen & SORT_SEEN_FALL ? SORT_COPIES_REVERSED : SORT_COPIES_FORWARD;
}

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_msd_begin(const __grid_constant__ msd_args a)
{
    wait_for_earlier();
    msd_begin_counts(a, 0);
}

/* ---- A block of at least SORT_BINS threads per segment ---- */

struct msd_plan_shared {
    uint32_t begin[SORT_BINS + 1];  /* of each bin, relative to the segment */
    uint32_t filled[MSD_WORDS + 1]; /* a bit for each nonempty bin; a sentinel below */
    uint32_t begins[MSD_WORDS];     /* a bit for each bin that begins a leaf or exceeds one */
    uint32_t sums[MSD_WORDS];
    uint32_t leaves;                                             /* the segment's first */
    uint32_t large;                                              /* bins larger than a leaf */
    uint32_t bin[SORT_BINS], index[SORT_BINS], first[SORT_BINS]; /* of those */
#if PAIRS_PACKED
    uint32_t unpacks[SORT_BINS]; /* the first leaf that moves such a bin to the output */
#endif
#if !VAL_BYTES
    ukey bound[SORT_BINS + 1]; /* for digits by value or by length: each bin's first key */
#endif
};

/* The next set bit below or above one; SORT_BINS if there is none. */
static __device__ inline uint32_t bit_below(const uint32_t *bits, uint32_t bin)
{
    uint32_t word = bin / 32, left = bits[word] & ((1u << bin % 32) - 1);
    while (!left && word) left = bits[--word];
    return left ? word * 32 + 31 - __clz((int)left) : (uint32_t)SORT_BINS;
}

static __device__ inline uint32_t bit_above(const uint32_t *bits, uint32_t bin)
{
    uint32_t word = bin / 32, left = bits[word] & ~((2u << bin % 32) - 1);
    while (!left && word < MSD_WORDS - 1) left = bits[++word];
    return left ? word * 32 + __ffs((int)left) - 1 : (uint32_t)SORT_BINS;
}

/* Chooses the bits by which a bin's keys are divided: the highest bits that differ.  On the second
 * level one bit less if that still makes leaves.  On deeper levels, bits are removed while two more
 * than needed for leaves remain and the remaining levels can divide the rest: fewer bins, longer
 * runs, and more keys per leaf. */
static __device__ inline void msd_choose_digit(const msd_args &a, struct sort_segment &s,
                                               uint64_t rest, int level)
{
    const uint32_t top = 64 - __clzll((long long)rest);
    uint32_t bits = SORT_DIGIT_BITS;
    const int after =
        (a.lists.levels - 1 - level) * SORT_DIGIT_BITS; /* bits that the remaining levels can
                                                           divide */
    if (level == 1 && s.count >> (bits - 1) <= SORT_LEAF_FULL(msd_leaf(a)) &&
        (int)(top - bits) < after)
        bits--;
    while (level > 1 && bits > 3 && s.count >> (bits - 3) <= SORT_LEAF_FULL(msd_leaf(a)) &&
           (int)(top - bits) < after)
        bits--;
    s.bits = min(bits, top);
    s.shift = top - s.bits;
}

#if !VAL_BYTES
/* Digits by length make fewer levels if many keys have zeros in the first bits that differ: digits
 * of bits would leave most of these keys in one bin.  But they divide fewer bits, which must be few
 * enough for the remaining levels. */
static __device__ inline void msd_choose_length(const msd_args &a, struct sort_segment &s,
                                                uint64_t rest, int level)
{
    const uint32_t top = 64 - __clzll((long long)rest);
    const struct length_map map = length_map_of(top, SORT_BINS);
    if (top <= 2 * SORT_DIGIT_BITS ||
        (int)(top - map.kept - 1) > (a.lists.levels - 1 - level) * SORT_DIGIT_BITS)
        return;
    s.known = SORT_BY_LENGTH;
    s.shift = s.bits = top;
}
#endif

/* A bin with too many keys becomes a segment of the next level; zeros: many keys have zeros in
 * their first bits. */
static __device__ inline uint32_t msd_add_segment(const msd_args &a, int level, uint64_t origin,
                                                  uint32_t begin, uint32_t count, uint32_t source,
                                                  uint64_t rest, bool zeros, uint32_t *first_tile)
{
    struct sort_segment s = {};
    const uint32_t index = atomicAdd(&a.lists.msd->segments[level], 1);
    s.begin = begin;
    s.count = count;
    s.first_tile = *first_tile = atomicAdd(&a.lists.msd->tiles[level], msd_tiles(count));
    s.source = source;
#if VAL_BYTES
    s.prefix = origin;
#else
    (void)origin;
#endif
    msd_choose_digit(a, s, rest, level);
#if !VAL_BYTES
    if (zeros) msd_choose_length(a, s, rest, level);
#else
    (void)zeros;
#endif
    a.lists.segments[level & 1][index] = s;
    return index;
}

/* Its keys are in low + [0, span] and differ in these bits at most; evenly: they may be assumed to
 * fill this range. */
static __device__ inline void msd_add_leaf(const msd_args &a, uint32_t at, uint32_t begin,
                                           uint32_t count, uint32_t source, uint64_t low,
                                           uint64_t span, uint64_t differ, bool evenly)
{
    const uint32_t bits = evenly ? 64u - __clzll((long long)span) : (uint32_t)SORT_LEAF_UNEVEN;
    const uint32_t same = __ffsll((long long)differ | (long long)(1ull << 63)) - 1;
    struct sort_leaf leaf = { begin, count, source, bits | same << SORT_LEAF_SAME, low };
    a.lists.leaves[at] = leaf;
}

/* Known properties of a segment's keys: one of them, and the bits in which they differ. */
struct segment_keys {
    uint64_t first, differ;
};

/* The same for a bin's keys: they agree in all bits outside rest, and these bits are those of
 * low. */
struct bin_keys {
    uint64_t low, rest;
};

/* Whether the first keys of bins are in the plan's array. */
template <int BY_VALUE> static __device__ inline bool msd_bounded(const struct sort_segment &s)
{
    return !VAL_BYTES && s.known & (SORT_BY_LENGTH | (BY_VALUE ? SORT_BY_VALUE : 0));
}

template <int BY_VALUE>
static __device__ inline struct bin_keys msd_bin_keys(const struct msd_plan_shared &p,
                                                      const struct sort_segment &s,
                                                      const struct segment_keys &k, uint32_t bin)
{
    struct bin_keys keys = {};
    if (!msd_bounded<BY_VALUE>(s)) {
        const uint64_t digits = (((uint64_t)1 << s.bits) - 1) << s.shift;
        keys.low = (k.first & ~k.differ & ~digits) | (uint64_t)bin << s.shift;
        keys.rest = k.differ & (((uint64_t)1 << s.shift) - 1);
    }
#if VAL_BYTES
    keys.low = pairs_origin(s); /* a leaf needs no keys, but this position */
    if (pairs_outside(s, bin) || s.known & SORT_BY_MAP) keys.rest = k.differ;
#else
    if (msd_bounded<BY_VALUE>(s)) {
        const uint64_t low = p.bound[bin], high = (ukey)(p.bound[bin + 1] - 1);
        const uint64_t mask = bits_mask(bits_of(low ^ high));
        keys.rest = k.differ & mask;
        keys.low = (low & ~mask) | (k.first & mask & ~k.differ);
    }
#endif
    (void)p;
    return keys;
}

/* The warps process the bins that are larger than a leaf: they write the map of their tiles or, if
 * all keys of a bin are equal, cut it into leaves.  Packed bins need both: leaves that move them to
 * the output, where the next level divides them. */
template <int BY_VALUE>
static __device__ inline void
msd_add_large(const msd_args &a, int level, const struct msd_plan_shared &p,
              const struct sort_segment &s, const struct segment_keys &known, uint32_t source)
{
    const uint32_t lane = lane_id(), most = msd_leaf(a);
    for (uint32_t i = threadIdx.x / 32; i < p.large; i += blockDim.x / 32) {
        const uint32_t bin = p.bin[i], begin = s.begin + p.begin[bin];
        const uint32_t count = p.begin[bin + 1] - p.begin[bin];
        const struct bin_keys keys = msd_bin_keys<BY_VALUE>(p, s, known, bin);
        uint32_t leaf = p.first[i], from = source;
        if (keys.rest) {
            uint32_t *counts = msd_counts(a, level, p.index[i]);
            for (uint32_t b = lane; b < SORT_MSD_ROW; b += 32) counts[b] = 0;
            for (uint32_t t = lane; t < msd_tiles(count); t += 32)
                a.lists.tile_of[level & 1][p.first[i] + t] = p.index[i];
#if PAIRS_PACKED
            if (source != SORT_PACKED) continue;
            leaf = p.unpacks[i];
            from = SORT_UNPACKS;
#else
            continue;
#endif
        }
        const uint32_t pieces = (count - 1) / most + 1;
        for (uint32_t t = lane; t < pieces; t += 32)
            msd_add_leaf(a, p.leaves + leaf + t, begin + t * most, min(most, count - t * most),
                         from, keys.low, 0, 0, true);
    }
}

#if VAL_BYTES
/* Adds the counts of a digit over a segment's pieces, except the last one of each block:
 * msd_pairs.cu.  Several loads are in flight at once, because the next ones wait for them. */
static __device__ inline void msd_add_pieces(const msd_args &a, int level,
                                             const struct sort_segment &s, uint32_t bin)
{
    enum { STEP = 32 };
    const uint32_t each = pairs_each(a, a.lists.msd->tiles[level]), first = s.first_tile / each;
    const uint32_t pieces = (s.first_tile + msd_tiles(s.count) - 1) / each - first;
    uint32_t *piece = a.pieces + (uint64_t)first * SORT_BINS + bin, sum = 0;
    for (uint32_t i = 0; i < pieces; i += STEP) {
        uint32_t count[STEP];
#pragma unroll
        for (uint32_t j = 0; j < STEP; j++)
            count[j] = i + j < pieces ? piece[(i + j) * SORT_BINS] : 0;
#pragma unroll
        for (uint32_t j = 0; j < STEP; j++) {
            sum += count[j];
            if (i + j < pieces) piece[(i + j) * SORT_BINS] = sum;
        }
    }
}
#endif

#if !VAL_BYTES
static __device__ inline struct length_map msd_length_map(const struct sort_segment &s)
{
    return s.known & SORT_BY_LENGTH ? length_map_of(s.bits, SORT_BINS >> (s.shift - s.bits))
                                    : length_map{};
}

/* The first key of each bin by value or by length, and the first one after the last bin. */
template <int BY_VALUE>
static __device__ inline void msd_bounds(const msd_args &a, struct msd_plan_shared &p,
                                         const struct sort_segment &s, ukey key)
{
    const uint32_t first = (uint32_t)s.prefix, last = first + (1u << s.bits << s.shift);
    const struct length_map map = msd_length_map(s);
    for (uint32_t bin = threadIdx.x; bin <= SORT_BINS; bin += blockDim.x)
        if (s.known & SORT_BY_LENGTH)
            p.bound[bin] = (key & ~(ukey)bits_mask(s.shift)) +
                           length_map_first(map, min(bin, map.each << (s.shift - s.bits)));
        else if (BY_VALUE)
            p.bound[bin] =
                value_first(a.common.order, value_map_of(a), min(first + (bin << s.shift), last));
    __syncthreads(); /* the keys are written */
}
#endif

/* BY_VALUE: the segment's digits may be by value (msd_value.cuh). */
template <int BY_VALUE>
static __device__ inline void msd_plan_segment(const msd_args &a, int level,
                                               struct msd_plan_shared &p, uint32_t index)
{
    struct sort_segment *at = &a.lists.segments[level & 1][index];
    const struct sort_segment s = *at;
    uint32_t *counts = msd_counts(a, level, index);
    const uint64_t differ = *(const uint64_t *)(counts + SORT_BINS);
    const uint32_t bin = threadIdx.x, word = bin / 32;
    const bool is_bin = bin < SORT_BINS;
    const uint32_t count = is_bin ? counts[bin] : 0;
    const uint32_t before = bins_scan(count, p.sums);
    if (is_bin) p.begin[bin] = before;
    if (bin == 0) {
        p.begin[SORT_BINS] = s.count;
        p.large = p.filled[MSD_WORDS] = 0;
    }
    uint32_t filled = __ballot_sync(WARP_ALL, count != 0);
    if (is_bin && lane_id() == 0) p.filled[word] = filled;
    /* Packed pairs always move, and leaves are packed.  The barrier also makes the starts of the
     * bins visible. */
    const bool packed = s.source == SORT_PACKED;
    const int constant = __syncthreads_or(count == s.count && !packed);
    const uint32_t source = constant || packed ? s.source : msd_target(s);
    if (is_bin) counts[bin] = s.begin + before;
#if VAL_BYTES
    if (is_bin && !packed) msd_add_pieces(a, level, s, bin);
#else
    const bool bounded = msd_bounded<BY_VALUE>(s);
    const ukey key = msd_load(a.common, s.source, keys_of(a.common, s.source)[s.begin]);
    if (bounded) msd_bounds<BY_VALUE>(a, p, s, key);
    /* Keys with the same digit are equal if they differ in no lower bit, so the counts suffice. */
    if (!bounded && !(differ & bits_mask(s.shift))) {
        if (bin == 0) {
            at->prefix = key & ~(bits_mask(s.bits) << s.shift);
            at->moves = SORT_WRITTEN;
        }
        __syncthreads(); /* shared memory may be written again */
        return;
    }
#endif
    if (bin == 0) at->moves = constant ? SORT_STAYS : SORT_MOVES;

#if VAL_BYTES
    const struct segment_keys known = { 0, differ };
#else
    const struct segment_keys known = { key, differ };
#endif
    /* Adjacent bins share a leaf while they begin in the same half of one. */
    const uint32_t most = msd_leaf(a), join = most / 2;
    const uint32_t prior = is_bin ? bit_below(p.filled, bin) : (uint32_t)SORT_BINS;
    bool begins = count != 0;
    if (count && count <= join && prior < SORT_BINS)
        begins = before - p.begin[prior] > join || before / join != p.begin[prior] / join;
    const uint32_t boundary = __ballot_sync(WARP_ALL, begins);
    if (is_bin && lane_id() == 0) p.begins[word] = boundary;
    const bool large = count > most;
    const struct bin_keys keys = msd_bin_keys<BY_VALUE>(p, s, known, bin % SORT_BINS);
    const uint64_t rest = keys.rest;
    const uint32_t leaves = !begins ? 0 : !large ? 1 : rest && !packed ? 0 : (count - 1) / most + 1;
    const uint32_t leaf = bins_scan(leaves, p.sums);
    if (bin == SORT_BINS - 1) p.leaves = atomicAdd(&a.lists.msd->leaves, leaf + leaves);
    if (large) {
        const uint32_t i = atomicAdd(&p.large, 1);
        p.bin[i] = bin;
        p.first[i] = leaf;
#if PAIRS_PACKED
        p.unpacks[i] = leaf;
#endif
        if (rest)
            p.index[i] = msd_add_segment(a, level + 1, keys.low, s.begin + before, count,
                                         packed ? (uint32_t)SORT_OUT : source, rest,
                                         s.moves == SORT_ZEROS_BELOW, &p.first[i]);
    }
    __syncthreads(); /* leaves and large bins are known */
    if (leaves && !large) {
        const uint32_t next = bit_above(p.begins, bin), last = bit_below(p.filled, next);
        uint64_t low = keys.low, span = 0, digits = 0;
        bool evenly = level < MSD_EVEN_LEVELS;
#if !VAL_BYTES
        if (bounded) {
            low = p.bound[bin];
            span = (ukey)(p.bound[last + 1] - 1) - low;
            const struct length_map map = msd_length_map(s);
            if (s.known & SORT_BY_LENGTH)
                evenly = evenly && map.skip == 0 && (last - bin) >> map.kept == 0;
        } else
#endif
        {
            span = (uint64_t)(last - bin) << s.shift | rest;
            digits = bits_mask(s.bits) << s.shift;
        }
        msd_add_leaf(a, p.leaves + leaf, s.begin + before, p.begin[next] - before, source, low,
                     span, differ | digits, evenly);
    }
    msd_add_large<BY_VALUE>(a, level + 1, p, s, known, source);
    __syncthreads(); /* shared memory may be written again */
}

template <int BY_VALUE>
static __device__ inline void msd_plan_level(const msd_args &a, int level,
                                             struct msd_plan_shared &p)
{
    const uint32_t segments = a.lists.msd->segments[level];
    for (uint32_t i = blockIdx.x; i < segments; i += gridDim.x)
        msd_plan_segment<BY_VALUE>(a, level, p, i);
}

extern "C" __global__ void __launch_bounds__(SORT_BINS)
    sort_msd_plan(const __grid_constant__ msd_args a)
{
    __shared__ struct msd_plan_shared p;
    wait_for_earlier();
    if (!msd_ordered(a)) msd_plan_level<!VAL_BYTES>(a, a.common.level, p);
}

/* ---- Small arrays ---- */

/* After the block has added its counts to a.first: the last block to do so copies the sums, resets
 * them for the next launch, and plans the first level. */
static __device__ inline void msd_plan_counted(const msd_args &a, struct msd_plan_shared &p)
{
    const uint32_t me = threadIdx.x;
    uint32_t last = 0;
    __syncthreads(); /* this block's counts are added */
    if (me == 0) last = add_acq_rel(&a.lists.first_counts->done, 1) == gridDim.x - 1;
    if (!__syncthreads_or(last)) return; /* also: the counts of all blocks can be read */
    const uint32_t seen = a.lists.first_counts->seen, skewed = a.lists.first_counts->skewed;
    if (!skewed && me < SORT_MSD_ROW) a.lists.counts[0][me] = a.lists.first_counts->counts[me];
    if (me < SORT_MSD_ROW) a.lists.first_counts->counts[me] = 0;
    msd_begin(a, seen);
    __syncthreads(); /* the lists are complete, and all threads have read the findings of the
                        counting blocks */
    if (me == 0)
        a.lists.first_counts->seen = a.lists.first_counts->done = a.lists.first_counts->skewed = 0;
    if (msd_ordered(a)) return;
    if (!skewed) {
        msd_plan_segment<0>(a, 0, p, 0);
        return;
    }
    if (me == 0) { /* the levels find no segments: small_lsd.cuh sorts */
        a.lists.msd->segments[0] = a.lists.msd->tiles[0] = 0;
        a.lists.msd->skewed = 1;
    }
    rank_clear(a.lists.small_lsd_sums, SORT_SMALL_LSD_BLOCKS / SORT_SMALL_LSD_GROUP * SORT_BINS);
}

#endif

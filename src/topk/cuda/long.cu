/*
 * topk/cuda/long.cu - kernels of top-k selections from long groups, which many blocks read.
 *
 *     topk_gather   the samples of a few groups, by many blocks
 *     topk_sample   a pivot that almost always at least k elements are not worse than, from a
 *                   sample
 *     topk_filter   reads the groups; lists the elements that are better than the pivot and counts
 *                   those equal to it in each chunk; topk_filter_8 of keys of 8 bits
 *     topk_ties     if there are fewer than k better ones, lists the first equal ones, from the
 *                   chunks that have them
 *     topk_bins_8, topk_list_8
 *                   one array of keys of 8 bits: instead of the kernels above (bytes.cuh)
 *     topk_repair   if the pivot was wrong, or there are too many candidates: lists exactly k
 *                   elements; a block per group reads it several times
 *     topk_finish   the k best of the candidates, for k that fits on chip
 *     topk_fill     otherwise they are sorted: fills the rest of their list; of 64-bit keys, writes
 *                   keys and positions to two arrays
 *
 * A sample of random positions has the same distribution for every order of the elements.  Each of
 * its elements is at a random position of one of as many equal parts of the group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/sample.cuh"
#include "cuda/device/vectors.cuh"
#include "topk/cuda/narrow.cuh"
#if KEY_BITS == 16
#include "topk/cuda/bytes.cuh"
#endif

/* ---- Long groups ---- */

static __device__ inline uint64_t long_count(const struct topk_args &a)
{
    return a.lists ? min((uint64_t)a.lists->longs, a.long_room) : a.long_rows;
}

static __device__ inline struct group long_group(const struct topk_args &a, uint64_t i)
{
    return group_at(a, a.lists ? a.longs[i].group : i);
}

struct sample_keys {
    const ekey *keys;
    uint32_t n;
    template <typename call> __device__ inline void each(const call &f) const
    {
        for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) f(keys[i]);
    }
};

/* The pivot, from the sample in shared memory. */
static __device__ inline ekey sample_pivot(struct narrow_shared &s, const ekey *keys,
                                           uint32_t sample, ekey low, ekey high, uint32_t rank)
{
    const struct sample_keys from = { keys, sample };
    block_range(s, low, high); /* and all keys are written */
    return block_narrow(s, from, low, high, rank, rank + rank / 8, (uint32_t)TOPK_BINS_LOG).high;
}

/* The pivot if its rank is at most TOPK_LOW_RANK, from the best key of each thread: there are so
 * many threads that the best keys of the sample are almost always those of different threads.
 * Every thread returns it. */
static __device__ inline ekey low_pivot(struct narrow_shared &s, ekey low, uint32_t rank)
{
    ekey *shared = (ekey *)s.bins;
    const ekey best = block_smallest(low, shared);
    if (threadIdx.x == rank - 1) shared[0] = best;
    __syncthreads(); /* the pivot is written */
    return shared[0];
}

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_gather(const __grid_constant__ struct topk_args a)
{
    const uint32_t sample = (uint32_t)a.row_sample;
    wait_for_earlier();
    for (uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; t < a.long_rows * sample;
         t += (uint64_t)gridDim.x * blockDim.x)
        ((ekey *)a.samples)[t] =
            group_key(a, long_group(a, t / sample), sample_position(a.cols, sample, t % sample));
}

/* The pivot of long group i. */
static __device__ inline ekey group_pivot(const struct topk_args &a, struct narrow_shared &s,
                                          const struct group &group, uint64_t i)
{
    ekey *keys = (ekey *)shared_bytes, low = WORST, high = 0;
    const uint32_t sample = (uint32_t)(a.lists ? topk_sample_size(group.n) : a.row_sample);
    const uint32_t rank = (uint32_t)(a.lists ? a.longs[i].rank : a.row_rank);
#pragma unroll 16
    for (uint32_t j = threadIdx.x; j < sample; j += blockDim.x) {
        const ekey e = a.samples ? ((const ekey *)a.samples)[i * sample + j]
                                 : group_key(a, group, sample_position(group.n, sample, j));
        if (rank > TOPK_LOW_RANK) keys[j] = e;
        low = min(low, e);
        high = max(high, e);
    }
    return rank <= TOPK_LOW_RANK ? low_pivot(s, low, rank)
                                 : sample_pivot(s, keys, sample, low, high, rank);
}

/* The number of chunks of a row. */
static __device__ inline uint64_t row_chunks(const struct topk_args &a)
{
    return (a.cols + a.chunk - 1) / a.chunk;
}

/* The fields of a row that are not zero, except the pivot. */
static __device__ inline struct topk_long long_row(const struct topk_args &a, uint64_t i)
{
    struct topk_long l = {};
    l.group = i;
    l.room = a.row_room;
    l.candidates = i * a.row_room;
    l.chunks = row_chunks(a);
    l.first_chunk = i * l.chunks;
    return l;
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_sample(const __grid_constant__ struct topk_args a)
{
    __shared__ struct narrow_shared s;
    wait_for_earlier();
    for (uint64_t i = blockIdx.x; i < long_count(a); i += gridDim.x) {
        const struct group group = long_group(a, i);
        const ekey pivot = group.k ? group_pivot(a, s, group, i) : 0;
        if (threadIdx.x == 0) {
            struct topk_long l = a.lists ? a.longs[i] : long_row(a, i);
            l.pivot = pivot;
            a.longs[i] = l;
        }
        __syncthreads(); /* all threads have read the keys */
    }
}

/* ---- The filter ---- */

struct filter {
    word *buffer;          /* in shared memory */
    uint32_t *slots, *end; /* words reserved; the end of those that fit in the buffer */
    struct topk_long *l;
    word *candidates; /* of the group */
    uint64_t room;
    struct equals pivot; /* split keys */
};

/* Reserves places for `count` words; the result is a place in the buffer if all fit there,
 * otherwise in the list of candidates, plus TOPK_FILTER_BUFFER. */
static __device__ inline uint64_t filter_reserve(const struct filter &f, uint32_t count)
{
    const uint32_t slot = atomicAdd(f.slots, count);
    if (slot + count <= TOPK_FILTER_BUFFER) return slot;
    if (slot < TOPK_FILTER_BUFFER) atomicMin(f.end, slot);
    return TOPK_FILTER_BUFFER +
           atomicAdd((unsigned long long *)&f.l->better, (unsigned long long)count);
}

/* Appends the keys that are better than the pivot; at(j) is the position of key j. */
template <int COUNT, typename function>
static __device__ inline void filter_keys(const struct topk_args &a, const struct filter &f,
                                          const ekey (&split)[COUNT], const function &at,
                                          uint32_t &equal)
{
    uint32_t better = 0;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        better += split[j] < f.pivot.low;
        equal += split[j] >= f.pivot.low && split[j] <= f.pivot.high;
    }
    if (better == 0) return;
    uint64_t to = filter_reserve(f, better);
    ekey best = WORST;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        if (split[j] >= f.pivot.low) continue;
        const ekey e = merged_key(a, split[j]);
        const word w = word_of(e, (uint32_t)at(j));
        best = min(best, e);
        if (to < TOPK_FILTER_BUFFER)
            f.buffer[to] = w;
        else if (to - TOPK_FILTER_BUFFER < f.room)
            f.candidates[to - TOPK_FILTER_BUFFER] = w;
        to++;
    }
    if (to > TOPK_FILTER_BUFFER && ~(uint64_t)best > load_relaxed_u64(&f.l->best_inverted))
        atomicMax((unsigned long long *)&f.l->best_inverted, ~(unsigned long long)best);
}

/* Tests elements of the group. */
struct filter_elements {
    const struct topk_args &a;
    const struct filter &f;
    uint32_t equal; /* to the pivot, in this thread */
    template <int UNROLL, typename key>
    __device__ inline void batch(const vector_of<key> (&vectors)[UNROLL], uint64_t first)
    {
        enum { KEYS = vector_of<key>::KEYS, COUNT = UNROLL * KEYS };
        ekey split[COUNT], best = WORST;
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            split[j] = split_key(a, vectors[j / KEYS].of[j % KEYS]);
            best = min(best, split[j]);
        }
        if (best > f.pivot.high) return;
        filter_keys(
            a, f, split, [&](int j) { return batch_position<KEYS>(first, j); }, equal);
    }
    __device__ inline void single(ukey key, uint64_t i, bool valid)
    {
        const ekey split[1] = { split_key(a, key) };
        if (!valid) return;
        filter_keys(
            a, f, split, [&](int) { return i; }, equal);
    }
};

/* Tests the elements [first, end) of the group, which are of type key.  Returns how many are equal
 * to the pivot. */
template <typename key>
static __device__ inline uint32_t filter_range(const struct topk_args &a, const struct group &group,
                                               const struct filter &f, uint64_t first, uint64_t end)
{
    enum { UNROLL = KEY_BYTES < 4 ? 2 : 4 };
    struct filter_elements elements = { a, f, 0 };
    block_vectors<UNROLL>((const key *)a.in + group.begin, first, end, elements);
    return elements.equal;
}

/* Appends the buffer to the group's candidates. */
static __device__ inline void filter_flush(const struct filter &f, uint64_t *first)
{
    const uint32_t count = min(*f.slots, *f.end);
    ekey best = WORST;
    if (threadIdx.x == 0 && count)
        *first = atomicAdd((unsigned long long *)&f.l->better, (unsigned long long)count);
    __syncthreads(); /* the position is known */
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        best = min(best, word_key(f.buffer[i]));
        if (*first + i < f.room) f.candidates[*first + i] = f.buffer[i];
    }
    best = lanes_min<32>(best);
    if (lane_id() == 0 && best != WORST && ~(uint64_t)best > load_relaxed_u64(&f.l->best_inverted))
        atomicMax((unsigned long long *)&f.l->best_inverted, ~(unsigned long long)best);
}

/* The long group of a chunk, and its number of the chunk. */
static __device__ inline uint64_t chunk_group(const struct topk_args &a, uint64_t c)
{
    return a.lists ? (uint64_t)a.chunk_of[c] : c / row_chunks(a);
}

static __device__ inline uint64_t chunk_count(const struct topk_args &a)
{
    if (a.lists) return min((uint64_t)a.lists->chunks, a.chunk_room);
    return a.long_rows * row_chunks(a);
}

template <typename key> static __device__ inline void filter_chunks(const struct topk_args &a)
{
    __shared__ word buffer[TOPK_FILTER_BUFFER];
    __shared__ uint32_t slots, buffer_end, equal;
    __shared__ uint64_t first;
    wait_for_earlier();
    for (uint64_t c = blockIdx.x; c < chunk_count(a); c += gridDim.x) {
        struct topk_long *l = &a.longs[chunk_group(a, c)];
        const struct group group = group_at(a, l->group);
        if (threadIdx.x == 0) {
            slots = equal = 0;
            buffer_end = TOPK_FILTER_BUFFER;
        }
        __syncthreads(); /* the counters are zero */
        if (group.k) {
            struct filter f;
            f.buffer = buffer;
            f.slots = &slots;
            f.end = &buffer_end;
            f.l = l;
            f.candidates = (word *)a.candidates + l->candidates;
            f.room = l->room;
            f.pivot = equals_of(a, (ekey)l->pivot);
            const uint64_t from = (c - l->first_chunk) * a.chunk;
            const uint32_t mine =
                filter_range<key>(a, group, f, from, min(from + a.chunk, group.n));
            if (mine) atomicAdd(&equal, mine);
            __syncthreads(); /* all candidates are in the buffer */
            filter_flush(f, &first);
        }
        if (threadIdx.x == 0) {
            a.chunk_equal[c] = equal;
            if (equal) atomicAdd((unsigned long long *)&l->equal, (unsigned long long)equal);
        }
        __syncthreads(); /* all threads have read the buffer */
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_filter(const __grid_constant__ struct topk_args a)
{
    filter_chunks<ukey>(a);
}

#if KEY_BITS == 16
extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_filter_8(const __grid_constant__ struct topk_args a)
{
    filter_chunks<uint8_t>(a);
}
#endif

/* ---- Equal elements ---- */

/* The pivot was wrong, or there are too many candidates. */
static __device__ inline bool is_wrong(const struct topk_long &l, uint64_t k)
{
    return l.better > l.room || l.better + l.equal < k;
}

/* Lists the first `need` elements of the chunk that are equal to the pivot. */
static __device__ inline void list_equal(const struct topk_args &a, const struct group &group,
                                         const struct topk_long &l, uint64_t from, word *to,
                                         uint64_t need, uint32_t *sums)
{
    const uint64_t end = min(from + a.chunk, group.n);
    uint64_t before = 0;
    for (; from < end && before < need; from += blockDim.x) {
        const uint64_t i = from + threadIdx.x;
        const bool equal = i < end && group_key(a, group, i) == (ekey)l.pivot;
        const uint32_t lanes = __ballot_sync(WARP_ALL, equal);
        if (lane_id() == 0) sums[threadIdx.x / 32] = __popc(lanes);
        __syncthreads(); /* the counts of warps are written */
        uint64_t at = before + __popc(lanes & lanes_below());
        for (uint32_t w = 0; w < blockDim.x / 32; w++) {
            if (w < threadIdx.x / 32) at += sums[w];
            before += sums[w];
        }
        if (equal && at < need) to[at] = word_of((ekey)l.pivot, (uint32_t)i);
        __syncthreads(); /* all threads have read */
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_ties(const __grid_constant__ struct topk_args a)
{
    __shared__ uint64_t sums[TOPK_FILTER_THREADS / 32];
    __shared__ uint32_t counts[TOPK_FILTER_THREADS / 32];
    wait_for_earlier();
    if (!a.lists && a.long_rows == 1 && a.longs[0].better >= a.k) return;
    for (uint64_t c = blockIdx.x; c < chunk_count(a); c += gridDim.x) {
        if (a.chunk_equal[c] == 0) continue;
        const struct topk_long l = a.longs[chunk_group(a, c)];
        const struct group group = group_at(a, l.group);
        if (l.better >= group.k || is_wrong(l, group.k)) continue;
        const uint64_t need = group.k - l.better,
                       before = count_before(a.chunk_equal, l.first_chunk, c, need, sums);
        if (before >= need) { /* so do the group's later chunks */
            c += (l.first_chunk + l.chunks - 1 - c) / gridDim.x * gridDim.x;
            continue;
        }
        list_equal(a, group, l, (c - l.first_chunk) * a.chunk,
                   (word *)a.candidates + l.candidates + l.better + before, need - before, counts);
    }
}

/* ---- The exact selection of a whole group, for the rare cases ---- */

struct group_words {
    const struct topk_args &a;
    const struct group &group;
    __device__ inline word operator()(uint32_t i) const
    {
        return word_of(group_key(a, group, i), i);
    }
};

/* Lists the words within the limit and returns their number; at most `room` are stored.  For a few
 * of many words.  PLACED: as block_network() sorts them. */
template <bool PLACED, typename words>
static __device__ inline uint32_t block_list(struct narrow_shared &s, const words &from,
                                             const struct limit &limit, word *to, uint64_t room)
{
    if (threadIdx.x == 0) s.slots = 0;
    __syncthreads(); /* the counter is zero */
    from.each([&](word w) {
        if (!within_limit(limit, w)) return;
        const uint32_t slot = atomicAdd(&s.slots, 1);
        if (slot < room) to[PLACED ? network_place<word>(slot) : slot] = w;
    });
    __syncthreads(); /* all words are listed */
    return s.slots;
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_repair(const __grid_constant__ struct topk_args a)
{
    __shared__ struct narrow_shared s;
    wait_for_earlier();
    for (uint64_t i = blockIdx.x; i < long_count(a); i += gridDim.x) {
        struct topk_long *l = &a.longs[i];
        const struct group group = long_group(a, i);
        if (group.k == 0 || !is_wrong(*l, group.k)) continue;
        const struct group_words at = { a, group };
        const indexed_words<struct group_words> words = { at, (uint32_t)group.n };
        const uint32_t k = (uint32_t)group.k;
        const struct limit limit =
            block_limit(s, words, (ekey)0, WORST, k, k, (uint32_t)TOPK_BINS_LOG);
        block_list<false>(s, words, limit, (word *)a.candidates + l->candidates, l->room);
        if (threadIdx.x == 0) {
            l->better = group.k;
            l->best_inverted = ~(uint64_t)0; /* the best key is not known */
            l->pivot = limit.key;
        }
    }
}

/* ---- The result ---- */

struct listed_words {
    const word *words;
    __device__ inline word operator()(uint32_t i) const
    {
        return words[i];
    }
};

static __device__ inline void finish(const struct topk_args &a, struct narrow_shared &s,
                                     const struct group &group, const struct topk_long &l,
                                     const word *list, uint32_t count)
{
    word *words = (word *)shared_bytes;
    const uint32_t k = (uint32_t)group.k, room = topk_room(k);
    const struct listed_words at = { list };
    const indexed_words<struct listed_words> from = { at, count };
    struct limit limit = { WORST, ~0u };
    uint32_t some = ~0u;
    if (k <= 32 && count > room) { /* few words are not worse than the k-th best of the threads */
        word best = ~(word)0;
        from.each([&](word w) { best = w < best ? w : best; });
        best = block_smallest(best, words);
        if (threadIdx.x == k - 1) words[0] = best;
        __syncthreads(); /* the bound is written */
        limit.key = word_key(words[0]);
        limit.position = word_position(words[0]);
        __syncthreads(); /* and read */
        some = block_list<true>(s, from, limit, words, room);
    }
    if (some > room) {
        if (count > room)
            limit = block_limit(s, from, (ekey)min(~l.best_inverted, l.pivot), (ekey)l.pivot, k,
                                room, (uint32_t)TOPK_BINS_LOG);
        some = block_list<true>(s, from, limit, words, room);
    }
    write_best(a, group, words, some);
}

extern "C" __global__ void __launch_bounds__(TOPK_THREADS)
    topk_finish(const __grid_constant__ struct topk_args a)
{
    __shared__ struct narrow_shared s;
    wait_for_earlier();
    for (uint64_t i = blockIdx.x; i < long_count(a); i += gridDim.x) {
        const struct topk_long l = a.longs[i];
        const struct group group = long_group(a, i);
        if (group.k == 0) continue;
        const uint32_t count = (uint32_t)max(l.better, group.k);
        const word *list = (const word *)a.candidates + l.candidates;
        finish(a, s, group, l, list, count);
        __syncthreads(); /* all threads have read the words */
    }
}

extern "C" __global__ void __launch_bounds__(TOPK_FILTER_THREADS)
    topk_fill(const __grid_constant__ struct topk_args a)
{
    word *words = (word *)a.candidates;
    wait_for_earlier();
    const struct topk_long l = a.longs[0];
    const struct group group = long_group(a, 0);
    const uint64_t count = max(l.better, group.k);
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < l.room;
         i += (uint64_t)gridDim.x * blockDim.x) {
#if KEY_BITS == 64
        const word w = i < count ? words[i] : ~(word)0;
        a.split_keys[i] = word_key(w);
        a.split_positions[i] = word_position(w);
#else
        if (i >= count) words[i] = ~(word)0;
#endif
    }
}

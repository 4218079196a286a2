/*
 * strings/cuda/kernels.cu - sorts of strings: keys, and ties of keys.
 *
 *     strings_prefix   the common prefix of all strings
 *     strings_first    the keys after this prefix; reports invalid offsets
 *     strings_heads    in sorted order, marks each string that is in no tie with the one before it
 *     strings_ties     one tile of marks per block: numbers the ties by decoupled look-back, and
 *                      writes where they begin and end
 *     strings_common   how many bytes the strings of each tie have in common
 *     strings_keys     the keys of strings in ties after these bytes
 *
 *     keys      ab. ab. ab. ca. cb. cb. d        a warp processes 32 words of marks
 *     heads      1   0   0   1   1   0   1
 *     ties      |----------|    |------|
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK_THREADS STRINGS_THREADS
#include "strings/cuda/text.cuh"
#include "strings/cuda/ties.cuh"
#include "cuda/device/data_error.cuh"

/* ---- All strings ---- */

/* The common prefix that strings_prefix has found.  With nulls, whose bytes have no effect, it is
 * not searched for. */
static __device__ inline uint64_t prefix_of(const struct strings_args &a)
{
    if (a.array.validity) return 0;
    const uint64_t most = min((uint64_t)STRINGS_MOST_COMMON, echi_string_at(&a.array, 0).n);
    return min(most, ~load_relaxed_u64(&a.state->shorter));
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_prefix(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    if (a.array.validity) return;
    const struct echi_string first = echi_string_at(&a.array, 0);
    for (uint64_t base = grid_first() - lane_id(); base < a.n; base += grid_step()) {
        const uint64_t most = __shfl_sync(WARP_ALL, (unsigned long long)prefix_of(a), 0);
        if (most == 0) return;
        const uint64_t i = min(base + lane_id(), a.n - 1);
        const uint64_t found = text_common(a.array, first, echi_string_at(&a.array, i), 0, most);
        const uint64_t least = warp_min(found);
        if (lane_id() == 0 && least < most)
            atomicMax((unsigned long long *)&a.state->shorter, ~(unsigned long long)least);
    }
}

static __device__ inline void check_offsets(const struct strings_args &a, uint64_t i)
{
    const uint64_t begin = echi_index_at(a.array.offsets, a.array.index, i);
    const uint64_t end = echi_index_at(a.array.offsets, a.array.index, i + 1);
    if (begin > a.array.total_bytes)
        report_error(a.data_error, ECHI_STRINGS_PAST_END, i);
    else if (end > a.array.total_bytes)
        report_error(a.data_error, ECHI_STRINGS_PAST_END, i + 1);
    else if (end < begin)
        report_error(a.data_error, ECHI_OFFSETS_DECREASE, i + 1);
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_first(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    const uint64_t depth = prefix_of(a);
    for (uint64_t i = grid_first(); i < a.n; i += grid_step()) {
        check_offsets(a, i);
        a.first_keys[i] = echi_string_null(&a.array, i) ? echi_string_null_key(&a.array)
                                                        : text_key(a.array, i, depth);
    }
}

/* ---- Ties ---- */

/* Marks the strings of a word; old has their earlier marks. */
static __device__ inline uint32_t mark_word(const struct strings_args &a, uint64_t word,
                                            uint32_t old)
{
    const uint64_t i = 32 * word + lane_id();
    bool head = i == 0 || i >= a.n || (old >> lane_id() & 1);
    if (!head) {
        const uint64_t key = a.keys[i];
        head = key != a.keys[i - 1] || !echi_string_open(&a.array, key);
    }
    return __ballot_sync(WARP_ALL, head);
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_heads(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    if (a.level && a.state->ties[a.level - 1] == 0) return;
    for (uint64_t base = grid_first() - lane_id(); base < a.head_words; base += grid_step()) {
        uint32_t mine = a.level ? a.heads[base + lane_id()] : 0;
        uint32_t todo = __ballot_sync(WARP_ALL, mine != WARP_ALL);
        for (; todo; todo &= todo - 1) {
            const int j = __ffs((int)todo) - 1;
            const uint32_t old = __shfl_sync(WARP_ALL, mine, j);
            const uint32_t marked = mark_word(a, base + j, old);
            if ((int)lane_id() == j) mine = marked;
        }
        a.heads[base + lane_id()] = mine;
    }
}

/* Writes the ties that begin or end in a word.  before: the ties that begin before it. */
static __device__ inline void write_ties(const struct strings_args &a, uint64_t word,
                                         uint32_t begins, uint32_t ends, uint64_t before)
{
    const uint64_t i = 32 * word + lane_id();
    const uint32_t through = lanes_below() | 1u << lane_id();
    const uint64_t tie = before + __popc(begins & through) - 1;
    if (begins >> lane_id() & 1) {
        store_number(a.begins, a.index_bytes, tie, i);
        a.common[tie] = ~(uint64_t)0;
    }
    if (ends >> lane_id() & 1) store_number(a.ends, a.index_bytes, tie, i + 1);
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_ties(const __grid_constant__ struct strings_args a)
{
    __shared__ struct ties_shared s;
    wait_for_earlier();
    if (a.level && a.state->ties[a.level - 1] == 0) return;
    const uint64_t word = grid_first();
    const uint32_t heads = a.heads[word], after = marks_after(a, word, heads);
    const uint32_t begins = heads & ~after, ends = ~heads & after;
    const uint32_t through = warp_scan(__popc(begins));
    uint32_t total;
    const uint32_t own = __shfl_sync(WARP_ALL, through, 31);
    uint64_t *words = a.words + a.level * a.launch_words + STRINGS_WORDS_FIRST;
    const uint64_t before = ties_ranks(s, words, own, &total, a.n) + through - __popc(begins);
    store_number(a.before, a.index_bytes, word, before);
    uint32_t todo = __ballot_sync(WARP_ALL, begins | ends);
    for (; todo; todo &= todo - 1) { /* a lane per string */
        const int j = __ffs((int)todo) - 1;
        write_ties(a, word - lane_id() + j, __shfl_sync(WARP_ALL, begins, j),
                   __shfl_sync(WARP_ALL, ends, j),
                   __shfl_sync(WARP_ALL, (unsigned long long)before, j));
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) a.state->ties[a.level] = s.before + total;
}

/* ---- Common prefixes of ties ---- */

/* The bytes in which a tie is known to agree, before its common prefix is searched for. */
static __device__ inline uint64_t known_depth(const struct strings_args &a, uint64_t i)
{
    return a.level ? a.depths[i] : prefix_of(a) + STRINGS_STEP;
}

static __device__ inline void common_word(const struct strings_args &a, uint64_t i,
                                          const struct member &m)
{
    uint64_t found = ~(uint64_t)0;
    if (m.here && !m.head) {
        const uint64_t depth = known_depth(a, i);
        const uint64_t x = number_at(a.indices, a.index_bytes, i - 1);
        const uint64_t y = number_at(a.indices, a.index_bytes, i);
        found = text_common(a.array, echi_string_at(&a.array, x), echi_string_at(&a.array, y),
                            depth, depth + STRINGS_MOST_COMMON);
    }
    /* If the word has one tie, one lane reports for all. */
    const uint64_t first = __shfl_sync(WARP_ALL, (unsigned long long)m.tie, 0);
    if (m.members == WARP_ALL && __all_sync(WARP_ALL, m.tie == first)) {
        found = warp_min(found);
        if (lane_id()) found = ~(uint64_t)0;
    }
    if (found != ~(uint64_t)0)
        atomicMin((unsigned long long *)a.common + m.tie, (unsigned long long)found);
}

/* ---- The next keys ---- */

static __device__ inline void key_word(const struct strings_args &a, uint64_t i,
                                       const struct member &m)
{
    if (!m.here) return;
    const uint64_t depth = a.common[m.tie];
    a.keys[i] = text_key(a.array, number_at(a.indices, a.index_bytes, i), depth);
    a.depths[i] = (uint32_t)min(depth + STRINGS_STEP, (uint64_t)~0u);
}

/* The words that have strings in ties, by a warp with a lane per string. */
template <int KEYS> static __device__ inline void for_members(const struct strings_args &a)
{
    if (a.state->ties[a.level] == 0) return;
    for (uint64_t base = grid_first() - lane_id(); base < a.head_words; base += grid_step()) {
        const uint64_t word = base + lane_id();
        const uint32_t heads = a.heads[word], after = marks_after(a, word, heads);
        const uint64_t before = number_at(a.before, a.index_bytes, word);
        uint32_t todo = __ballot_sync(WARP_ALL, (heads & after) != WARP_ALL);
        for (; todo; todo &= todo - 1) {
            const int j = __ffs((int)todo) - 1;
            const struct member m =
                member_of(__shfl_sync(WARP_ALL, heads, j), __shfl_sync(WARP_ALL, after, j),
                          __shfl_sync(WARP_ALL, (unsigned long long)before, j));
            if (KEYS)
                key_word(a, 32 * (base + j) + lane_id(), m);
            else
                common_word(a, 32 * (base + j) + lane_id(), m);
        }
    }
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_common(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    for_members<0>(a);
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_keys(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    for_members<1>(a);
}

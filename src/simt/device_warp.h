/*
 * simt/device_warp.h - collective operations of a warp: shuffles, votes, matches, reductions.
 *
 * Each is one call of simt_warp(). The bits of a value of 4 or 8 bytes are passed in a 64-bit word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DEVICE_WARP_H
#define SIMT_DEVICE_WARP_H

/* The bits of a value as a word, and back. */
template <typename T> static __forceinline__ uint64_t simt_bits(T value)
{
    static_assert(sizeof(T) <= 8, "this operation does not support values of this size");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename T> static __forceinline__ T simt_value(uint64_t bits)
{
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* Macros if no type must be deduced, so that messages show the kernel's own line. */
static constexpr unsigned simt_mask(unsigned mask = 0xffffffffu)
{
    return mask;
}
#define __syncwarp(...) ((void)simt_warp(SIMT_WARP_SYNC, simt_mask(__VA_ARGS__), 0, 0))
#define __activemask()  simt_active_mask()

/* ---- Shuffles ---- */

/* The segment of `width` lanes that contains a lane, as in PTX: shfl.sync. */
static __forceinline__ int simt_segment_first(int width)
{
    return (int)simt_lane() & (32 - width);
}

static __forceinline__ int simt_segment_last(int width)
{
    return simt_segment_first(width) | (~(32 - width) & 31);
}

/* The instructions use five bits of the distance. If the source is outside the segment, a lane
 * keeps its own value, with one exception, as in PTX: "xor" may read from preceding segments. */
static __forceinline__ unsigned simt_source_index(int lane, int width)
{
    return (unsigned)(simt_segment_first(width) | (lane & ~(32 - width) & 31));
}

static __forceinline__ unsigned simt_source_up(unsigned delta, int width)
{
    int source = (int)simt_lane() - (int)(delta & 31);
    return source >= simt_segment_first(width) ? (unsigned)source : simt_lane();
}

static __forceinline__ unsigned simt_source_down(unsigned delta, int width)
{
    int source = (int)simt_lane() + (int)(delta & 31);
    return source <= simt_segment_last(width) ? (unsigned)source : simt_lane();
}

static __forceinline__ unsigned simt_source_xor(int lane_mask, int width)
{
    int source = (int)simt_lane() ^ (lane_mask & 31);
    return source <= simt_segment_last(width) ? (unsigned)source : simt_lane();
}

template <typename T> static __forceinline__ T simt_shuffle(unsigned mask, T value, unsigned source)
{
    return simt_value<T>(simt_warp(SIMT_WARP_SHUFFLE, mask, simt_bits(value), source));
}

/* clang-format off */
static __forceinline__ int __shfl_sync(unsigned mask, int value, int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ unsigned __shfl_sync(unsigned mask, unsigned value, int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ long __shfl_sync(unsigned mask, long value, int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ unsigned long __shfl_sync(unsigned mask, unsigned long value, int lane,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ long long __shfl_sync(unsigned mask, long long value, int lane,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ unsigned long long __shfl_sync(unsigned mask, unsigned long long value,
    int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ float __shfl_sync(unsigned mask, float value, int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ double __shfl_sync(unsigned mask, double value, int lane, int width = 32)
{ return simt_shuffle(mask, value, simt_source_index(lane, width)); }
static __forceinline__ int __shfl_up_sync(unsigned mask, int value, unsigned delta, int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ unsigned __shfl_up_sync(unsigned mask, unsigned value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ long __shfl_up_sync(unsigned mask, long value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ unsigned long __shfl_up_sync(unsigned mask, unsigned long value,
    unsigned delta, int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ long long __shfl_up_sync(unsigned mask, long long value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ unsigned long long __shfl_up_sync(unsigned mask, unsigned long long value,
    unsigned delta, int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ float __shfl_up_sync(unsigned mask, float value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ double __shfl_up_sync(unsigned mask, double value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_up(delta, width)); }
static __forceinline__ int __shfl_down_sync(unsigned mask, int value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ unsigned __shfl_down_sync(unsigned mask, unsigned value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ long __shfl_down_sync(unsigned mask, long value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ unsigned long __shfl_down_sync(unsigned mask, unsigned long value,
    unsigned delta, int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ long long __shfl_down_sync(unsigned mask, long long value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ unsigned long long __shfl_down_sync(unsigned mask, unsigned long long value,
    unsigned delta, int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ float __shfl_down_sync(unsigned mask, float value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ double __shfl_down_sync(unsigned mask, double value, unsigned delta,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_down(delta, width)); }
static __forceinline__ int __shfl_xor_sync(unsigned mask, int value, int lane_mask, int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ unsigned __shfl_xor_sync(unsigned mask, unsigned value, int lane_mask,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ long __shfl_xor_sync(unsigned mask, long value, int lane_mask,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ unsigned long __shfl_xor_sync(unsigned mask, unsigned long value,
    int lane_mask, int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ long long __shfl_xor_sync(unsigned mask, long long value, int lane_mask,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ unsigned long long __shfl_xor_sync(unsigned mask, unsigned long long value,
    int lane_mask, int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ float __shfl_xor_sync(unsigned mask, float value, int lane_mask,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
static __forceinline__ double __shfl_xor_sync(unsigned mask, double value, int lane_mask,
    int width = 32)
{ return simt_shuffle(mask, value, simt_source_xor(lane_mask, width)); }
/* clang-format on */

/* ---- Votes ---- */

#define __ballot_sync(mask, p) ((unsigned)simt_warp(SIMT_WARP_BALLOT, mask, (p) != 0, 0))
#define __any_sync(mask, p)    ((int)(__ballot_sync(mask, p) != 0))
#define __all_sync(mask, p)    ((int)(__ballot_sync(mask, !(p)) == 0))

/* ---- Matches ---- */

template <typename T> static __forceinline__ unsigned simt_match_any(unsigned mask, T value)
{
    return (unsigned)simt_warp(SIMT_WARP_MATCH_ANY, mask, simt_bits(value), 0);
}

template <typename T>
static __forceinline__ unsigned simt_match_all(unsigned mask, T value, int *same)
{
    unsigned lanes = (unsigned)simt_warp(SIMT_WARP_MATCH_ALL, mask, simt_bits(value), 0);
    *same = lanes != 0;
    return lanes;
}

/* clang-format off */
static __forceinline__ unsigned __match_any_sync(unsigned mask, int value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, unsigned value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, long value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, unsigned long value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, long long value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, unsigned long long value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, float value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_any_sync(unsigned mask, double value)
{ return simt_match_any(mask, value); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, int value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, unsigned value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, long value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, unsigned long value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, long long value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, unsigned long long value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, float value, int *same)
{ return simt_match_all(mask, value, same); }
static __forceinline__ unsigned __match_all_sync(unsigned mask, double value, int *same)
{ return simt_match_all(mask, value, same); }
/* clang-format on */

/* ---- Reductions ---- */

/* clang-format off */
static __forceinline__ unsigned __reduce_add_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_ADD, mask, (unsigned)value, 0); }
static __forceinline__ int __reduce_add_sync(unsigned mask, int value)
{ return (int)simt_warp(SIMT_WARP_ADD, mask, (unsigned)value, 0); }
static __forceinline__ unsigned __reduce_min_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_MIN_U32, mask, (unsigned)value, 0); }
static __forceinline__ int __reduce_min_sync(unsigned mask, int value)
{ return (int)simt_warp(SIMT_WARP_MIN_S32, mask, (unsigned)value, 0); }
static __forceinline__ unsigned __reduce_max_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_MAX_U32, mask, (unsigned)value, 0); }
static __forceinline__ int __reduce_max_sync(unsigned mask, int value)
{ return (int)simt_warp(SIMT_WARP_MAX_S32, mask, (unsigned)value, 0); }
static __forceinline__ unsigned __reduce_and_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_AND, mask, (unsigned)value, 0); }
static __forceinline__ unsigned __reduce_or_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_OR, mask, (unsigned)value, 0); }
static __forceinline__ unsigned __reduce_xor_sync(unsigned mask, unsigned value)
{ return (unsigned)simt_warp(SIMT_WARP_XOR, mask, (unsigned)value, 0); }
/* clang-format on */

#endif

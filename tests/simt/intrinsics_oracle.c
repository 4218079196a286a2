/*
 * simt/intrinsics_oracle.c - the launches that test the intrinsic functions, and their inputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#define SLOT(name) #name,
static const char *const integer_names[] = { INTEGER_SLOTS(SLOT) };
static const char *const float_names[] = { FLOAT_SLOTS(SLOT) };
static const char *const warp_names[] = { WARP_SLOTS(SLOT) };
static const char *const memory_names[] = { MEMORY_SLOTS(SLOT) };
static const char *const place_names[] = { PLACE_SLOTS(SLOT) };
#undef SLOT

/* clang-format off */
#define GROUP(name, NAME) NAME##_SLOT_COUNT, name##_names, intrinsics_expect_##name
const struct intrinsics_case intrinsics_cases[] = {
    { "intrinsics_integer", { 16, 1, 1 }, { 256, 1, 1 }, 0,      1, GROUP(integer, INTEGER) },
    { "intrinsics_float",   { 16, 1, 1 }, { 256, 1, 1 }, 0,      1, GROUP(float, FLOAT) },
    { "intrinsics_warp",    { 8, 1, 1 },  { 96, 1, 1 },  0,      1, GROUP(warp, WARP) },
    { "intrinsics_memory",  { 5, 1, 1 },  { 128, 1, 1 }, 0,      1, GROUP(memory, MEMORY) },
    { "intrinsics_place",   { 3, 2, 2 },  { 8, 4, 3 },   96 * 8, 1, GROUP(place, PLACE) },
};
/* clang-format on */
const int intrinsics_case_count = (int)(sizeof intrinsics_cases / sizeof *intrinsics_cases);

uint32_t intrinsics_threads(const struct intrinsics_case *c)
{
    return c->grid[0] * c->grid[1] * c->grid[2] * c->block[0] * c->block[1] * c->block[2];
}

static const uint32_t special[] = {
    0,           1,           2,           0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu,
    0xfffffffeu, 0x007fffffu, 0x00800000u, 0x3f000000u, 0x3fc00000u, 0x40200000u, 0xbf000000u,
    0xc0200000u, 0x4effffffu, 0x4f000000u, 0xcf000000u, 0xcf000001u, 0x4f7fffffu, 0x4f800000u,
    0x5effffffu, 0x5f000000u, 0xdf000000u, 0x5f800000u, 0x7f7fffffu, 0x7f800000u, 0xff800000u,
    0x7fc00000u, 0x41dfffffu, 0xc1e00000u, 0x43e00000u, 0xc3e00000u, 0x3fe00000u, 0x7ff00000u,
    0xfff00000u, 0x7ff80000u,
};

void intrinsics_fill(uint64_t *in, size_t words)
{
    const uint32_t specials = sizeof special / sizeof *special;
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < words; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint32_t choice = (uint32_t)(x >> 20);
        uint64_t one = special[choice % specials], other = special[choice / specials % specials];
        switch (x % 6) {
        case 0:
            in[i] = one << 32 | other;
            break;
        case 1:
            in[i] = choice & 1 ? one : one << 32;
            break;
        case 2:
            in[i] = x >> 40 & 63;
            break;
        case 3:
            in[i] = (x & 0x00000000ffffffffu) | one << 32;
            break;
        default:
            in[i] = x;
            break;
        }
    }
}

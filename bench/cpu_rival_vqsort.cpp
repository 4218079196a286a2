// cpu_rival_vqsort.cpp - competitor: vqsort of the installed Highway.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rivals.h"

#include <hwy/base.h>
#include <hwy/contrib/sort/vqsort.h>

#include <cstdint>
#include <cstring>

namespace {

template <class T> int keys(const job *j)
{
    static hwy::Sorter sorter;
    sorter(static_cast<T *>(j->keys), j->n, hwy::SortAscending());
    return 1;
}

int sort(const job *j)
{
    static const struct {
        const char *dtype;
        int (*run)(const job *);
    } rows[] = { { "u16", keys<uint16_t> }, { "u32", keys<uint32_t> }, { "u64", keys<uint64_t> },
                 { "f32", keys<float> },    { "f64", keys<double> } };
    if (j->values || j->threads > 1) return 0;
    for (const auto &row : rows)
        if (!std::strcmp(row.dtype, j->dtype)) return row.run(j);
    return 0;
}

} // namespace

const rival rival_vqsort = { "vqsort", VQSORT_VERSION, 0, sort };

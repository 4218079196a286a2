// cpu_vqsort.cpp - competitor of the grid: vqsort of the installed Highway.
// SPDX-License-Identifier: Apache-2.0
#include "cpu_rows.h"

#include <hwy/base.h>
#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace
{

template <class T> int keys(grid_case *c)
{
    static hwy::Sorter sorter;
    const size_t n = c->row.n;
    T *out = reinterpret_cast<T *>(c->out[1]);
    const bool rows = c->row.op == GRID_SORT_ROWS;
    if (c->row.op != GRID_SORT && c->row.op != GRID_DISTINCT && !rows) return 0;
    std::memcpy(out, rows ? c->in : grid_input(c), n * sizeof(T));
    for (size_t r = 0; rows && r < c->n_aux; r++)
        sorter(out + r * c->cols, c->cols, hwy::SortAscending());
    if (!rows) sorter(out, n, hwy::SortAscending());
    if (c->row.op == GRID_DISTINCT) *c->count[1] = uint64_t(std::unique(out, out + n) - out);
    return 1;
}

} // namespace

int row_vqsort(grid_case *c)
{
    switch (c->row.dtype) {
    case ECH_I16:
        return keys<int16_t>(c);
    case ECH_I32:
        return keys<int32_t>(c);
    case ECH_I64:
        return keys<int64_t>(c);
    case ECH_U16:
        return keys<uint16_t>(c);
    case ECH_U32:
        return keys<uint32_t>(c);
    case ECH_U64:
        return keys<uint64_t>(c);
    case ECH_F32:
        return keys<float>(c);
    case ECH_F64:
        return keys<double>(c);
    default:
        return 0;
    }
}

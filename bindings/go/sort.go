// sort.go - sorts, argsorts, top-k selections and sorts of tables.
//
// SPDX-License-Identifier: Apache-2.0

package echelon

/*
#include <echelon.h>

// Go forbids pointers to Go memory inside memory that it passes to C, but not as arguments.
static ech_status argsort_columns(ech_ctx *ctx, ech_sort_column *columns, void *index, size_t n,
                                  size_t count, ech_dtype dtype, const void *a, const void *b,
                                  const void *c, const void *d, const void *e, const void *f,
                                  const void *g, const void *h)
{
    const void *data[8] = { a, b, c, d, e, f, g, h };
    ech_sort_column filled[8];
    for (size_t i = 0; i < count; i++) {
        filled[i] = columns[i];
        filled[i].data = data[i];
    }
    return ech_argsort_columns(ctx, filled, index, n, count, dtype, NULL);
}
*/
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Order is the order of a sort.
type Order struct {
	Descending bool // the exact reverse of the ascending order
	Total      bool // floats as in IEEE 754 totalOrder; otherwise NaN is the largest
}

func (o Order) options() *C.ech_sort_options {
	options := &C.ech_sort_options{size: C.sizeof_ech_sort_options, descending: flag(o.Descending)}
	if o.Total {
		options.order = C.ECH_ORDER_TOTAL
	}
	return options
}

// Sort sorts keys in place.
func Sort[K Element](c *Context, keys []K, order Order) error {
	k, n := address(keys), C.size_t(len(keys))
	return c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_sort(raw, k, k, n, dtypeOf[K](), order.options())
	})
}

// SortPairs sorts keys in place and moves a value with each key. It is stable. Values must not contain
// pointers: sort their indices with Argsort instead.
func SortPairs[K Element, V any](c *Context, keys []K, values []V, order Order) error {
	if err := sameLength("values", len(values), "keys", len(keys)); err != nil {
		return err
	}
	var value V
	if t := reflect.TypeOf(&value).Elem(); hasPointers(t) {
		return &Error{ErrArg, fmt.Sprintf("values are %v, which contains pointers: use Argsort", t)}
	}
	k, v, n := address(keys), address(values), C.size_t(len(keys))
	bytes := C.size_t(unsafe.Sizeof(value))
	return c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_sort_pairs(raw, k, v, k, v, n, dtypeOf[K](), bytes, order.options())
	})
}

// Argsort writes the permutation that sorts the keys: index[i] is the position of the i-th key of the
// sorted sequence. It is stable.
func Argsort[K Element, I Index](c *Context, keys []K, index []I, order Order) error {
	if err := sameLength("index", len(index), "keys", len(keys)); err != nil {
		return err
	}
	k, i, n := address(keys), address(index), C.size_t(len(keys))
	return c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_argsort(raw, k, i, n, dtypeOf[K](), dtypeOf[I](), order.options())
	})
}

// TopK selects the k largest elements, the largest first, and their positions.
func TopK[T Element](c *Context, in []T, k int) (values []T, positions []int, err error) {
	return topK(c, in, k, false)
}

// BottomK selects the k smallest elements, the smallest first, and their positions.
func BottomK[T Element](c *Context, in []T, k int) (values []T, positions []int, err error) {
	return topK(c, in, k, true)
}

func topK[T Element](c *Context, in []T, k int, smallest bool) ([]T, []int, error) {
	if k < 0 || k > len(in) {
		return nil, nil, &Error{ErrArg, fmt.Sprintf("k is %d, but in has %d elements", k, len(in))}
	}
	values, positions := make([]T, k), make([]int, k)
	options := &C.ech_topk_options{size: C.sizeof_ech_topk_options, smallest: flag(smallest)}
	a, v, p := address(in), address(values), address(positions)
	err := c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_topk(raw, a, v, p, C.size_t(len(in)), C.size_t(k), dtypeOf[T](), C.ECH_I64, options)
	})
	return values, positions, err
}

// Column is a column of a table. NewColumn makes it.
type Column struct {
	data  unsafe.Pointer
	n     int
	dtype C.ech_dtype
	order Order
}

// NewColumn describes a column and its order. The column refers to data, which it does not copy.
func NewColumn[T Element](data []T, order Order) Column {
	return Column{address(data), len(data), dtypeOf[T](), order}
}

// ArgsortColumns writes the permutation that sorts the rows of a table: by the first column, equal
// elements of it by the second column, and so on, up to eight columns. It is stable.
func ArgsortColumns[I Index](c *Context, columns []Column, index []I) error {
	var data [8]unsafe.Pointer
	var raw [8]C.ech_sort_column
	if len(columns) > len(data) {
		return &Error{ErrArg, fmt.Sprintf("columns has %d columns, more than %d", len(columns), len(data))}
	}
	for i, column := range columns {
		name := fmt.Sprintf("columns[%d]", i)
		if err := sameLength("index", len(index), name, column.n); err != nil {
			return err
		}
		data[i] = column.data
		raw[i] = C.ech_sort_column{size: C.sizeof_ech_sort_column, dtype: column.dtype,
			descending: flag(column.order.Descending)}
		if column.order.Total {
			raw[i].order = C.ECH_ORDER_TOTAL
		}
	}
	out, n, count := address(index), C.size_t(len(index)), C.size_t(len(columns))
	return c.call(func(ctx *C.ech_ctx) C.ech_status {
		return C.argsort_columns(ctx, &raw[0], out, n, count, dtypeOf[I](), data[0], data[1], data[2],
			data[3], data[4], data[5], data[6], data[7])
	})
}

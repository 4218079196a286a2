// reduce.go - reductions, scans, histograms, selections and searches.
//
// SPDX-License-Identifier: Apache-2.0

package echelon

// #include <echelon.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// Op is the operator of a scan.
type Op int

// The operators. And, Or and Xor are bitwise, of integers only.
const (
	OpSum     Op = C.ECH_OP_SUM
	OpProduct Op = C.ECH_OP_PRODUCT
	OpMin     Op = C.ECH_OP_MIN
	OpMax     Op = C.ECH_OP_MAX
	OpAnd     Op = C.ECH_OP_AND
	OpOr      Op = C.ECH_OP_OR
	OpXor     Op = C.ECH_OP_XOR
)

// Compare is a test of an element x against a value v.
type Compare int

// The tests, as in echelon.h.
const (
	Nonzero      Compare = C.ECH_COMPARE_NONZERO // ignores v
	Less         Compare = C.ECH_COMPARE_LESS
	LessEqual    Compare = C.ECH_COMPARE_LESS_EQUAL
	Equal        Compare = C.ECH_COMPARE_EQUAL
	NotEqual     Compare = C.ECH_COMPARE_NOT_EQUAL
	GreaterEqual Compare = C.ECH_COMPARE_GREATER_EQUAL
	Greater      Compare = C.ECH_COMPARE_GREATER
	IsNaN        Compare = C.ECH_COMPARE_IS_NAN // ignores v
)

// reduce stores a result of the type that ech_reduce_dtype() states at out.
func reduce[T Element](c *Context, op C.ech_op, in []T, out unsafe.Pointer) error {
	a, n := address(in), C.size_t(len(in))
	return c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_reduce(raw, op, a, out, n, dtypeOf[T](), nil)
	})
}

// Sum adds up the elements. R is the type of the sum: int64 for signed and uint64 for unsigned integers,
// otherwise that of the elements. Sum[float64](c, in) fails if the elements are not float64.
func Sum[R int64 | uint64 | float32 | float64, T Element](c *Context, in []T) (R, error) {
	var sum R
	want := C.ech_reduce_dtype(C.ECH_OP_SUM, dtypeOf[T](), 0)
	if want != C.int(dtypeOf[R]()) {
		name := C.GoString(C.ech_dtype_name(C.ech_dtype(want)))
		return 0, &Error{ErrArg, fmt.Sprintf("the sum of %T has the type %s, not %T", in, name, sum)}
	}
	err := reduce(c, C.ECH_OP_SUM, in, unsafe.Pointer(&sum))
	return sum, err
}

// Min returns the minimum. An empty slice yields the maximum value of the type.
func Min[T Element](c *Context, in []T) (result T, err error) {
	err = reduce(c, C.ECH_OP_MIN, in, unsafe.Pointer(&result))
	return result, err
}

// Max returns the maximum. An empty slice yields the minimum value of the type.
func Max[T Element](c *Context, in []T) (result T, err error) {
	err = reduce(c, C.ECH_OP_MAX, in, unsafe.Pointer(&result))
	return result, err
}

// Mean returns the mean, which the library computes in float64, and rounds to float32 for float32. An
// empty slice yields NaN.
func Mean[T Element](c *Context, in []T) (float64, error) {
	if dtypeOf[T]() == C.ECH_F32 {
		var mean float32
		err := reduce(c, C.ECH_OP_MEAN, in, unsafe.Pointer(&mean))
		return float64(mean), err
	}
	var mean float64
	err := reduce(c, C.ECH_OP_MEAN, in, unsafe.Pointer(&mean))
	return mean, err
}

// InclusiveScan combines each element with all elements before it: out[i] = in[0] op ... op in[i]. out
// may be in.
func InclusiveScan[T Element](c *Context, op Op, in, out []T) error {
	return scan(c, op, in, out, false)
}

// ExclusiveScan is the same without in[i]: out[0] is the identity element of the operator.
func ExclusiveScan[T Element](c *Context, op Op, in, out []T) error {
	return scan(c, op, in, out, true)
}

func scan[T Element](c *Context, op Op, in, out []T, exclusive bool) error {
	if err := sameLength("out", len(out), "in", len(in)); err != nil {
		return err
	}
	options := &C.ech_scan_options{size: C.sizeof_ech_scan_options, exclusive: flag(exclusive)}
	a, o, n := address(in), address(out), C.size_t(len(in))
	return c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_scan(raw, C.ech_op(op), a, o, n, dtypeOf[T](), options)
	})
}

// Histogram counts the elements in each of several bins of equal width, from lower to upper. Elements
// outside are not counted.
func Histogram[T Element](c *Context, in []T, bins int, lower, upper float64) ([]uint64, error) {
	if bins < 1 {
		return nil, &Error{ErrArg, fmt.Sprintf("bins is %d, but must be at least 1", bins)}
	}
	counts := make([]uint64, bins)
	a, out, n := address(in), address(counts), C.size_t(len(in))
	err := c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_histogram(raw, a, out, n, dtypeOf[T](), C.size_t(bins), C.double(lower),
			C.double(upper), nil)
	})
	return counts, err
}

// SelectIf returns the elements that pass a test, in their order.
func SelectIf[T Element](c *Context, in []T, compare Compare, value T) ([]T, error) {
	out, count := make([]T, len(in)), new(C.uint64_t)
	a, o, v := address(in), address(out), unsafe.Pointer(&value)
	err := c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_select_if(raw, C.ech_compare(compare), a, o, count, C.size_t(len(in)),
			dtypeOf[T](), v, nil)
	})
	return out[:*count], err
}

// Unique returns the first element of each run of equal elements: one per value if in is sorted.
func Unique[T Element](c *Context, in []T) ([]T, error) {
	out, count := make([]T, len(in)), new(C.uint64_t)
	a, o := address(in), address(out)
	err := c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_unique(raw, a, o, count, C.size_t(len(in)), dtypeOf[T](), nil)
	})
	return out[:*count], err
}

// LowerBound returns, for each needle, the number of elements of a sorted slice that precede it.
func LowerBound[T Element](c *Context, sorted, needles []T) ([]int, error) {
	positions := make([]int, len(needles))
	s, x, p := address(sorted), address(needles), address(positions)
	err := c.call(func(raw *C.ech_ctx) C.ech_status {
		return C.ech_lower_bound(raw, s, x, p, C.size_t(len(sorted)), C.size_t(len(needles)),
			dtypeOf[T](), C.ECH_I64, nil)
	})
	return positions, err
}

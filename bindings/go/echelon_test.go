// echelon_test.go - every function, compared with plain Go, and wrong calls.
//
// SPDX-License-Identifier: Apache-2.0

package echelon

import (
	"errors"
	"math"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T) *Context {
	t.Helper()
	c, err := Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// expect fails unless a call succeeded with this result.
func expect(t *testing.T, err error, got, want any) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// wrong fails unless err is an *Error of this status, with a message that contains text.
func wrong(t *testing.T, err error, status Status, text string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Status != status || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want status %d and %q", err, status, text)
	}
}

func sortsType[T Element](t *testing.T, c *Context) {
	keys, want := make([]T, 1000), make([]T, 1000)
	for i := range keys {
		keys[i] = T((i*37 + 11) % 101)
		want[i] = keys[i]
	}
	sort.Slice(want, func(i, j int) bool { return want[i] < want[j] })
	expect(t, Sort(c, keys, Order{}), keys, want)
	sort.Slice(want, func(i, j int) bool { return want[i] > want[j] })
	expect(t, Sort(c, keys, Order{Descending: true}), keys, want)
}

func TestSortOfEveryType(t *testing.T) {
	c := open(t)
	sortsType[int8](t, c)
	sortsType[int16](t, c)
	sortsType[int32](t, c)
	sortsType[int64](t, c)
	sortsType[int](t, c)
	sortsType[uint8](t, c)
	sortsType[uint16](t, c)
	sortsType[uint32](t, c)
	sortsType[uint64](t, c)
	sortsType[uint](t, c)
	sortsType[float32](t, c)
	sortsType[float64](t, c)
	expect(t, Sort(c, []int{}, Order{}), 0, 0)
	keys := []float64{1, math.Copysign(math.NaN(), -1)}
	expect(t, Sort(c, keys, Order{Total: true}), keys[1], 1.0)
	expect(t, Sort(c, keys, Order{}), keys[0], 1.0)
}

func TestPairsAndIndices(t *testing.T) {
	c := open(t)
	type place struct {
		x    int16
		name [3]byte
	}
	keys, values := []uint16{9, 3, 5}, []place{{x: 9}, {x: 3}, {x: 5}}
	expect(t, SortPairs(c, keys, values, Order{}), values, []place{{x: 3}, {x: 5}, {x: 9}})
	expect(t, nil, keys, []uint16{3, 5, 9})
	index := make([]uint32, 3)
	expect(t, Argsort(c, []float32{2, 7, 0}, index, Order{Descending: true}), index, []uint32{1, 0, 2})
	best, positions, err := TopK(c, []int8{5, 9, -1, 9}, 2)
	expect(t, err, best, []int8{9, 9})
	expect(t, err, positions, []int{1, 3})
	none, _, err := TopK(c, []int8{5}, 0)
	expect(t, err, none, []int8{})
	best, _, err = BottomK(c, []int8{5, 9, -1, 9}, 1)
	expect(t, err, best, []int8{-1})
}

func TestTable(t *testing.T) {
	c, index := open(t), make([]int, 4)
	first, second := []uint8{1, 0, 1, 0}, []float64{0.5, math.NaN(), 1.5, 2.5}
	columns := []Column{NewColumn(first, Order{}), NewColumn(second, Order{Descending: true})}
	expect(t, ArgsortColumns(c, columns, index), index, []int{1, 3, 2, 0})
	for len(columns) < 8 {
		columns = append(columns, columns[0])
	}
	expect(t, ArgsortColumns(c, columns, index), index, []int{1, 3, 2, 0})
	wrong(t, ArgsortColumns(c, append(columns, columns[0]), index), ErrArg, "columns has 9")
}

func TestReduceAndScan(t *testing.T) {
	c, in := open(t), []int16{300, -7, 300, 2}
	sum, err := Sum[int64](c, in)
	expect(t, err, sum, int64(595))
	unsigned, err := Sum[uint64](c, []uint8{200, 100})
	expect(t, err, unsigned, uint64(300))
	single, err := Sum[float32](c, []float32{0.5, 0.25})
	expect(t, err, single, float32(0.75))
	low, err := Min(c, in)
	expect(t, err, low, int16(-7))
	high, err := Max(c, in)
	expect(t, err, high, int16(300))
	mean, err := Mean(c, in)
	expect(t, err, mean, 148.75)
	mean, err = Mean(c, []float32{1, 2})
	expect(t, err, mean, 1.5)
	out := make([]int16, 4)
	expect(t, InclusiveScan(c, OpSum, in, out), out, []int16{300, 293, 593, 595})
	expect(t, ExclusiveScan(c, OpMax, in, out), out, []int16{math.MinInt16, 300, 300, 300})
}

func TestHistogramSelectAndSearch(t *testing.T) {
	c, in := open(t), []float32{0.5, 2.5, 0.25, 9}
	counts, err := Histogram(c, in, 3, 0, 3)
	expect(t, err, counts, []uint64{2, 0, 1})
	large, err := SelectIf(c, in, Greater, 1)
	expect(t, err, large, []float32{2.5, 9})
	unique, err := Unique(c, []int32{1, 1, 5, 5, 1})
	expect(t, err, unique, []int32{1, 5, 1})
	positions, err := LowerBound(c, []uint64{2, 4, 4, 8}, []uint64{4, 9, 0})
	expect(t, err, positions, []int{1, 4, 0})
}

func TestWrongCalls(t *testing.T) {
	c, keys := open(t), []int{3, 1, 2}
	_, err := Open("nosuch")
	wrong(t, err, ErrArg, `device is "nosuch"`)
	_, err = Open("c\x00pu")
	wrong(t, err, ErrArg, "zero")
	_, err = Open("cuda:99")
	wrong(t, err, ErrNoDevice, "")
	wrong(t, SortPairs(c, keys, []int{1}, Order{}), ErrArg, "values has 1 elements, but keys has 3")
	wrong(t, SortPairs(c, keys, []string{"", "", ""}, Order{}), ErrArg, "pointers")
	wrong(t, SortPairs(c, keys, make([]struct{}, 3), Order{}), ErrArg, "value_bytes is 0")
	wrong(t, Argsort(c, keys, []int{1}, Order{}), ErrArg, "index has 1")
	wrong(t, ArgsortColumns(c, []Column{NewColumn(keys, Order{})}, []int{1}), ErrArg, "columns[0] has 3")
	wrong(t, ArgsortColumns(c, nil, []int{1}), ErrArg, "column")
	wrong(t, InclusiveScan(c, OpSum, keys, []int{1}), ErrArg, "out has 1")
	wrong(t, InclusiveScan(c, OpAnd, []float32{1}, []float32{1}), ErrArg, "")
	wrong(t, InclusiveScan(c, 99, keys, keys), ErrArg, "")
	_, _, err = TopK(c, keys, 4)
	wrong(t, err, ErrArg, "k is 4")
	_, err = Sum[float64](c, keys)
	wrong(t, err, ErrArg, "has the type i64, not float64")
	_, err = Histogram(c, keys, 3, 1, 1)
	wrong(t, err, ErrArg, "lower")
	_, err = Histogram(c, keys, 0, 0, 1)
	wrong(t, err, ErrArg, "bins is 0")
	wrong(t, c.SetThreads(-1), ErrArg, "threads")
	expect(t, c.SetThreads(1), c.Device(), "cpu")
	c.Close()
	wrong(t, Sort(c, keys, Order{}), ErrArg, "the context is closed")
	expect(t, nil, keys, []int{3, 1, 2})
	expect(t, nil, c.Device(), "")
	expect(t, nil, strings.HasPrefix(Version(), "0."), true)
}

func TestGoroutinesShareAContext(t *testing.T) {
	c := open(t)
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			sortsType[int32](t, c)
		}()
	}
	group.Wait()
}

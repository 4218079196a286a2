// Command example - orders of a shop: the largest of each customer, the total, and the smallest of all.
//
//	go run ./example [DEVICE]     the name of a device, as for Open: "cpu", "cuda"
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"errors"
	"fmt"
	"os"

	"echelon"
)

func madeUpOrders(n int, customers int64) (customer []int32, amount []float64) {
	x := int64(1)
	next := func() int64 { x = x * 48271 % 2147483647; return x }
	for i := 0; i < n; i++ {
		customer = append(customer, int32(next()%customers))
		amount = append(amount, 0.25*float64(next()%4000)) // sums are exact
	}
	return customer, amount
}

func run(device string) error {
	customer, amount := madeUpOrders(100000, 100)
	ctx, err := echelon.Open(device)
	if err != nil {
		return err
	}
	defer ctx.Close()

	total, err := echelon.Sum[float64](ctx, amount)
	if err != nil {
		return err
	}
	expected := 0.0
	for _, a := range amount {
		expected += a
	}
	if total != expected {
		return errors.New("the total is wrong")
	}
	fmt.Printf("%d orders, total %.2f, mean %.2f\n", len(amount), total, total/float64(len(amount)))

	index := make([]int, len(amount))
	columns := []echelon.Column{echelon.NewColumn(customer, echelon.Order{}),
		echelon.NewColumn(amount, echelon.Order{Descending: true})}
	if err := echelon.ArgsortColumns(ctx, columns, index); err != nil {
		return err
	}
	next := int32(0) // the customer whose largest order comes next
	for i, order := range index {
		if i > 0 && (customer[order] < customer[index[i-1]] ||
			customer[order] == customer[index[i-1]] && amount[order] > amount[index[i-1]]) {
			return errors.New("the orders are not sorted")
		}
		if customer[order] == next && next < 3 {
			fmt.Printf("customer %d: largest order %d of %.2f\n", next, order, amount[order])
			next++
		}
	}

	if err := echelon.SortPairs(ctx, amount, customer, echelon.Order{}); err != nil {
		return err
	}
	fmt.Printf("smallest order %.2f of customer %d\n", amount[0], customer[0])
	return nil
}

func main() {
	if err := run(append(os.Args, "")[1]); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

// example.cpp - orders of a shop: the largest of each customer, the total, and the largest of all.
//
//     example [DEVICE]      the name of a device, as for ech_open(): "cpu", "cuda"
//
// SPDX-License-Identifier: Apache-2.0
#include "echelon.hpp"
#include <cstdio>

struct orders {
    std::vector<int32_t> customer;
    std::vector<double> amount; // multiples of 0.25: sums are exact
};

static orders made_up_orders(size_t n, int customers)
{
    orders o;
    int64_t x = 1;
    auto next = [&x] { return x = x * 48271 % 2147483647; };
    for (size_t i = 0; i < n; i++) {
        o.customer.push_back(static_cast<int32_t>(next() % customers));
        o.amount.push_back(0.25 * static_cast<double>(next() % 4000));
    }
    return o;
}

// By customer, and the largest order of each first.
static bool is_sorted(const orders &o, const std::vector<int64_t> &index)
{
    for (size_t i = 1; i < index.size(); i++) {
        const auto a = static_cast<size_t>(index[i - 1]), b = static_cast<size_t>(index[i]);
        if (o.customer[a] > o.customer[b]) return false;
        if (o.customer[a] == o.customer[b] && o.amount[a] < o.amount[b]) return false;
    }
    return true;
}

static int run(const char *device)
{
    const size_t n = 100000;
    const orders o = made_up_orders(n, 100);
    const echelon::context ctx(device);

    const double total = ctx.sum(o.amount);
    double expected = 0;
    for (double amount : o.amount) expected += amount;
    if (total != expected) throw std::logic_error("the total is wrong");
    std::printf("%zu orders, total %.2f, mean %.2f\n", n, total, total / double(n));

    std::vector<int64_t> index(n);
    std::vector<echelon::column> columns{ echelon::column(o.customer), echelon::column(o.amount) };
    columns[1].descending = 1;
    ctx.argsort_columns(columns, index);
    if (!is_sorted(o, index)) throw std::logic_error("the orders are not sorted");
    for (size_t i = 0, customer = 0; customer < 3; i++) {
        const auto order = static_cast<size_t>(index[i]);
        if (o.customer[order] != int(customer)) continue;
        std::printf("customer %zu: largest order %zu of %.2f\n", customer, order, o.amount[order]);
        customer++;
    }

    std::vector<double> amounts = o.amount;
    std::vector<int32_t> customers = o.customer;
    ctx.sort_pairs(amounts, customers);
    std::printf("smallest order %.2f of customer %d\n", amounts[0], customers[0]);
    return 0;
}

int main(int argc, char **argv)
{
    try {
        return run(argc > 1 ? argv[1] : nullptr);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "example: %s\n", e.what());
        return 1;
    }
}

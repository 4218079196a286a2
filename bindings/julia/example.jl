# example.jl - orders of a shop: the largest of each customer, the total, and the smallest of all.
#
#     julia example.jl [DEVICE]     the name of a device, as for Context(): "cpu", "cuda"
#
# SPDX-License-Identifier: Apache-2.0

include("Echelon.jl")
using Printf

function made_up_orders(n, customers)
    x = 1
    next() = x = x * 48271 % 2147483647
    customer, amount = Vector{Int32}(undef, n), Vector{Float64}(undef, n)
    for i in 1:n
        customer[i] = next() % customers
        amount[i] = 0.25 * (next() % 4000) # sums are exact
    end
    return customer, amount
end

function main(device)
    customer, amount = made_up_orders(100_000, 100)
    ctx = Echelon.Context(device)

    total = Echelon.sum(ctx, amount)
    total == sum(amount) || error("the total is wrong")
    @printf("%d orders, total %.2f, mean %.2f\n", length(amount), total, Echelon.mean(ctx, amount))

    index = Echelon.sortperm(ctx, [Echelon.Column(customer), Echelon.Column(amount; descending = true)])
    issorted(index; by = i -> (customer[i], -amount[i])) || error("the orders are not sorted")
    for c in 0:2
        order = index[findfirst(i -> customer[i] == c, index)]
        @printf("customer %d: largest order %d of %.2f\n", c, order - 1, amount[order])
    end

    Echelon.sort_pairs!(ctx, amount, customer)
    @printf("smallest order %.2f of customer %d\n", amount[1], customer[1])
    close(ctx)
end

try
    main(isempty(ARGS) ? nothing : ARGS[1])
catch e
    print(stderr, "example: ")
    showerror(stderr, e)
    println(stderr)
    exit(1)
end

/*
 * explain_numbers.c - "echelon explain matmul" and "echelon explain solve".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"
#include "solve.h"

/* The default is F64, as in "echelon matmul" and "echelon solve". */
static int parse_type(const struct explain_numbers *set, bool halves, ech_dtype *dtype)
{
    int given;
    const int code = cli_parse_dtype(set->type, &given);
    *dtype = given < 0 ? ECH_F64 : (ech_dtype)given;
    if (code != EXIT_DONE) return code;
    if (*dtype == ECH_F32 || *dtype == ECH_F64) return EXIT_DONE;
    if (halves && (*dtype == ECH_F16 || *dtype == ECH_BF16)) return EXIT_DONE;
    return cli_fail(EXIT_BAD, "--type is %s; use %s", set->type,
                    halves ? "f16, bf16, f32 or f64" : "f32 or f64");
}

int explain_matmul(const struct explain_numbers *set)
{
    char text[EXPLAIN_TEXT];
    const ech_matmul_options o = { .size = sizeof o,
                                   .transpose_a = set->transpose_a,
                                   .transpose_b = set->transpose_b,
                                   .algorithm = set->algorithm };
    const uint64_t m = set->shape[set->transpose_a], k = set->shape[!set->transpose_a];
    uint64_t n = m;
    ech_dtype dtype;
    int code = parse_type(set, true, &dtype);
    if (code == EXIT_DONE && set->b_columns)
        code = cli_parse_count("b-columns", set->b_columns, &n);
    if (code != EXIT_DONE) return code;
    return explain_print(ech_matmul_explain(set->device, (size_t)m, (size_t)n, (size_t)k, dtype, &o,
                                            set->format, text, sizeof text),
                         text);
}

static int explain_direct(const struct explain_numbers *set, ech_dtype dtype, ech_factor kind)
{
    char text[EXPLAIN_TEXT];
    const ech_direct_options o = { .size = sizeof o, .kind = kind, .algorithm = set->algorithm };
    uint64_t count = 1;
    int code = set->b_columns ? cli_parse_count("b-columns", set->b_columns, &count) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    if (set->nnz || set->precond)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with --method %s",
                        set->nnz ? "nnz" : "precond", set->method);
    return explain_print(ech_direct_explain(set->device, ECH_DIRECT_CALL_SOLVE,
                                            (size_t)set->shape[0], (size_t)set->shape[1],
                                            (size_t)count, dtype, &o, set->format, text,
                                            sizeof text),
                         text);
}

int explain_solve(const struct explain_numbers *set)
{
    char text[EXPLAIN_TEXT];
    ech_solve_options o = { .size = sizeof o };
    uint64_t entries = 0;
    ech_factor kind;
    ech_dtype dtype;
    bool direct;
    int code = parse_type(set, false, &dtype);
    if (code == EXIT_DONE) code = solve_parse_method(set->method, &direct, &kind, &o.method);
    if (code == EXIT_DONE && direct) return explain_direct(set, dtype, kind);
    if (code == EXIT_DONE) code = solve_parse_precond(set->precond, o.method, &o.precond);
    if (code == EXIT_DONE && set->nnz) code = cli_parse_count("nnz", set->nnz, &entries);
    if (code != EXIT_DONE) return code;
    if (set->shape[0] != set->shape[1])
        return cli_fail(EXIT_BAD, "--shape is %llux%llu, but an iterative method needs a square A",
                        (unsigned long long)set->shape[0], (unsigned long long)set->shape[1]);
    if (set->algorithm || set->b_columns)
        return cli_fail(EXIT_BAD, "--%s needs a direct --method, such as lu",
                        set->algorithm ? "algorithm" : "b-columns");
    if (solve_takes_triangles(o.precond) && !set->nnz)
        return cli_fail(EXIT_BAD, "--precond %s needs a sparse matrix: give its entries with --nnz",
                        set->precond);
    const size_t n = (size_t)set->shape[0];
    const bool wide = n > INT32_MAX || entries > INT32_MAX;
    const ech_csr csr = { .size = sizeof(ech_csr),
                          .rows = n,
                          .cols = n,
                          .nnz = (size_t)entries,
                          .index_dtype = wide ? ECH_I64 : ECH_I32,
                          .dtype = dtype };
    const ech_operator a = { .size = sizeof a,
                             .n = n,
                             .dtype = dtype,
                             .csr = set->nnz ? &csr : NULL,
                             .dense = set->nnz ? NULL : text, /* never read */
                             .stride = n };
    return explain_print(ech_solve_explain(set->device, &a, &o, set->format, text, sizeof text),
                         text);
}

/*
 * explain_numbers.c - "echelon explain" for matrices over GF(2), dense and sparse matrices, and
 * linear systems.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explain.h"
#include "solve.h"

/* ---- GF(2) ---- */

static const char *const gf2_calls[] = { "mul",       "rref",    "pluq", "solve",
                                         "nullspace", "inverse", "batch" };
enum { GF2_CALLS = sizeof gf2_calls / sizeof *gf2_calls };

int explain_gf2(const struct explain *set)
{
    static const ech_gf2_call calls[GF2_CALLS] = { ECH_GF2_CALL_MUL,       ECH_GF2_CALL_ECHELON,
                                                   ECH_GF2_CALL_PLUQ,      ECH_GF2_CALL_SOLVE,
                                                   ECH_GF2_CALL_NULLSPACE, ECH_GF2_CALL_INVERSE,
                                                   ECH_GF2_CALL_BATCHED };
    char text[EXPLAIN_TEXT];
    uint64_t count;
    int call;
    const ech_gf2_echelon_options o = { .size = sizeof o, .algorithm = set->algorithm };
    if (!set->call && !set->captured)
        return cli_fail(EXIT_BAD,
                        "no GF(2) operation: give one, for example echelon explain gf2 rref");
    int code = explain_call(set, "operation", gf2_calls, GF2_CALLS, &call);
    if (code != EXIT_DONE) return code;
    const bool batch = calls[call] == ECH_GF2_CALL_BATCHED;
    if (batch ? set->b_columns != NULL : set->batch_count != NULL)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with gf2 %s",
                        batch ? "b-columns" : "batch-count", gf2_calls[call]);
    code = batch ? explain_count("batch-count", set->batch_count, set->extent[0], &count)
                 : explain_count("b-columns", set->b_columns, set->extent[0], &count);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_gf2_explain(set->device, calls[call], (size_t)set->extent[0],
                                         (size_t)set->extent[1], (size_t)count, &o, set->format,
                                         text, sizeof text),
                         text);
}

/* ---- Dense matrices ---- */

/* The default is F64, as in "echelon matmul" and "echelon solve". */
static int parse_type(const struct explain *set, bool halves, ech_dtype *dtype)
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

int explain_matmul(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    const ech_matmul_options o = { .size = sizeof o,
                                   .transpose_a = set->transpose_a,
                                   .transpose_b = set->transpose_b,
                                   .algorithm = set->algorithm };
    const uint64_t m = set->extent[set->transpose_a], k = set->extent[!set->transpose_a];
    uint64_t n = m;
    ech_dtype dtype;
    int code = parse_type(set, true, &dtype);
    if (code == EXIT_DONE && set->b_columns)
        code = cli_parse_count("b-columns", set->b_columns, &n);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_matmul_explain(set->device, (size_t)m, (size_t)n, (size_t)k, dtype, &o,
                                            set->format, text, sizeof text),
                         text);
}

int explain_matvec(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    const ech_matvec_options o = { .size = sizeof o, .transpose = set->transpose_a };
    ech_dtype dtype;
    const int code = parse_type(set, false, &dtype);
    if (code != EXIT_DONE) return code;
    return explain_print(set,
                         ech_matvec_explain(set->device, (size_t)set->extent[0],
                                            (size_t)set->extent[1], dtype, &o, set->format, text,
                                            sizeof text),
                         text);
}

/* ---- Sparse matrices ---- */

/* A matrix without arrays. */
static ech_csr make_csr(const struct explain *set, uint64_t entries, ech_dtype dtype)
{
    const uint64_t most = set->extent[0] > set->extent[1] ? set->extent[0] : set->extent[1];
    const bool wide = most > INT32_MAX || entries > INT32_MAX;
    return (ech_csr){ .size = sizeof(ech_csr),
                      .rows = (size_t)set->extent[0],
                      .cols = (size_t)set->extent[1],
                      .nnz = (size_t)entries,
                      .index_dtype = wide ? ECH_I64 : ECH_I32,
                      .dtype = dtype };
}

int explain_csr(const struct explain *set)
{
    static const char *const names[] = { "spmv", "spmm", "transpose", "from-coo" };
    static const ech_csr_call calls[] = { ECH_CSR_CALL_SPMV, ECH_CSR_CALL_SPMM,
                                          ECH_CSR_CALL_TRANSPOSE, ECH_CSR_CALL_FROM_COO };
    enum { CALLS = sizeof calls / sizeof *calls, PER_ROW = 5 };
    char text[EXPLAIN_TEXT];
    uint64_t entries, count;
    int i;
    ech_dtype dtype;
    const ech_csr_options o = { .size = sizeof o };
    int code = explain_call(set, "call", names, CALLS, &i);
    if (code == EXIT_DONE) code = parse_type(set, false, &dtype);
    if (code == EXIT_DONE)
        code = explain_count("nnz", set->nnz, PER_ROW * set->extent[0], &entries);
    if (code == EXIT_DONE) code = explain_count("b-columns", set->b_columns, 1, &count);
    if (code != EXIT_DONE) return code;
    if (set->b_columns && calls[i] != ECH_CSR_CALL_SPMM)
        return cli_fail(EXIT_BAD, "--b-columns cannot be combined with csr %s", names[i]);
    const ech_csr a = make_csr(set, entries, dtype);
    if (calls[i] == ECH_CSR_CALL_FROM_COO) count = entries;
    return explain_print(set,
                         ech_csr_explain(set->device, calls[i], &a, (size_t)count, &o, set->format,
                                         text, sizeof text),
                         text);
}

/* ---- Systems ---- */

static int explain_direct(const struct explain *set, ech_dtype dtype, ech_factor kind)
{
    char text[EXPLAIN_TEXT];
    const ech_direct_options o = { .size = sizeof o, .kind = kind, .algorithm = set->algorithm };
    uint64_t count = 1;
    int code = set->b_columns ? cli_parse_count("b-columns", set->b_columns, &count) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    if (set->nnz || set->precond)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with --method %s",
                        set->nnz ? "nnz" : "precond", set->method);
    return explain_print(set,
                         ech_direct_explain(set->device, ECH_DIRECT_CALL_SOLVE,
                                            (size_t)set->extent[0], (size_t)set->extent[1],
                                            (size_t)count, dtype, &o, set->format, text,
                                            sizeof text),
                         text);
}

/* "direct" with a number of entries: a sparse factorization. */
static int explain_sparse(const struct explain *set, ech_dtype dtype)
{
    char text[EXPLAIN_TEXT];
    const ech_sparse_direct_options o = { .size = sizeof o, .algorithm = set->algorithm };
    uint64_t entries = 0;
    const int code = cli_parse_count("nnz", set->nnz, &entries);
    if (code != EXIT_DONE) return code;
    if (set->b_columns || set->precond)
        return cli_fail(EXIT_BAD, "--%s cannot be combined with --method direct and --nnz",
                        set->b_columns ? "b-columns" : "precond");
    const ech_csr a = make_csr(set, entries, dtype);
    return explain_print(
        set, ech_solve_sparse_explain(set->device, &a, &o, set->format, text, sizeof text), text);
}

int explain_solve(const struct explain *set)
{
    char text[EXPLAIN_TEXT];
    ech_solve_options o = { .size = sizeof o };
    uint64_t entries = 0;
    ech_factor kind;
    ech_dtype dtype;
    bool direct;
    int code = parse_type(set, false, &dtype);
    if (code == EXIT_DONE) code = solve_parse_method(set->method, &direct, &kind, &o.method);
    if (code == EXIT_DONE && direct && set->nnz && solve_is_sparse(set->method))
        return explain_sparse(set, dtype);
    if (code == EXIT_DONE && direct) return explain_direct(set, dtype, kind);
    if (code == EXIT_DONE) code = solve_parse_precond(set->precond, o.method, &o.precond);
    if (code == EXIT_DONE && set->nnz) code = cli_parse_count("nnz", set->nnz, &entries);
    if (code != EXIT_DONE) return code;
    if (set->extent[0] != set->extent[1])
        return cli_fail(EXIT_BAD, "--shape is %llux%llu, but an iterative method needs a square A",
                        (unsigned long long)set->extent[0], (unsigned long long)set->extent[1]);
    if (set->algorithm || set->b_columns)
        return cli_fail(EXIT_BAD, "--%s needs a direct --method, such as lu",
                        set->algorithm ? "algorithm" : "b-columns");
    if (solve_takes_triangles(o.precond) && !set->nnz)
        return cli_fail(EXIT_BAD, "--precond %s needs a sparse matrix: give its entries with --nnz",
                        set->precond);
    const size_t n = (size_t)set->extent[0];
    const ech_csr csr = make_csr(set, entries, dtype);
    const ech_operator a = { .size = sizeof a,
                             .n = n,
                             .dtype = dtype,
                             .csr = set->nnz ? &csr : NULL,
                             .dense = set->nnz ? NULL : text, /* never read */
                             .stride = n };
    return explain_print(
        set, ech_solve_explain(set->device, &a, &o, set->format, text, sizeof text), text);
}

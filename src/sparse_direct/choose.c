/*
 * sparse_direct/choose.c - which library factors a matrix, and the text of explain.
 *
 *     klu        refuses a matrix with much fill if cuDSS or MUMPS is available
 *     cudss      on a GPU context; refuses a matrix if it had to replace pivots, and a library of
 *                the CPU is available
 *     mumps, superlu, dense (n <= ECHI_SPARSE_DENSE)
 *     klu        a matrix that it refused, if cuDSS then refused it, too
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const purposes[] = { "cudss",   "on the GPU",
                                        "klu",     "on the CPU, for matrices with little fill",
                                        "mumps",   "on the CPU, for matrices with much fill",
                                        "superlu", "on the CPU, for matrices with much fill",
                                        "dense",   "the inverse of a dense matrix" };

/* ---- Availability ---- */

static bool is(const struct echi_sparse_library *library, const char *name)
{
    return strcmp(library->name, name) == 0;
}

/* NULL, or why this library cannot factor a matrix of this size on this device. */
static const char *why_not(const struct echi_backend *backend, size_t n,
                           const struct echi_sparse_library *library)
{
    if (is(library, "dense"))
        return n > ECHI_SPARSE_DENSE ? "n exceeds 4096, the maximum of dense matrices" : NULL;
    if (is(library, "cudss") && backend == &echi_cpu) return "it needs a GPU";
#ifdef ECHELON_SIMT
    /* cuDSS cannot access the memory of the emulator; a file that is named is a test's own. */
    if (is(library, "cudss") && backend == &echi_simt &&
        !strchr(echi_sparse_setting()->text ? echi_sparse_setting()->text : "", '/'))
        return "the SIMT emulator is not a GPU";
#endif
    return echi_sparse_open(library);
}

static const struct echi_sparse_library *find(const char *name)
{
    for (int i = 0; echi_sparse_libraries[i]; i++)
        if (is(echi_sparse_libraries[i], name)) return echi_sparse_libraries[i];
    return NULL;
}

/* The libraries to try, in this order; returns their number. */
enum { MOST = 6 };
static int candidates(const struct echi_backend *backend, size_t n, const char *algorithm,
                      const struct echi_sparse_library **list)
{
    static const char *const order[] = { "klu", "cudss", "mumps", "superlu", "dense" };
    const struct echi_sparse_setting *setting = echi_sparse_setting();
    int count = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct echi_sparse_library *library = find(order[i]);
        if (!library || why_not(backend, n, library)) continue;
        if (algorithm ? !is(library, algorithm) : setting->only && setting->only != library)
            continue;
        if (!algorithm && setting->reason[0]) continue;
        list[count++] = library;
    }
    return count;
}

ech_status echi_sparse_check_name(ech_ctx *ctx, const char *algorithm)
{
    if (!algorithm || find(algorithm)) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG,
                     "options->algorithm is \"%s\"; use cudss, klu, mumps, superlu or dense",
                     algorithm);
}

static ech_status unavailable(ech_ctx *ctx, size_t n, const char *algorithm)
{
    const struct echi_sparse_setting *setting = echi_sparse_setting();
    const struct echi_sparse_library *named = algorithm ? find(algorithm) : setting->only;
    const char *why = named ? why_not(ctx->backend, n, named) : NULL;
    if (setting->reason[0] && !(algorithm && named && is(named, "dense")))
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "ECHELON_SPARSE_DIRECT is \"%s\", which %s",
                         setting->text, setting->reason);
    if (named)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "algorithm \"%s\" is not available: %s",
                         named->name, why ? why : "?");
    return echi_fail(
        ctx, ECH_ERR_UNSUPPORTED,
        "%s, and n is %zu, more than %d, the maximum of a dense factorization: install "
        "a library of sparse direct solvers (Debian: libklu1, libmumps-seq-5.5 or "
        "libsuperlu5; for GPUs: cuDSS)",
        setting->none ? "ECHELON_SPARSE_DIRECT is \"none\""
                      : "no library of sparse direct solvers was found",
        n, (int)ECHI_SPARSE_DENSE);
}

/* ---- The factorization ---- */

/* The name of the next candidate if it is for matrices with much fill; NULL: it is not. */
static const char *takes_fill(const struct echi_sparse_library *const *list, int count, int next)
{
    const bool takes = next < count && (is(list[next], "cudss") || is(list[next], "mumps"));
    return takes ? list[next]->name : NULL;
}

ech_status echi_sparse_factor(struct ech_sparse_factor *f, const char *algorithm,
                              struct echi_sparse_outcome *outcome)
{
    const struct echi_sparse_library *list[MOST];
    const int count = candidates(f->ctx->backend, f->a.n, algorithm, list);
    const struct echi_sparse_library *klu = NULL; /* after it refused the matrix */
    double *scaled = NULL;
    ech_status status = ECH_OK;
    if (!count) return unavailable(f->ctx, f->a.n, algorithm);
    scaled = echi_csc_scaled(&f->a);
    if (!scaled) FAIL(f->ctx, ECH_ERR_MEMORY, "out of host memory for a scaled copy of a");
    for (int i = 0; i < count; i++) {
        const char *other = NULL;
        if (is(list[i], "klu")) other = takes_fill(list, count, i + 1);
        if (is(list[i], "cudss"))
            other = i + 1 < count ? list[i + 1]->name : klu ? klu->name : NULL;
        *outcome = (struct echi_sparse_outcome){ .status = ECH_DIRECT_STATUS_SOLVED };
        f->library = list[i];
        status = f->library->factor(f->ctx, &f->a, scaled, other, &f->state, outcome);
        if (status != ECH_OK || !outcome->refused) break;
        if (is(list[i], "klu")) klu = list[i];
    }
    if (status == ECH_OK && outcome->refused && klu) {
        *outcome = (struct echi_sparse_outcome){ .status = ECH_DIRECT_STATUS_SOLVED };
        f->library = klu;
        status = klu->factor(f->ctx, &f->a, scaled, NULL, &f->state, outcome);
    }
done:
    free(scaled);
    return status;
}

/* ---- The explanation ---- */

void echi_sparse_explain(const struct echi_backend *backend, size_t n, const char *algorithm,
                         struct echi_explain *e)
{
    const struct echi_sparse_library *list[MOST];
    const struct echi_sparse_setting *setting = echi_sparse_setting();
    const int count = candidates(backend, n, algorithm, list);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof purposes / sizeof *purposes; k += 2)
            if (is(list[i], purposes[k]))
                echi_explain_algorithm(e, i == 0, list[i]->name, "%s", purposes[k + 1]);
    if (!count) echi_explain_algorithm(e, true, "none", "no library is available");
    for (int i = 0; i < count; i++) {
        const char *next = i + 1 < count ? list[i + 1]->name : i ? list[0]->name : NULL;
        if (is(list[i], "cudss") && next)
            echi_explain_line(e, "cudss", "unless it has to replace pivots, then %s", next);
        if (is(list[i], "klu") && takes_fill(list, count, i + 1))
            echi_explain_line(e, "klu", "if it expects little fill, otherwise %s", next);
    }
    for (int i = 0; echi_sparse_libraries[i]; i++) {
        char key[16];
        const char *why = why_not(backend, n, echi_sparse_libraries[i]);
        snprintf(key, sizeof key, "no_%.8s", echi_sparse_libraries[i]->name);
        if (why) echi_explain_line(e, key, "%s", why);
    }
    if (setting->text)
        echi_explain_line(e, "setting", "ECHELON_SPARSE_DIRECT is \"%s\"%s%s", setting->text,
                          setting->reason[0] ? ", which " : "", setting->reason);
}

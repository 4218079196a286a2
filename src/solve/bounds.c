/*
 * solve/bounds.c - bounds of the eigenvalues of M^-1 A, estimated by the Lanczos process.
 *
 * Conjugate gradients on A e = random numbers, without x: alpha and beta are the elements of a
 * symmetric tridiagonal matrix (Golub and Van Loan, 10.2.5)
 *
 *     diagonal  1 / alpha_k + beta_k-1 / alpha_k-1     off-diagonal  sqrt(beta_k) / alpha_k
 *
 * whose minimum and maximum eigenvalues, found by bisection, approach those of M^-1 A from inside.
 * The maximum is then increased by 5%, the minimum decreased by 5%.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

#include <math.h>
#include <string.h>

enum {
    Z = ECHI_VECTORS,
    P,
    STEPS = 120, /* maximum */
    LOOK = 10    /* steps between checks of the extreme eigenvalues, which have converged if they
                    ... */
};
static const double rest = 0.005; /* ... change by less than this fraction */

struct tridiagonal {
    int n;
    double diagonal[STEPS], off_diagonal[STEPS]; /* off_diagonal[i]: between i and i + 1 */
};

/* The number of eigenvalues less than x (Sturm). */
static int below(const struct tridiagonal *t, double x)
{
    int count = 0;
    double d = 1;
    for (int i = 0; i < t->n; i++) {
        const double b = i ? t->off_diagonal[i - 1] : 0;
        d = t->diagonal[i] - x - b * b / d;
        if (d == 0) d = 1e-300;
        count += d < 0;
    }
    return count;
}

/* The eigenvalue with `rank` below it, between 0 and high. */
static double eigenvalue(const struct tridiagonal *t, int rank, double high)
{
    double low = 0;
    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2;
        if (below(t, middle) > rank)
            high = middle;
        else
            low = middle;
    }
    return (low + high) / 2;
}

/* An upper bound of all eigenvalues (Gershgorin). */
static double above(const struct tridiagonal *t)
{
    double most = 0;
    for (int i = 0; i < t->n; i++) {
        const double reach = t->diagonal[i] + (i ? t->off_diagonal[i - 1] : 0) + t->off_diagonal[i];
        if (reach > most) most = reach;
    }
    return most;
}

static ech_status start(struct echi_run *run)
{
    void *r = echi_vector(run, ECHI_R);
    void *z = echi_vector(run, run->m ? Z : ECHI_R);
    struct echi_solve_step random = echi_step(run), first = random;
    ech_status status;
    memset(run->head, 0, sizeof run->head);
    TRY(echi_put(run));
    random.what = ECHI_SOLVE_RANDOM;
    random.a.out = r;
    TRY(echi_do(run, &random));
    TRY(echi_precondition(run, r, z));
    first.a.out = echi_vector(run, P);
    echi_term(&first.a, z, -1, 1);
    first.e = r;
    echi_dot(&first, ECHI_OF_A, ECHI_OF_E);
    first.after = ECHI_RECUR_CG_START;
    TRY(echi_do(run, &first));
done:
    return status;
}

static ech_status advance(struct echi_run *run)
{
    void *p = echi_vector(run, P), *q = echi_vector(run, ECHI_Q), *r = echi_vector(run, ECHI_R);
    void *z = echi_vector(run, run->m ? Z : ECHI_R);
    struct echi_solve_step product = echi_step(run), update = product, dot = product,
                           turn = product;
    ech_status status;
    TRY(echi_apply(run, p, q));
    product.e = p;
    product.f = q;
    echi_dot(&product, ECHI_OF_E, ECHI_OF_F);
    product.after = ECHI_RECUR_CG_ALPHA;
    TRY(echi_do(run, &product));
    update.b.out = r;
    echi_term(&update.b, r, -1, 1);
    echi_term(&update.b, q, ECHI_CG_ALPHA, -1);
    TRY(echi_do(run, &update));
    TRY(echi_precondition(run, r, z));
    dot.e = r;
    dot.f = z;
    echi_dot(&dot, ECHI_OF_E, ECHI_OF_F);
    dot.after = ECHI_RECUR_CG_RZ;
    TRY(echi_do(run, &dot));
    turn.a.out = p;
    echi_term(&turn.a, z, -1, 1);
    echi_term(&turn.a, p, ECHI_CG_BETA, 1);
    TRY(echi_do(run, &turn));
    TRY(echi_fetch(run));
done:
    return status;
}

ech_status echi_solve_bounds(struct echi_run *run, bool *found)
{
    struct tridiagonal t = { 0 };
    double alpha = 0, beta = 0, first = 0, lower = 0, upper = 0;
    ech_status status;
    *found = false;
    TRY(start(run));
    for (int i = 0; i < STEPS && (size_t)i < run->call->a.n; i++) {
        const double before = alpha;
        TRY(advance(run));
        alpha = run->head[ECHI_CG_ALPHA];
        if (!(alpha > 0) || !solve_finite(alpha)) break;
        t.diagonal[i] = 1 / alpha + (i ? beta / before : 0);
        beta = run->head[ECHI_CG_BETA];
        t.n = i + 1;
        if (i == 0) first = run->head[ECHI_CG_RZ] / beta;
        const bool last = !(beta > 0) || run->head[ECHI_CG_RZ] <= 1e-24 * first;
        if (last || i % LOOK == LOOK - 1) {
            const double low = lower, up = upper, high = above(&t);
            lower = eigenvalue(&t, 0, high);
            upper = eigenvalue(&t, t.n - 1, high);
            if (last || (low - lower <= rest * lower && upper - up <= rest * upper)) break;
        }
        t.off_diagonal[i] = sqrt(beta) / alpha;
    }
    const int stop = (int)run->head[ECHI_S_STOP];
    if (t.n == 0 || (stop == ECHI_STOP_INDEFINITE && run->head[ECHI_S_DOT] < 0)) return ECH_OK;
    t.off_diagonal[t.n - 1] = 0;
    const double high = above(&t);
    run->report->lower = 0.95 * eigenvalue(&t, 0, high);
    run->report->upper = 1.05 * eigenvalue(&t, t.n - 1, high);
    *found = run->report->lower > 0;
done:
    return status;
}

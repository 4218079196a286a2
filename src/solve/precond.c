/*
 * solve/precond.c - the preconditioner M: which one is made and applied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

static const struct echi_preconditioner *const kinds[] = { &echi_precond_triangles,
                                                           &echi_precond_blocks,
                                                           &echi_precond_diagonal };

static ech_status apply_function(struct echi_run *run, const void *r, void *z)
{
    const ech_solve_options *o = &run->call->options;
    const ech_status status = o->precondition(o->precondition_user, run->ctx, r, z);
    if (status != ECH_OK)
        return echi_fail(run->ctx, status, "options->precondition returned %s",
                         ech_status_name(status));
    return ECH_OK;
}

static const struct echi_preconditioner function = { NULL, NULL, apply_function };

ech_status echi_precond_make(struct echi_run *run)
{
    const ech_solve_report *report = run->report;
    if (run->call->options.precondition) {
        run->m = &function;
        return ECH_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i]->is(report->method, report->precond)) continue;
        const ech_status status = kinds[i]->make(run);
        if (status == ECH_OK) run->m = kinds[i];
        return status;
    }
    return ECH_OK;
}

void echi_precond_drop(struct echi_run *run)
{
    run->m = NULL;
    run->diagonal = NULL;
    run->report->status = (ech_solve_status)0;
    run->report->failed_index = 0;
    echi_triangles_free(run);
}

void echi_precondition_by(const struct echi_run *run, struct echi_solve_step *step, void *z)
{
    if (!run->diagonal) return;
    step->diagonal = run->diagonal;
    step->z = z;
}

ech_status echi_precondition_after(struct echi_run *run, const void *r, void *z)
{
    return run->diagonal ? ECH_OK : echi_precondition(run, r, z);
}

ech_status echi_precondition(struct echi_run *run, const void *r, void *z)
{
    return run->m ? run->m->apply(run, r, z) : ECH_OK;
}

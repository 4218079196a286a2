#include "comm/comm.h"
#include <stdio.h>
#include <stdlib.h>
extern double echi_dbg_t;
static inline void DBG(struct echi_dist *d, const char *what)
{
    if (!getenv("DSORT_TIME") || d->rank) return;
    if (getenv("DSORT_SYNC")) ech_sync(d->ctx);
    const double t = echi_comm_now();
    if (what) fprintf(stderr, "%s %.3f ms; ", what, (t - echi_dbg_t) * 1e3);
    echi_dbg_t = t;
}
static inline void DBGS(struct echi_dist *d)
{
    if (getenv("DSORT_TIME")) ech_sync(d->ctx);
}
static inline unsigned DBGG(unsigned g)
{
    return getenv("DSORT_GROUPS") ? (unsigned)strtoul(getenv("DSORT_GROUPS"), NULL, 0) : g;
}

/*
 * test_select.c - selection, partition, unique, run-length encoding and decoding, compared with an
 * oracle, on every device.
 *
 *     test_select                              every case on every device
 *     test_select --device simt --quick        one of seven cases, only small ones
 *     test_select 'unique(f32,n=5003'          cases with this prefix
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_case.h"

#include <stdio.h>

enum { DEVICES = 16, QUICK_N = 33000 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

static bool open_devices(void)
{
    char name[64];
    for (int i = 0; n_contexts < DEVICES && test_device(i, name, sizeof name); i++) {
        if (ech_open(&contexts[n_contexts], name) != ECH_OK) {
            fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
            return false;
        }
        n_contexts++;
    }
    return n_contexts > 0;
}

/* Each device counts as a case. The data and the expected result are created only once. */
static void run_case(const struct select_case *c)
{
    char id[256];
    struct select_data d;
    select_case_id(c, id, sizeof id);
    uint64_t seed = hash_text(id);
    if (c->always ? !test_drawn_always(seed) : !test_drawn(seed, c->n <= QUICK_N)) return;
    if (!test_begin("%s", id)) return;
    bool made = select_make(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        test_begin("%s", id);
        if (c->cpu_only && !test_is_cpu(contexts[i]))
            test_skip("an array for the caches of a CPU");
        else if (CHECK(made))
            select_run(contexts[i], &d, seed);
        test_end();
    }
    select_free(&d);
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (!open_devices()) return 1;
    select_cases(run_case);
    for (int i = 0; i < n_contexts; i++) select_bad(contexts[i]);
    for (int i = 0; i < n_contexts; i++) {
        uint64_t now_bytes;
        ech_memory_usage(contexts[i], 0, &now_bytes, NULL);
        if (test_begin("memory(%s)", ech_device_name(contexts[i]))) {
            CHECK_INT(now_bytes, 0);
            test_end();
        }
        ech_close(contexts[i]);
    }
    return test_finish();
}

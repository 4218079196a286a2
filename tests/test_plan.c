/*
 * test_plan.c - lists of steps: as text, as JSON, truncated by a small buffer, and with too many
 * steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/plan.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct echi_steps steps;

static void fill(void)
{
    steps.count = 0;
    echi_step_add(&steps, (struct echi_step){
                              .phase = ECHI_LOOK, .kind = ECHI_ZEROS, .level = -1, .bytes = 64 });
    echi_step_add(&steps, (struct echi_step){ .phase = ECHI_COUNT,
                                              .kind = ECHI_LAUNCH_COOPERATIVE,
                                              .module = "sort_k32_v0",
                                              .name = "sort_histogram",
                                              .blocks = 264,
                                              .threads = 512,
                                              .shared_bytes = 4096,
                                              .level = -1 });
    echi_step_add(&steps, (struct echi_step){ .phase = ECHI_MOVE,
                                              .kind = ECHI_LAUNCH,
                                              .module = "sort_k32_v0",
                                              .name = "sort_onesweep",
                                              .when = "the digit differs",
                                              .blocks = 7,
                                              .threads = 384,
                                              .level = 2,
                                              .parts = 3 });
    echi_step_add(
        &steps,
        (struct echi_step){ .phase = ECHI_FINISH, .kind = ECHI_COPY, .level = -1, .bytes = 4000 });
    echi_step_add(&steps, (struct echi_step){ .phase = ECHI_FINISH,
                                              .kind = ECHI_CALL,
                                              .level = -1,
                                              .name = "a product by cuBLAS" });
}

static void as_text(void)
{
    if (!test_begin("steps as text")) return;
    char buffer[2000] = "";
    struct echi_text text = { .at = buffer, .left = sizeof buffer };
    fill();
    echi_steps_print(&steps, &text);
    CHECK(strcmp(buffer,
                 "look         clear 64 bytes\n"
                 "count        sort_histogram: 264 blocks of 512 threads, 4096 bytes of shared "
                 "memory, cooperative\n"
                 "move         sort_onesweep, level 2: 7 blocks of 384 threads, 3 launches; only "
                 "if the digit differs\n"
                 "finish       copy 4000 bytes\n"
                 "finish       a product by cuBLAS\n") == 0);
    test_end();
}

static void as_json(void)
{
    if (!test_begin("steps as JSON")) return;
    char buffer[2000] = "";
    struct echi_text text = { .at = buffer, .left = sizeof buffer };
    fill();
    echi_steps_print_json(&steps, &text);
    CHECK(
        strcmp(buffer,
               "[\n"
               "    {\"phase\": \"look\", \"kind\": \"zeros\", \"bytes\": 64},\n"
               "    {\"phase\": \"count\", \"kind\": \"launch_cooperative\", \"module\": "
               "\"sort_k32_v0\", \"name\": \"sort_histogram\", \"blocks\": 264, \"threads\": 512, "
               "\"shared_bytes\": 4096},\n"
               "    {\"phase\": \"move\", \"kind\": \"launch\", \"module\": \"sort_k32_v0\", "
               "\"name\": \"sort_onesweep\", \"blocks\": 7, \"threads\": 384, \"shared_bytes\": "
               "0, \"level\": 2, \"launches\": 3, \"only_if\": \"the digit differs\"},\n"
               "    {\"phase\": \"finish\", \"kind\": \"copy\", \"bytes\": 4000},\n"
               "    {\"phase\": \"finish\", \"kind\": \"call\", \"name\": \"a product by "
               "cuBLAS\"}\n"
               "  ]") == 0);
    test_end();
}

static void cut_off(void)
{
    if (!test_begin("a buffer that is too small")) return;
    for (size_t bytes = 1; bytes < 200; bytes++) { /* a sanitizer detects overruns */
        char *buffer = calloc(bytes, 1);
        if (!CHECK(buffer != NULL)) break;
        struct echi_text text = { .at = buffer, .left = bytes };
        fill();
        echi_steps_print(&steps, &text);
        CHECK(memchr(buffer, 0, bytes) != NULL);
        free(buffer);
    }
    test_end();
}

static void too_many(void)
{
    if (!test_begin("more steps than a list holds")) return;
    char buffer[8000] = "";
    struct echi_text text = { .at = buffer, .left = sizeof buffer };
    steps.count = 0;
    for (int i = 0; i <= ECHI_STEPS; i++)
        echi_step_add(
            &steps, (struct echi_step){
                        .phase = ECHI_PLAN, .kind = ECHI_CLEAR, .level = -1, .bytes = (size_t)i });
    CHECK_INT(steps.count, ECHI_STEPS + 1); /* so the overflow is detected */
    CHECK_INT(steps.step[ECHI_STEPS - 1].bytes, ECHI_STEPS - 1);
    echi_steps_print(&steps, &text);
    int lines = 0;
    for (const char *c = buffer; *c; c++) lines += *c == '\n';
    CHECK_INT(lines, ECHI_STEPS);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    as_text();
    as_json();
    cut_off();
    too_many();
    return test_finish();
}

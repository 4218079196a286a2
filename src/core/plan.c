/*
 * core/plan.c - creates lists of steps, and prints them as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/plan.h"

void echi_step_add(struct echi_steps *steps, struct echi_step step)
{
    if (steps->count < ECHI_STEPS) steps->step[steps->count] = step;
    steps->count++;
}

const char *echi_phase_name(enum echi_phase phase)
{
    static const char *const names[] = { "look", "count", "plan", "move", "finish" };
    return names[phase];
}

static const char *kind_name(enum echi_step_kind kind)
{
    static const char *const names[] = { "launch", "launch_pdl", "launch_cooperative",
                                         "clear",  "zeros",      "copy",
                                         "call" };
    return names[kind];
}

static int listed(const struct echi_steps *steps)
{
    return steps->count < ECHI_STEPS ? steps->count : ECHI_STEPS;
}

static unsigned long long parts_of(const struct echi_step *s)
{
    return s->parts ? s->parts : 1;
}

void echi_steps_print(const struct echi_steps *steps, struct echi_text *text)
{
    for (int i = 0; i < listed(steps); i++) {
        const struct echi_step *s = &steps->step[i];
        echi_print(text, "%-12s ", echi_phase_name(s->phase));
        if (s->kind <= ECHI_LAUNCH_COOPERATIVE) {
            echi_print(text, "%s", s->name);
            if (s->level >= 0) echi_print(text, ", level %d", s->level);
            echi_print(text, ": %u blocks of %u threads", s->blocks, s->threads);
            if (s->shared_bytes) echi_print(text, ", %u bytes of shared memory", s->shared_bytes);
            if (s->kind == ECHI_LAUNCH_COOPERATIVE) echi_print(text, ", cooperative");
            if (parts_of(s) > 1) echi_print(text, ", %llu launches", parts_of(s));
        } else if (s->kind == ECHI_CALL) {
            echi_print(text, "%s", s->name);
        } else {
            echi_print(text, "%s %zu bytes", s->kind == ECHI_COPY ? "copy" : "clear", s->bytes);
        }
        echi_print(text, "%s%s\n", s->when ? "; only if " : "", s->when ? s->when : "");
    }
}

void echi_steps_print_json(const struct echi_steps *steps, struct echi_text *text)
{
    echi_print(text, "[");
    for (int i = 0; i < listed(steps); i++) {
        const struct echi_step *s = &steps->step[i];
        echi_print(text, "%s\n    {\"phase\": \"%s\", \"kind\": \"%s\"", i ? "," : "",
                   echi_phase_name(s->phase), kind_name(s->kind));
        if (s->module) echi_print(text, ", \"module\": \"%s\"", s->module);
        if (s->name) echi_print(text, ", \"name\": \"%s\"", s->name);
        if (s->kind <= ECHI_LAUNCH_COOPERATIVE)
            echi_print(text, ", \"blocks\": %u, \"threads\": %u, \"shared_bytes\": %u", s->blocks,
                       s->threads, s->shared_bytes);
        else if (s->kind != ECHI_CALL)
            echi_print(text, ", \"bytes\": %zu", s->bytes);
        if (s->level >= 0) echi_print(text, ", \"level\": %d", s->level);
        if (parts_of(s) > 1) echi_print(text, ", \"launches\": %llu", parts_of(s));
        if (s->when) echi_print(text, ", \"only_if\": \"%s\"", s->when);
        echi_print(text, "}");
    }
    echi_print(text, "\n  ]");
}

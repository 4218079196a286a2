/*
 * emulate.h - shared by the files of "echelon emulate": emulate.c is the command, emulate_args.c
 * reads the arguments of the kernel, emulate_run.c runs it, emulate_output.c writes its arrays,
 * emulate_report.c, emulate_json.c and emulate_html.c print what was found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_EMULATE_H
#define ECHELON_CLI_EMULATE_H

#include "cli.h"
#include "compile.h"
#include "cuda/driver.h"
#include "simt/client.h"
#include "simt/signature.h"

/* ---- Arguments: emulate_args.c ---- */

enum { EMULATE_ARGUMENTS = 256 };

/* A word of --arg: NAME=VALUE, NAME:TYPE=VALUE, NAME:TYPE:COUNT, NAME:TYPE:COUNT=VALUE. */
struct emulate_word {
    const char *word;
    char name[KERNEL_NAME];
    int dtype; /* -1: not given */
    bool sized;
    uint64_t count;    /* of elements, if sized */
    const char *value; /* after "="; NULL: none */
};

/* Returns EXIT_DONE, or EXIT_BAD after a message that names the argument. */
int emulate_parse_word(const char *word, struct emulate_word *parsed);

/* An argument of the kernel. */
struct emulate_argument {
    const char *name; /* of the parameter, or PARAMETER.MEMBER of a struct */
    const struct emulate_word *word;
    int parameter;
    uint32_t offset; /* of the member in the parameter */
    bool array;
    ech_dtype dtype;           /* of an array's elements, or of the scalar */
    uint64_t n, columns;       /* columns: of a matrix; 0: not a matrix */
    size_t bytes;              /* of the array */
    void *initial;             /* [bytes]; NULL: uninitialised */
    void *result, *other;      /* [bytes] after the first run and after another one */
    CUdeviceptr device, shown; /* in this run; in the first run, which the events refer to */
    unsigned char scalar[16];
    const char *output; /* -o NAME=FILE; NULL: not written */
    int64_t differs;    /* the first element that depends on the order; -1: none */
};

struct emulate_arguments {
    struct emulate_word *words;
    int word_count;
    struct emulate_argument list[EMULATE_ARGUMENTS];
    int count;
    void *parameters[KERNEL_PARAMETERS]; /* [bytes of the parameter] */
    int parameter_count;
};

/* Parses the words; before anything is compiled. */
int emulate_parse(struct emulate_arguments *arguments, const struct cli_list *words);
/* Compares the names with the parameters of the kernel, whose file is `source`. */
int emulate_match(struct emulate_arguments *arguments, const struct kernel_text *text,
                  const struct kernel *kernel, const char *source);
/* Loads the arrays and converts the scalars. */
int emulate_load(struct emulate_arguments *arguments, const struct kernel *kernel,
                 const struct simt_signature *signature);
/* emulate_output.c: -o NAME=FILE */
int emulate_outputs(struct emulate_arguments *arguments, const struct cli_list *words);
int emulate_write(const struct emulate_arguments *arguments);
void emulate_free(struct emulate_arguments *arguments);

/* ---- A run: emulate_run.c ---- */

struct emulate_launch {
    unsigned grid[3], block[3], cluster[3];
    uint64_t shared_bytes;
    uint64_t seed, seeds; /* runs with the seeds seed .. seed + seeds - 1 */
    char options[256];    /* of the emulator, other than the seed */
    size_t events;        /* to record */
    uint64_t record;      /* the block whose events are recorded, by its number in the grid */
};

struct emulator_device {
    const struct echi_driver *driver;
    struct emulator emulator;
};

int emulate_open(struct emulator_device *device, const char *options);
/* Loads the module, and finds the kernel's signature. */
int emulate_load_module(struct emulator_device *device, const struct compile *c, CUkernel *kernel,
                        const struct simt_signature **signature);
int emulate_run(struct emulator_device *device, CUkernel kernel,
                const struct emulate_launch *launch, struct emulate_arguments *arguments);

/* ---- Reports: emulate_report.c, emulate_json.c and emulate_html.c ---- */

struct emulate_report {
    const struct compile *compile;
    const struct emulate_launch *launch;
    const struct emulate_arguments *arguments;
    const struct emulator *emulator;
    struct simt_kernel_counts counts; /* of the first run; the lines belong to the emulator */
    const struct simt_finding *findings;
    size_t finding_count;
    const struct simt_event *events;
    size_t event_count;
    bool truncated; /* there were more events */
};

void emulate_take(struct emulate_report *report);
void emulate_text(const struct emulate_report *report, FILE *to);
void emulate_json(const struct emulate_report *report, bool with_events, FILE *to);
int emulate_html(const struct emulate_report *report, const char *path);

/* The place of a finding; of an assertion that failed, the place of the assertion. */
const char *emulate_place(const struct simt_finding *finding);
/* The explanation of a finding, without the kernel and the place. */
const char *emulate_explanation(const struct simt_finding *finding);
/* The line number of "file.cu:17" if the file is `path`; 0: another file. */
int emulate_line(const char *place, const char *path);
/* The source lines of a file of the user: [count], each ends with 0.  NULL: it cannot be read. */
struct emulate_source {
    char *text;
    char **lines;
    int count;
};
bool emulate_source_read(struct emulate_source *source, const struct compile *c, const char *path);
void emulate_source_free(struct emulate_source *source);

#endif

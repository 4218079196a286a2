/*
 * fuzz_kernel.c - reads arbitrary bytes as preprocessed CUDA C: the names and signatures that are
 * found are parts of the text, and the counts agree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "kernel_text.h"

#include <string.h>

/* Whether the last component of the name is in the text. */
static bool occurs(const char *name, const unsigned char *bytes, size_t n)
{
    const char *last = strrchr(name, ':');
    const size_t length = strlen(last ? last + 1 : name);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(bytes + i, last ? last + 1 : name, length) == 0) return true;
    return false;
}

static void check_kernel(const struct kernel_text *text, const struct kernel *k,
                         const unsigned char *bytes, size_t n)
{
    int matches = 0;
    FUZZ_CHECK(*k->name && strlen(k->name) < sizeof k->name && occurs(k->name, bytes, n));
    FUZZ_CHECK(strncmp(k->signature, k->name, strlen(k->name)) == 0);
    FUZZ_CHECK(k->parameter_count >= 0 && k->parameter_count <= KERNEL_PARAMETERS);
    FUZZ_CHECK(k->defined == (k->definitions > 0));
    const struct kernel *found = kernel_text_find(text, k->name, &matches);
    FUZZ_CHECK(found == (k->defined ? k : NULL) || matches > 1 || !k->defined);
    for (int i = 0; i < k->parameter_count; i++) {
        FUZZ_CHECK(!*k->parameters[i] || occurs(k->parameters[i], bytes, n));
        kernel_text_struct(text, k, i);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    struct kernel_text text;
    const bool ok = kernel_text_read(&text, (const char *)bytes, n);
    FUZZ_CHECK(ok && text.kernel_count <= KERNEL_TEXT_KERNELS);
    FUZZ_CHECK(text.array_count <= KERNEL_TEXT_ARRAYS);
    for (int i = 0; i < text.kernel_count; i++) check_kernel(&text, &text.kernels[i], bytes, n);
    for (int i = 0; i < text.array_count; i++) FUZZ_CHECK(occurs(text.arrays[i], bytes, n));
    for (int i = 0; i < text.struct_count; i++) {
        const struct kernel_struct *s = &text.structs[i];
        FUZZ_CHECK(s->member_count <= KERNEL_MEMBERS && occurs(s->name, bytes, n));
        for (int k = 0; k < s->member_count; k++) FUZZ_CHECK(occurs(s->members[k], bytes, n));
    }
    kernel_text_free(&text);
    return 0;
}

/*
 * workspace.c - sorts pairs in memory of the caller: the library allocates nothing.
 *
 * On a GPU context the same calls work with memory from ech_malloc() and return immediately; see
 * docs/guide/streams.md.
 */
#include <echelon.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000 };

int main(void)
{
    uint32_t *keys = malloc(N * sizeof *keys), *values = malloc(N * sizeof *values);
    size_t work_bytes = 0;
    uint64_t peak_bytes = 0;
    void *work = NULL;
    ech_ctx *ctx = NULL;
    ech_status status = ECH_ERR_MEMORY;
    if (!keys || !values) goto done;
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = i * 2654435761u;
        values[i] = i;
    }
    if ((status = ech_open(&ctx, "cpu")) != ECH_OK) goto done;

    /* The query needs no context, so a program can plan before it opens a device. */
    status = ech_sort_workspace("cpu", N, ECH_U32, sizeof *values, NULL, &work_bytes);
    if (status != ECH_OK) goto done;
    work_bytes = (work_bytes + 255) / 256 * 256;
    if (work_bytes && !(work = aligned_alloc(256, work_bytes))) goto done;

    ech_sort_options options = { .size = sizeof options, .work = work, .work_bytes = work_bytes };
    status = ech_sort_pairs(ctx, keys, values, keys, values, N, ECH_U32, sizeof *values, &options);
    ech_memory_usage(ctx, 0, NULL, &peak_bytes);
    printf("workspace %zu bytes; the library allocated %llu\n", work_bytes,
           (unsigned long long)peak_bytes);
    for (uint32_t i = 0; i < N && status == ECH_OK; i++)
        if (keys[i] != values[i] * 2654435761u || (i && keys[i] < keys[i - 1])) abort();
done:
    if (status != ECH_OK) fprintf(stderr, "%s\n", ech_error(ctx));
    ech_close(ctx);
    free(work);
    free(values);
    free(keys);
    return status != ECH_OK;
}

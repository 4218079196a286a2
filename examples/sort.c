/* sort.c - sorts four numbers, on a GPU if there is one.   cc sort.c -lechelon */
#include <echelon.h>
#include <stdio.h>

int main(void)
{
    float keys[] = { 2.5f, -1.0f, 7.0f, 0.0f };
    ech_ctx *ctx;
    if (ech_open(&ctx, NULL) != ECH_OK) { /* NULL: a GPU if possible; or name "cpu", "cuda" */
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    if (ech_sort(ctx, keys, keys, 4, ECH_F32, NULL) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(ctx));
        ech_close(ctx);
        return 1;
    }
    for (int i = 0; i < 4; i++) printf("%g\n", (double)keys[i]);
    ech_close(ctx);
    return 0;
}

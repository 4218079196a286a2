/* argsort.c - ranks rows by a column without moving them, in descending order. */
#include <echelon.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    static const char *const names[] = { "Everest", "Elbrus", "K2", "Denali", "Olympus Mons" };
    static const double metres[] = { 8849, 5642, 8611, 6190, 21900 };
    uint32_t order[5];
    ech_ctx *ctx;
    if (ech_open(&ctx, NULL) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    ech_sort_options options = { .size = sizeof options, .descending = 1 };
    ech_status status = ech_argsort(ctx, metres, order, 5, ECH_F64, ECH_U32, &options);
    if (status != ECH_OK) fprintf(stderr, "%s\n", ech_error(ctx));
    for (int i = 0; i < 5 && status == ECH_OK; i++)
        printf("%d. %s, %g m\n", i + 1, names[order[i]], metres[order[i]]);
    ech_close(ctx);
    return status != ECH_OK;
}

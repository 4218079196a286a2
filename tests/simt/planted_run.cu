/*
 * simt/planted_run.cu - the planted kernels with plain parameters, so that "echelon emulate" can
 * run them; bench/gallery.py does so for docs/emulate-gallery.md.
 *
 *     echelon emulate 'planted_run.cu:planted<race_war>' --define FAULTS=faults.cu ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define TEXT(x)    #x
#define NAME_OF(x) TEXT(x)

#ifndef FAULTS /* the file with the kernel */
#define FAULTS faults.cu
#endif
#ifndef BOUND /* 0: none */
#define BOUND 0
#endif

#include NAME_OF(FAULTS)

template <void (*kernel)(struct planted_args)>
__global__ void __launch_bounds__(BOUND)
    planted(const uint32_t *in, uint32_t *out, uint32_t *flag, uint32_t *raw, uint32_t n_in,
            uint32_t n_out, uint32_t p)
{
    kernel({ in, out, flag, raw, n_in, n_out, p });
}

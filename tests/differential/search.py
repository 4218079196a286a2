"""search.py - positions in sorted arrays: every result is exact.

SPDX-License-Identifier: Apache-2.0
"""

import numpy as np

from .case import operation
from .ordering import sort_order
from .values import INDICES


@operation("search", "ech_lower_bound", "ech_upper_bound", "ech_search_workspace", "ech_search_explain", weight=2)
def search(t):
    dtype, n, m, index = t.dtype(), t.size(huge=1_000_000), t.size(), t.pick(INDICES)
    fields = {"descending": int(t.flag()), "order": int(t.flag(0.3)), "needles_sorted": int(t.flag())}
    upper, in_order = t.flag(), t.flag()
    t.note(n=n, m=m, index=index, upper=upper, in_order=in_order, **fields)

    def ordered(keys):
        return keys[sort_order(t, dtype, keys, True, fields["order"], fields["descending"], 0, 0)]

    array, needles = ordered(t.data(dtype, n)), t.data(dtype, m)
    if m and n and t.flag():
        needles = np.where(t.rng.integers(0, 2, m).astype(bool), needles, array[t.rng.integers(0, n, m)])
    if in_order:
        needles = ordered(needles)
    options = t.struct("ech_search_options", **fields)
    plain = (int(upper), n, m, dtype.code, t.address(options))
    options.algorithm = t.algorithm("ech_search_explain", *plain)
    for name, value in t.work("ech_search_workspace", *plain).items():
        setattr(options, name, value)
    t.threads()
    ranks = [dtype.rank(keys, total=fields["order"], collapse=True) for keys in (array, needles)]
    if fields["descending"]:
        ranks = [~rank for rank in ranks]
    wanted = np.searchsorted(*ranks, side="right" if upper else "left")
    out = t.out(m, index.storage)
    t.call("ech_upper_bound" if upper else "ech_lower_bound", t.put(array).p, t.put(needles).p, out.p, n, m, dtype.code,
           index.code, t.address(options))
    t.same("positions", out.a, wanted.astype(index.storage))

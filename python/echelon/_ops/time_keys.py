"""datetime64 and timedelta64 as keys: NaT, the minimum of i64, becomes the maximum, so that it is last.

SPDX-License-Identifier: Apache-2.0
"""


def encoded(job, view):
    """The View; for times, that of a copy in C order with 1 subtracted modulo 2^64."""
    if view.kind != "time":
        return view
    copy = view.array.astype("int64", order="C")
    copy -= 1
    return job.add(view.family.view(copy))


def restored(job, view, like):
    """The View with the keys as times, if like has times. The elements are changed in place."""
    if like.kind != "time":
        return view
    integers = view.array.view("int64")
    integers += 1
    return job.add(view.family.view(integers.view(like.dtype)))

"""structs.py - the structs of echelon.h as ctypes, for the scripts that compare the library with Python's.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes

size_t, pointer, integer, real = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int, ctypes.c_double
u64 = ctypes.c_uint64


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


Csr = struct("Csr", ("size", size_t), ("rows", size_t), ("cols", size_t), ("nnz", size_t), ("row_offsets", pointer),
             ("col_indices", pointer), ("values", pointer), ("index_dtype", integer), ("dtype", integer))
MatmulOptions = struct("MatmulOptions", ("size", size_t), ("transpose_a", integer),
                       ("transpose_b", integer), ("accumulate_wide", integer), ("batch_count", size_t),
                       ("a_batch_stride", size_t), ("b_batch_stride", size_t), ("c_batch_stride", size_t),
                       ("algorithm", ctypes.c_char_p), ("work", pointer), ("work_bytes", size_t))
Operator = struct("Operator", ("size", size_t), ("n", size_t), ("dtype", integer),
                  ("csr", ctypes.POINTER(Csr)), ("dense", pointer), ("stride", size_t),
                  ("apply", pointer), ("user", pointer), ("diagonal", pointer))
Options = struct("Options", ("size", size_t), ("method", integer), ("precond", integer),
                 ("rtol", real), ("atol", real), ("dtol", real), ("max_iterations", u64),
                 ("use_initial_guess", integer), ("restart", integer), ("block", integer), ("omega", real),
                 ("lower", real), ("upper", real), ("check_every", ctypes.c_uint),
                 ("history", pointer), ("history_capacity", size_t), ("monitor", pointer),
                 ("monitor_user", pointer), ("work", pointer), ("work_bytes", size_t))
Report = struct("Report", ("size", size_t), ("status", integer), ("method", integer), ("precond", integer),
                ("iterations", u64), ("applications", u64), ("restarts", u64), ("residual", real),
                ("b_norm", real), ("failed_index", u64), ("lower", real), ("upper", real),
                ("history_count", size_t))
DirectOptions = struct("DirectOptions", ("size", size_t), ("kind", integer), ("refine", integer),
                       ("algorithm", ctypes.c_char_p), ("work", pointer), ("work_bytes", size_t))
DirectReport = struct("DirectReport", ("size", size_t), ("status", integer), ("kind", integer), ("failed_index", u64),
                      ("sign", integer), ("log_abs", real), ("rcond", real),
                      ("refinements", integer), ("backward_error", real))

"""python_matrices.py - operations of python_libraries.py whose libraries have different interfaces: an iterative solver
of SciPy and CuPy, and GF(2) of ldpc and galois.

Each function returns, for the modules that are installed, (dtype, n, shape, dist, works, check): works are functions
without parameters by the name of the library, and check(result) fails if a result is wrong.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

RANKS = (512, 2048)
SHOTS, CHECKS, BITS, ONES = 64, 256, 512, 3  # of the ordered statistics decoding


def laplacian(scipy, side):
    """The Poisson matrix of a grid: 4 on the diagonal, -1 for each neighbour."""
    line = scipy.sparse.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
    unit = scipy.sparse.identity(side)
    return scipy.sparse.csr_matrix(scipy.sparse.kron(line, unit) + scipy.sparse.kron(unit, line))


def poisson(modules, device, rng, side):
    """Conjugate gradients to a residual of 1e-6."""
    scipy, cupy, echelon = modules.get("SciPy"), modules.get("CuPy"), modules["echelon"]
    if scipy is None or device == "cuda" and cupy is None:
        return None
    import scipy.sparse
    import scipy.sparse.linalg
    host, b = laplacian(scipy, side), rng.standard_normal(side * side)
    solvers = {"echelon": echelon.sparse.linalg, "SciPy": scipy.sparse.linalg}
    matrix, right = host, b
    if device == "cuda":
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg
        solvers = {"echelon": echelon.sparse.linalg, "CuPy": cupyx.scipy.sparse.linalg}
        matrix, right = cupyx.scipy.sparse.csr_matrix(host), cupy.asarray(b)
    tolerance = {name: "tol" if name == "CuPy" and int(cupy.__version__.split(".")[0]) < 14 else "rtol"
                 for name in solvers}

    def check(result):
        x, info = result
        x = x.get() if hasattr(x, "get") else x
        return info == 0 and np.linalg.norm(b - host @ x) <= 2e-6 * np.linalg.norm(b)

    works = {name: lambda cg=module.cg, option=tolerance[name]: cg(matrix, right, **{option: 1e-6})
             for name, module in solvers.items()}
    return "float64", side * side, f"grid {side} x {side}", "Poisson", works, check


def rank(modules, device, rng, side):
    """The rank of a random square matrix, of which a tenth of the rows depend on the others."""
    bits = rng.integers(0, 2, (side, side), "uint8")
    chosen = rng.integers(0, 2, (side // 10, side - side // 10), "uint8").astype("float64")
    bits[side - side // 10:] = (chosen @ bits[:side - side // 10].astype("float64")) % 2
    gf2, ldpc, galois = modules["echelon"].gf2, modules.get("ldpc"), modules.get("galois")
    known = gf2.rank(bits)
    works = {"echelon": lambda: gf2.rank(bits)}
    if device == "cuda":
        placed = (modules.get("torch") or modules["CuPy"]).asarray(bits, device="cuda") if modules.get("torch") \
            else modules["CuPy"].asarray(bits)
        works = {"echelon": lambda: int(gf2.rank(placed))}
    elif ldpc:
        import ldpc.mod2
        works["ldpc"] = lambda: ldpc.mod2.rank(bits, method="dense")
    if galois and device == "cpu" and side <= 512:
        field = galois.GF2(bits)
        works["galois"] = lambda: np.linalg.matrix_rank(field)
    return "bits", side * side, f"{side} x {side}", "random", works, lambda result: int(result) == known


def decode(modules, device, rng, _):
    """Ordered statistics decoding (OSD-0) of the syndromes of a random code with three ones per column."""
    H = np.zeros((CHECKS, BITS), "uint8")
    for column in range(BITS):
        H[rng.choice(CHECKS, ONES, replace=False), column] = 1
    errors = (rng.random((SHOTS, BITS)) < 0.08).astype("uint8")
    syndromes = (errors.astype(int) @ H.T % 2).astype("uint8")
    ratios = np.log(0.92 / 0.08) + rng.standard_normal((SHOTS, BITS))
    echelon, ldpc, torch = modules["echelon"], modules.get("ldpc"), modules.get("torch")
    if device == "cuda":
        if torch is None:
            return None
        parts = [torch.asarray(part, device="cuda") for part in (H, syndromes, ratios)]
        works = {"echelon": lambda: echelon.gf2.osd(parts[0], parts[1], llrs=parts[2]).errors}
    else:
        works = {"echelon": lambda: echelon.gf2.osd(H, syndromes, llrs=ratios).errors}
        if ldpc:
            decoder = ldpc.BpOsdDecoder(H, error_rate=0.08, max_iter=1, bp_method="minimum_sum", osd_method="OSD_0")
            works["ldpc"] = lambda: np.array([decoder.decode(syndrome) for syndrome in syndromes])

    def check(result):
        found = np.asarray(result.cpu() if hasattr(result, "cpu") else result).astype(int)
        return np.array_equal(found @ H.T % 2, syndromes)

    return "bits", CHECKS * BITS, f"{CHECKS} x {BITS} {SHOTS} syndromes", "3 per column", works, check


def cases(device):
    """(name, function, size)"""
    sides = (100, 300) if device == "cpu" else (300, 1000)
    return ([("sparse.linalg.cg", poisson, side) for side in sides] + [("gf2.rank", rank, side) for side in RANKS]
            + [("gf2.osd", decode, None)])

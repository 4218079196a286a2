"""echelon.gf2.osd(), compared with a search in Python, with ldpc, and on the packed syndromes of stim.

SPDX-License-Identifier: Apache-2.0
"""
import re
import runpy
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
from conftest import same
from echelon import gf2
from test_gf2 import KINDS, bits, eliminate

SHAPES = [(1, 1), (5, 9), (20, 63), (40, 65), (70, 130), (9, 5)]


def problem(rng, shape, kind, batch=6):
    """(H, syndromes, orders): syndromes of random errors; the last one is random."""
    m, n = shape
    H = bits(rng, shape, kind, "int64")
    syndromes = rng.integers(0, 2, (batch, n)) @ H.T % 2
    syndromes[-1] = rng.integers(0, 2, m)
    return H, syndromes, np.array([rng.permutation(n) for _ in range(batch)])


def candidates(free, width, method):
    """The subsets of columns that are tried, in order."""
    if method == "e":
        width = min(width, len(free))
        return [[free[j] for j in range(width) if number >> j & 1] for number in range(2**width)]
    return chain([[]], ([j] for j in free), combinations(free[:width], 2))


def search(H, syndrome, order, width, method, weights):
    """(error, solvable), one candidate at a time; width None: OSD-0."""
    form, pivots, transform, _ = eliminate(H, order)
    s = transform @ syndrome % 2
    error, best = np.zeros(H.shape[1], int), None
    if s[len(pivots):].any():
        return error, False
    free = [j for j in order if j not in set(pivots)]
    for subset in candidates(free, width, method) if width else [[]]:
        trial = np.zeros(H.shape[1], int)
        trial[list(subset)] = 1
        trial[pivots] = (s[:len(pivots)] + form[:len(pivots)] @ trial) % 2
        if best is None or trial @ weights < best - 1e-9:
            error, best = trial, trial @ weights
    return error, True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_osd(rng, shape, kind):
    H, syndromes, orders = problem(rng, shape, kind)
    ones, weights = np.ones(shape[1]), rng.uniform(0.5, 2, shape[1])
    for width, method, w in ((0, "cs", None), (1, "cs", None), (4, "cs", None), (4, "e", None), (300, "cs", None),
                             (4, "cs", weights), (5, "e", weights)):
        errors, solvable = gf2.osd(H, syndromes, orders, osd_order=width, method=method, weights=w)
        expected = [search(H, *x, width, method, ones if w is None else w) for x in zip(syndromes, orders)]
        same(errors, np.array([e[0] for e in expected]))
        same(solvable, np.array([e[1] for e in expected]))
        assert solvable[:-1].all() and (errors[solvable] @ H.T % 2 == syndromes[solvable]).all()


def test_forms_of_arguments(rng):
    H, syndromes, orders = problem(rng, (20, 50), "full", 9)
    order = orders[0]
    for width in (0, 3):
        expected = gf2.osd(H, syndromes, orders, osd_order=width).errors
        for index in ("int32", "uint32", "uint64"):
            same(gf2.osd(H, syndromes, orders.astype(index), osd_order=width).errors, expected)
        for size in (1, 2, 100):
            same(gf2.osd(H, syndromes, orders, osd_order=width, batch_size=size).errors, expected)
        strided = np.asfortranarray(syndromes), np.asfortranarray(orders)
        same(gf2.osd(gf2.matrix(H), *strided, osd_order=width).errors, expected)
        packed = gf2.osd(H, gf2.matrix(syndromes), orders, osd_order=width).errors
        assert type(packed) is gf2.Matrix and packed == gf2.matrix(expected)
        little = [np.packbits(x, axis=1, bitorder="little") for x in (syndromes, expected)]
        same(gf2.osd(H, little[0], orders, osd_order=width, bit_packed=True).errors, little[1])
        same(gf2.osd(H, syndromes.astype(bool), orders, osd_order=width).errors, expected.astype(bool))
        one = gf2.osd(H, syndromes[3], orders[3], osd_order=width)
        same(one.errors, expected[3])
        assert one.solvable is np.True_
        shared = gf2.osd(H, syndromes, order, osd_order=width)
        same(shared.errors, gf2.osd(H, syndromes, np.tile(order, (9, 1)), osd_order=width).errors)
        llrs = np.empty(50)
        llrs[order] = np.arange(50) // 2 * 2.5 - 10  # with pairs of equal values
        same(gf2.osd(H, syndromes, llrs=llrs, osd_order=width).errors,
             gf2.osd(H, syndromes, np.argsort(llrs, kind="stable"), osd_order=width).errors)
        many = rng.normal(size=(9, 50)).astype("float32")
        same(gf2.osd(H, syndromes, llrs=many, osd_order=width).errors,
             gf2.osd(H, syndromes, np.argsort(many, axis=1), osd_order=width).errors)


def test_empty(rng):
    H, syndromes, order = bits(rng, (4, 6)), np.zeros((0, 4), "uint8"), np.arange(6)
    for width in (0, 2):
        assert gf2.osd(H, syndromes, order, osd_order=width).errors.shape == (0, 6)
        assert gf2.osd(H[:0], np.zeros((3, 0), int), order, osd_order=width).errors.tolist() == [[0] * 6] * 3
        result = gf2.osd(H[:, :0], np.eye(4, dtype=int) * [1, 0, 0, 0], np.zeros(0, int), osd_order=width)
        assert result.errors.shape == (4, 0) and result.solvable.tolist() == [False, True, True, True]


@pytest.mark.parametrize("method, name, width", [("cs", "OSD_0", 0), ("cs", "OSD_CS", 5), ("e", "OSD_E", 4)])
def test_against_ldpc(rng, method, name, width):
    """OSD of ldpc for the same ratios: its weights are log(1 / p) of the channel, which are equal here."""
    ldpc = pytest.importorskip("ldpc")
    H = np.zeros((30, 60), "uint8")
    for column in range(60):
        H[rng.permutation(30)[:3], column] = 1
    decoder = ldpc.BpOsdDecoder(H, error_rate=0.1, max_iter=3, bp_method="minimum_sum", osd_method=name,
                                osd_order=width)
    syndromes, llrs, theirs = [], [], []
    for _ in range(60):
        syndrome = (H @ (rng.random(60) < 0.15) % 2).astype("uint8")
        error = decoder.decode(syndrome)
        if not decoder.converge:
            syndromes.append(syndrome)
            llrs.append(np.array(decoder.log_prob_ratios))
            theirs.append(error.copy())
    assert len(syndromes) > 10
    syndromes, theirs = np.array(syndromes), np.array(theirs)
    errors, solvable = gf2.osd(H, syndromes, llrs=np.array(llrs), osd_order=width, method=method)
    assert solvable.all() and (errors @ H.T % 2 == syndromes).all() and (theirs @ H.T % 2 == syndromes).all()
    same(errors.sum(1), theirs.sum(1))
    if not width:
        same(errors, theirs)


def test_stim(rng):
    stim = pytest.importorskip("stim")
    circuit = stim.Circuit.generated("repetition_code:memory", distance=5, rounds=4,
                                     before_round_data_depolarization=0.05)
    model = circuit.detector_error_model()
    H = np.zeros((model.num_detectors, model.num_errors), "uint8")
    for column, instruction in enumerate(i for i in model.flattened() if i.type == "error"):
        for target in instruction.targets_copy():
            if target.is_relative_detector_id():
                H[target.val, column] = 1
    packed, _ = circuit.compile_detector_sampler(seed=5).sample(200, separate_observables=True, bit_packed=True)
    syndromes = np.unpackbits(packed, axis=1, bitorder="little")[:, :model.num_detectors]
    assert gf2.Matrix.from_packed(packed, model.num_detectors) == gf2.matrix(syndromes)
    order = rng.permutation(model.num_errors)
    errors, solvable = gf2.osd(H, packed, order, bit_packed=True)
    dense = gf2.osd(H, syndromes, order).errors
    assert solvable.all() and (dense @ H.T % 2 == syndromes).all() and syndromes.any()
    same(errors, np.packbits(dense, axis=1, bitorder="little"))


@pytest.mark.parametrize("width", [0, 4])
def test_example(capsys, width):
    pytest.importorskip("stim")
    pytest.importorskip("ldpc")
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "python" / "ldpc_osd.py"))
    example["main"](["--distance", "3", "--shots", "150", "--noise", "0.01", "--osd-order", str(width)])
    text = capsys.readouterr().out
    rates = re.search(r"ldpc ([0-9.]+), with gf2.osd ([0-9.]+); (\d+) shots have different", text)
    assert abs(float(rates[1]) - float(rates[2])) < 0.05 and (width or int(rates[3]) == 0), text


@pytest.mark.parametrize("call, error, text", [
    (lambda H, s, o: gf2.osd(H, s), ValueError, "order and llrs are missing"),
    (lambda H, s, o: gf2.osd(H, s, o, llrs=o * 1.0), ValueError, "order and llrs are given"),
    (lambda H, s, o: gf2.osd(H, s[:, :2], o), ValueError, "syndromes has shape"),
    (lambda H, s, o: gf2.osd(H, s * 1.0, o), TypeError, "syndromes has dtype float64"),
    (lambda H, s, o: gf2.osd(H[0], s, o), ValueError, "H has 1 dimensions"),
    (lambda H, s, o: gf2.osd(H, s, o[:3]), ValueError, "order has shape"),
    (lambda H, s, o: gf2.osd(H, s, [o]), ValueError, "order has shape"),
    (lambda H, s, o: gf2.osd(H, s, o * 1.0), TypeError, "order has dtype float64"),
    (lambda H, s, o: gf2.osd(H, s, o * 0), ValueError, "column_order"),
    (lambda H, s, o: gf2.osd(H, s, o * 0, osd_order=1), ValueError, "column_order"),
    (lambda H, s, o: gf2.osd(H, s, o + 1), ValueError, "column_order"),
    (lambda H, s, o: gf2.osd(H, s, o + 1, osd_order=1), ValueError, "order contains 4"),
    (lambda H, s, o: gf2.osd(H, s, o - 1), ValueError, "column_order"),
    (lambda H, s, o: gf2.osd(H, s, llrs=o), TypeError, "llrs has dtype int64"),
    (lambda H, s, o: gf2.osd(H, s, llrs=o[:2] * 1.0), ValueError, "llrs has shape"),
    (lambda H, s, o: gf2.osd(H, s, o, osd_order=-1), ValueError, "osd_order is -1"),
    (lambda H, s, o: gf2.osd(H, s, o, osd_order=1.5), TypeError, "osd_order is 1.5"),
    (lambda H, s, o: gf2.osd(H, s, o, osd_order=21, method="e"), ValueError, "osd_order is 21"),
    (lambda H, s, o: gf2.osd(H, s, o, method="OSD_CS"), ValueError, "method is 'OSD_CS'"),
    (lambda H, s, o: gf2.osd(H, s, o, weights=[1.0]), ValueError, "weights has shape"),
    (lambda H, s, o: gf2.osd(H, s, o, weights=[1]), TypeError, "weights has dtype int64"),
    (lambda H, s, o: gf2.osd(H, s[0].astype("u1"), o, bit_packed=True), ValueError, "syndromes has shape"),
    (lambda H, s, o: gf2.osd(H, s, o, bit_packed=True), TypeError, "syndromes has dtype int64"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 1, 1, 0]]), np.array([[1, 1, 0], [0, 1, 0]]), np.arange(4))

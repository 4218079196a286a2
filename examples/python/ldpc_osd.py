"""Decodes a surface code: belief propagation by ldpc, ordered statistics decoding by Echelon for all shots at once.

stim samples the syndromes of a rotated surface code with circuit noise. BpDecoder of ldpc decodes each shot. Where it
does not converge, gf2.osd() decodes the shots in one call, with the columns ordered by the log-likelihood ratios of the
belief propagation. For comparison, BpOsdDecoder of ldpc does both steps for each shot. The program prints logical error
rates and times of both; it needs stim, ldpc and NumPy.

    python3 ldpc_osd.py --distance 5 --shots 2000 --osd-order 0

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import time

import ldpc
import numpy as np
import stim
from echelon import gf2


def matrices(model):
    """(H, L, p) of a detector error model: the detectors and observables of each error, and its probability."""
    errors = [instruction for instruction in model.flattened() if instruction.type == "error"]
    H = np.zeros((model.num_detectors, len(errors)), "uint8")
    L = np.zeros((model.num_observables, len(errors)), "uint8")
    for column, error in enumerate(errors):
        for target in error.targets_copy():
            if target.is_relative_detector_id():
                H[target.val, column] ^= 1
            elif target.is_logical_observable_id():
                L[target.val, column] ^= 1
    return H, L, np.array([error.args_copy()[0] for error in errors])


def propagate(H, p, syndromes, iterations):
    """(errors, converged, ratios, seconds) of belief propagation, one shot after the other."""
    decoder = ldpc.BpDecoder(H, error_channel=list(p), max_iter=iterations, bp_method="minimum_sum",
                             ms_scaling_factor=0.625)
    errors = np.empty((len(syndromes), H.shape[1]), "uint8")
    ratios, converged = np.empty(errors.shape), np.empty(len(syndromes), bool)
    start = time.perf_counter()
    for i, syndrome in enumerate(syndromes):
        errors[i] = decoder.decode(syndrome)
        converged[i], ratios[i] = decoder.converge, decoder.log_prob_ratios
    return errors, converged, ratios, time.perf_counter() - start


def decode_with_ldpc(H, p, syndromes, iterations, order):
    """(errors, seconds) of belief propagation and OSD by ldpc, one shot after the other."""
    decoder = ldpc.BpOsdDecoder(H, error_channel=list(p), max_iter=iterations, bp_method="minimum_sum",
                                ms_scaling_factor=0.625, osd_method="OSD_CS" if order else "OSD_0", osd_order=order)
    start = time.perf_counter()
    errors = np.array([decoder.decode(syndrome) for syndrome in syndromes])
    return errors, time.perf_counter() - start


def error_rate(L, errors, observables):
    """The fraction of shots in which the decoder predicts an observable wrongly."""
    predicted = gf2.mul(errors, np.ascontiguousarray(L.T))
    return (predicted != observables).any(axis=1).mean()


def speed(count, seconds):
    """A time, and shots per second."""
    if seconds <= 0 or count == 0:
        return "too short to measure"
    return f"{seconds:.3f} s, {count / seconds:.0f} shots per second"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--distance", type=int, default=5)
    parser.add_argument("--noise", type=float, default=0.005, help="probability of each fault (default: 0.005)")
    parser.add_argument("--shots", type=int, default=2000)
    parser.add_argument("--iterations", type=int, default=20, help="of belief propagation (default: 20)")
    parser.add_argument("--osd-order", type=int, default=0, help="0: OSD-0; otherwise the order of a combination sweep")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args(arguments)

    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z", distance=o.distance, rounds=o.distance, after_clifford_depolarization=o.noise,
        before_measure_flip_probability=o.noise, after_reset_flip_probability=o.noise)
    H, L, p = matrices(circuit.detector_error_model(decompose_errors=False))
    packed, flips = circuit.compile_detector_sampler(seed=o.seed).sample(o.shots, separate_observables=True,
                                                                         bit_packed=True)
    syndromes = gf2.Matrix.from_packed(packed, H.shape[0]).to_dense()
    observables = gf2.Matrix.from_packed(flips, L.shape[0]).to_dense()

    errors, converged, ratios, bp_seconds = propagate(H, p, syndromes, o.iterations)
    hard = ~converged
    gf2.osd(H, packed[:1], llrs=ratios[:1], osd_order=o.osd_order, bit_packed=True)  # loads what the first call needs
    start = time.perf_counter()
    found = gf2.osd(H, packed[hard], llrs=ratios[hard], osd_order=o.osd_order, weights=-np.log(p), bit_packed=True)
    osd_seconds = time.perf_counter() - start
    errors[hard] = gf2.Matrix.from_packed(found.errors, H.shape[1]).to_dense()
    assert (gf2.mul(errors, np.ascontiguousarray(H.T)) == syndromes).all(), "an error has another syndrome"
    theirs, total_seconds = decode_with_ldpc(H, p, syndromes, o.iterations, o.osd_order)

    count = int(hard.sum())
    print(f"code: {H.shape[0]} detectors, {H.shape[1]} errors; {o.shots} shots, {count} without convergence")
    print(f"logical error rate: ldpc {error_rate(L, theirs, observables):.4f}, "
          f"with gf2.osd {error_rate(L, errors, observables):.4f}; {int((theirs != errors).any(axis=1).sum())} shots "
          "have different errors")
    print(f"belief propagation, ldpc: {bp_seconds:.3f} s")
    print(f"OSD of these {count} shots, ldpc: {speed(count, total_seconds - bp_seconds)} (BpOsdDecoder minus belief "
          "propagation)")
    print(f"OSD of these {count} shots, gf2.osd: {speed(count, osd_seconds)}")


if __name__ == "__main__":
    main()

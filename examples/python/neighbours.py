#!/usr/bin/env python3
"""neighbours.py [POINTS [DIMENSIONS]] - the k nearest neighbours for scikit-learn, with echelon.top_k().

TopKTransformer computes all distances with a matrix product, block by block, and selects the k smallest per row. It is
a transformer of scikit-learn: KNeighborsClassifier(metric="precomputed") and others accept its graph. The program
compares it with the brute-force search of scikit-learn, and classifies handwritten digits with both.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time

import echelon
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline

BLOCK = 2**25  # bytes of distances that are computed at once


class TopKTransformer(TransformerMixin, BaseEstimator):
    """Transforms points into the graph of the distances to their nearest points of the training set."""

    def __init__(self, n_neighbors=5):
        self.n_neighbors = n_neighbors

    def fit(self, x, y=None):
        self.points_ = np.ascontiguousarray(x)
        self.squares_ = np.einsum("ij,ij->i", self.points_, self.points_)
        self.n_features_in_ = self.points_.shape[1]
        return self

    def kneighbors(self, x):
        """The distances and the indices of the n_neighbors nearest points, the nearest first."""
        x = np.asarray(x, self.points_.dtype)
        shape = len(x), self.n_neighbors
        squared, index = np.empty(shape, x.dtype), np.empty(shape, np.int64)
        rows = max(1, BLOCK // (len(self.points_) * x.itemsize))
        for first in range(0, len(x), rows):
            block = slice(first, first + rows)
            distances = x[block] @ self.points_.T  # |p|^2 - 2 xp; |x|^2 is the same for all points
            distances *= -2
            distances += self.squares_
            echelon.top_k(distances, self.n_neighbors, mode="smallest", out=(squared[block], index[block]))
        squared += np.einsum("ij,ij->i", x, x)[:, None]
        return np.sqrt(np.maximum(squared, 0, out=squared), out=squared), index

    def transform(self, x):
        distances, index = self.kneighbors(x)
        starts = np.arange(0, index.size + 1, self.n_neighbors)
        return csr_matrix((distances.ravel(), index.ravel(), starts), shape=(len(x), len(self.points_)))


def best(function, repetitions=3):
    """The result and the minimum time in milliseconds."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = function()
        times.append(1e3 * (time.perf_counter() - start))
    return result, min(times)


def main():
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    dimensions = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    x = np.random.default_rng(1).normal(size=(points, dimensions)).astype(np.float32)
    queries = x[:max(points // 4, 1)]
    print(f"{points} points of {dimensions} dimensions, {len(queries)} queries, float32\n   k   Echelon  scikit-learn")
    for k in (1, 5, 50, 500):
        ours = TopKTransformer(k).fit(x)
        theirs = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(x)
        (distances, index), a = best(lambda: ours.kneighbors(queries))
        (expected, expected_index), b = best(lambda: theirs.kneighbors(queries))
        assert np.allclose(distances, expected, rtol=1e-3, atol=1e-2), "the distances differ"
        assert np.mean(index == expected_index) > 0.99, "the neighbours differ"  # rounding may exchange two of them
        print(f"{k:4} {a:6.0f} ms {b:10.0f} ms", flush=True)

    digits, classes = load_digits(return_X_y=True)
    model = make_pipeline(TopKTransformer(5), KNeighborsClassifier(5, metric="precomputed"))
    ours = cross_val_score(model, digits, classes).mean()
    theirs = cross_val_score(KNeighborsClassifier(5, algorithm="brute"), digits, classes).mean()
    print(f"digits: accuracy {ours:.4f} with Echelon, {theirs:.4f} with scikit-learn")
    assert abs(ours - theirs) < 0.005, "the accuracies differ"


if __name__ == "__main__":
    main()

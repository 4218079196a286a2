# reduce --by and quantile --by of structured arrays, compared with NumPy.
needs_numpy
python3 "$TESTS/numpy_groups.py"

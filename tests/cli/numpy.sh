# Sorts compared with NumPy: all types, both byte orders, all three versions.
needs_numpy
python3 "$TESTS/numpy_check.py"

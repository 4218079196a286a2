# The other commands compared with NumPy: all types, both byte orders.
needs_numpy
python3 "$TESTS/numpy_operations.py"

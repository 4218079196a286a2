# Matrices of bits compared with NumPy: arrays, packed bits, and an elimination.
needs_numpy
python3 "$TESTS/numpy_gf2.py"

# Matrices of bits compared with NumPy: arrays, packed bits, and an elimination.
python3 -c 'import numpy' 2>/dev/null || skip "python3 has no numpy"
python3 "$TESTS/numpy_gf2.py"

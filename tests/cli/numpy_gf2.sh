# Matrices of bits against NumPy: its arrays, its packed bits, and an elimination in it.
python3 -c 'import numpy' 2>/dev/null || skip "python3 has no numpy"
python3 "$TESTS/numpy_gf2.py"

# Sorts compared with NumPy: all types, both byte orders, all three versions.
python3 -c 'import numpy' 2>/dev/null || skip "python3 has no numpy"
python3 "$TESTS/numpy_check.py"

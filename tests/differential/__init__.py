"""The parts of tests/differential.py: random cases and their expected results."""

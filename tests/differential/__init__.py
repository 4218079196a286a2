"""The parts of tests/differential.py: random cases and their expected results.

SPDX-License-Identifier: Apache-2.0
"""

"""The operations, one module per domain.

SPDX-License-Identifier: Apache-2.0
"""

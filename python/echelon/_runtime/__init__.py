"""The library, contexts, errors and calls, which all operations share.

SPDX-License-Identifier: Apache-2.0
"""

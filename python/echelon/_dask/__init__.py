"""What echelon.dask needs on the workers.

SPDX-License-Identifier: Apache-2.0
"""

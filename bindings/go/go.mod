// go.mod - the module echelon, which needs no other modules.
// SPDX-License-Identifier: Apache-2.0
module echelon

go 1.19

! echelon_c.f90 - the declarations of echelon.h that the module echelon uses. The header documents them.
!
! bindings/check_abi.py compares this file with include/abi.txt: names, types and order of parameters, values, fields
! and their offsets. The components named size have the size of their type as the default value.
!
! SPDX-License-Identifier: Apache-2.0
module echelon_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: ECH_OK = 0
    integer(c_int), parameter :: ECH_ERR_ARG = 1
    integer(c_int), parameter :: ECH_ERR_UNSUPPORTED = 2
    integer(c_int), parameter :: ECH_ERR_MEMORY = 3
    integer(c_int), parameter :: ECH_ERR_NO_DEVICE = 4
    integer(c_int), parameter :: ECH_ERR_DEVICE = 5
    integer(c_int), parameter :: ECH_ERR_CANCELED = 6
    integer(c_int), parameter :: ECH_ERR_COMM = 7

    integer(c_int), parameter :: ECH_I8 = 0
    integer(c_int), parameter :: ECH_I16 = 1
    integer(c_int), parameter :: ECH_I32 = 2
    integer(c_int), parameter :: ECH_I64 = 3
    integer(c_int), parameter :: ECH_F32 = 10
    integer(c_int), parameter :: ECH_F64 = 11

    integer(c_int), parameter :: ECH_ORDER_NAN_LAST = 0
    integer(c_int), parameter :: ECH_ORDER_TOTAL = 1

    integer(c_int), parameter :: ECH_OP_SUM = 0
    integer(c_int), parameter :: ECH_OP_PRODUCT = 1
    integer(c_int), parameter :: ECH_OP_MIN = 2
    integer(c_int), parameter :: ECH_OP_MAX = 3
    integer(c_int), parameter :: ECH_OP_AND = 4
    integer(c_int), parameter :: ECH_OP_OR = 5
    integer(c_int), parameter :: ECH_OP_XOR = 6
    integer(c_int), parameter :: ECH_OP_MEAN = 13
    integer(c_int), parameter :: ECH_OP_VARIANCE = 14
    integer(c_int), parameter :: ECH_OP_NORM = 15
    integer(c_int), parameter :: ECH_OP_STDDEV = 16

    type, bind(c) :: ech_sort_options
        integer(c_size_t) :: size = 80
        integer(c_int) :: descending = 0
        integer(c_int) :: order = 0
        integer(c_int) :: begin_bit = 0
        integer(c_int) :: end_bit = 0
        type(c_ptr) :: algorithm = c_null_ptr
        type(c_ptr) :: work = c_null_ptr
        integer(c_size_t) :: work_bytes = 0
        integer(c_size_t) :: row_stride = 0
        integer(c_size_t) :: element_stride = 0
        integer(c_size_t) :: out_row_stride = 0
        integer(c_size_t) :: out_element_stride = 0
    end type ech_sort_options

    type, bind(c) :: ech_topk_options
        integer(c_size_t) :: size = 96
        integer(c_int) :: smallest = 0
        integer(c_int) :: unsorted = 0
        integer(c_int) :: order = 0
        type(c_ptr) :: counts = c_null_ptr
        integer(c_int) :: counts_dtype = 0
        integer(c_size_t) :: row_stride = 0
        integer(c_size_t) :: element_stride = 0
        integer(c_size_t) :: out_row_stride = 0
        integer(c_size_t) :: out_element_stride = 0
        type(c_ptr) :: algorithm = c_null_ptr
        type(c_ptr) :: work = c_null_ptr
        integer(c_size_t) :: work_bytes = 0
    end type ech_topk_options

    type, bind(c) :: ech_scan_options
        integer(c_size_t) :: size = 48
        integer(c_int) :: exclusive = 0
        integer(c_int) :: reverse = 0
        integer(c_int) :: accumulate_wide = 0
        integer(c_int) :: nan = 0
        type(c_ptr) :: init = c_null_ptr
        type(c_ptr) :: work = c_null_ptr
        integer(c_size_t) :: work_bytes = 0
    end type ech_scan_options

    type, bind(c) :: ech_sort_column
        integer(c_size_t) :: size = 72
        type(c_ptr) :: data = c_null_ptr
        integer(c_int) :: dtype = 0
        integer(c_int) :: descending = 0
        integer(c_int) :: order = 0
        integer(c_int) :: nulls_first = 0
        type(c_ptr) :: validity = c_null_ptr
        integer(c_size_t) :: validity_offset = 0
        integer(c_int) :: kind = 0
        integer(c_size_t) :: width_bytes = 0
        integer(c_size_t) :: stride_bytes = 0
    end type ech_sort_column

    interface
        function ech_open(ctx, device) bind(c) result(answer)
            import
            type(c_ptr), intent(out) :: ctx
            type(c_ptr), value :: device
            integer(c_int) :: answer
        end function ech_open

        subroutine ech_close(ctx) bind(c)
            import
            type(c_ptr), value :: ctx
        end subroutine ech_close

        function ech_error(ctx) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr) :: answer
        end function ech_error

        function ech_set_threads(ctx, threads) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            integer(c_int), value :: threads
            integer(c_int) :: answer
        end function ech_set_threads

        function ech_sort(ctx, in, out, n, dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: in
            type(c_ptr), value :: out
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_sort

        function ech_sort_pairs(ctx, keys_in, values_in, keys_out, values_out, n, &
                dtype, value_bytes, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: keys_in
            type(c_ptr), value :: values_in
            type(c_ptr), value :: keys_out
            type(c_ptr), value :: values_out
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            integer(c_size_t), value :: value_bytes
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_sort_pairs

        function ech_argsort(ctx, keys, index, n, dtype, index_dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: keys
            type(c_ptr), value :: index
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            integer(c_int), value :: index_dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_argsort

        function ech_argsort_columns(ctx, columns, indices, n, column_count, &
                index_dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: columns
            type(c_ptr), value :: indices
            integer(c_size_t), value :: n
            integer(c_size_t), value :: column_count
            integer(c_int), value :: index_dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_argsort_columns

        function ech_topk(ctx, in, values, indices, n, k, dtype, index_dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: in
            type(c_ptr), value :: values
            type(c_ptr), value :: indices
            integer(c_size_t), value :: n
            integer(c_size_t), value :: k
            integer(c_int), value :: dtype
            integer(c_int), value :: index_dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_topk

        function ech_reduce(ctx, op, in, out, n, dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            integer(c_int), value :: op
            type(c_ptr), value :: in
            type(c_ptr), value :: out
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_reduce

        function ech_reduce_dtype(op, dtype, accumulate_wide) bind(c) result(answer)
            import
            integer(c_int), value :: op
            integer(c_int), value :: dtype
            integer(c_int), value :: accumulate_wide
            integer(c_int) :: answer
        end function ech_reduce_dtype

        function ech_scan(ctx, op, in, out, n, dtype, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            integer(c_int), value :: op
            type(c_ptr), value :: in
            type(c_ptr), value :: out
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_scan

        function ech_histogram(ctx, in, counts, n, dtype, bins, lower, upper, options) bind(c) result(answer)
            import
            type(c_ptr), value :: ctx
            type(c_ptr), value :: in
            type(c_ptr), value :: counts
            integer(c_size_t), value :: n
            integer(c_int), value :: dtype
            integer(c_size_t), value :: bins
            real(c_double), value :: lower
            real(c_double), value :: upper
            type(c_ptr), value :: options
            integer(c_int) :: answer
        end function ech_histogram
    end interface
end module echelon_c

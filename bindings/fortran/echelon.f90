! echelon.f90 - sorting and data-parallel operations on NVIDIA GPUs and on the CPU, by libechelon.
!
! A context is an open device. Its procedures take views of arrays, which a GPU context copies to the GPU and back, and
! return when they have finished. Positions begin with 1. Arrays that are passed to view() have the attribute target,
! and are contiguous. The module echelon_c declares the functions of C; the headers in include/echelon describe them.
!
! SPDX-License-Identifier: Apache-2.0
module echelon
    use, intrinsic :: iso_c_binding
    use echelon_c
    implicit none
    private
    public :: context, error_type, array_view, column, view
    public :: ECH_OP_SUM, ECH_OP_PRODUCT, ECH_OP_MIN, ECH_OP_MAX, ECH_OP_AND, ECH_OP_OR, ECH_OP_XOR
    public :: ECH_OP_MEAN, ECH_OP_VARIANCE, ECH_OP_NORM, ECH_OP_STDDEV
    public :: ECH_ERR_ARG, ECH_ERR_UNSUPPORTED, ECH_ERR_MEMORY, ECH_ERR_NO_DEVICE, ECH_ERR_DEVICE

    ! The result of a call. status is 0, or a constant ECH_ERR_... with a message.
    type :: error_type
        integer(c_int) :: status = ECH_OK
        character(:), allocatable :: message
    end type error_type

    ! The address, length and type of an array.
    type :: array_view
        private
        type(c_ptr) :: address = c_null_ptr
        integer(c_size_t) :: n = 0
        integer(c_int) :: dtype = 0
        integer(c_size_t) :: bytes = 0
        logical :: contiguous = .true.
    end type array_view

    ! A column of a table and its order.
    type :: column
        type(array_view) :: data
        logical :: descending = .false.
    end type column

    type :: context
        private
        type(c_ptr) :: raw = c_null_ptr
    contains
        procedure :: open => context_open
        procedure :: close => context_close
        procedure :: set_threads
        procedure :: sort
        procedure :: sort_pairs
        procedure :: argsort
        procedure :: argsort_columns
        procedure :: topk
        procedure :: reduce
        procedure :: scan
        procedure :: histogram
    end type context

    interface view
        procedure view_i8, view_i16, view_i32, view_i64, view_f32, view_f64
    end interface view

contains

    ! ---- Views ----

    function view_i8(array) result(v)
        integer(c_int8_t), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_I8, 1, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_i8

    function view_i16(array) result(v)
        integer(c_int16_t), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_I16, 2, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_i16

    function view_i32(array) result(v)
        integer(c_int32_t), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_I32, 4, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_i32

    function view_i64(array) result(v)
        integer(c_int64_t), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_I64, 8, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_i64

    function view_f32(array) result(v)
        real(c_float), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_F32, 4, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_f32

    function view_f64(array) result(v)
        real(c_double), target :: array(:)
        type(array_view) :: v
        v = new_view(size(array, kind=c_size_t), ECH_F64, 8, is_contiguous(array))
        if (v%n > 0) v%address = c_loc(array(1))
    end function view_f64

    function new_view(n, dtype, bytes, contiguous) result(v)
        integer(c_size_t), intent(in) :: n
        integer(c_int), intent(in) :: dtype
        integer, intent(in) :: bytes
        logical, intent(in) :: contiguous
        type(array_view) :: v
        v = array_view(c_null_ptr, n, dtype, int(bytes, c_size_t), contiguous)
    end function new_view

    ! ---- Errors ----

    function decimal(i) result(text)
        integer(c_size_t), intent(in) :: i
        character(:), allocatable :: text
        character(24) :: buffer
        write (buffer, '(i0)') i
        text = trim(buffer)
    end function decimal

    function argument_error(message) result(error)
        character(*), intent(in) :: message
        type(error_type) :: error
        error%status = ECH_ERR_ARG
        error%message = message
    end function argument_error

    ! The error of a status that a call on a context, or without a context, returned.
    function library_error(status, raw) result(error)
        integer(c_int), intent(in) :: status
        type(c_ptr), intent(in) :: raw
        type(error_type) :: error
        type(c_ptr) :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        error%status = status
        error%message = ''
        if (status == ECH_OK) return
        text = ech_error(raw)
        call c_f_pointer(text, letters, [4096])
        do i = 1, size(letters)
            if (letters(i) == c_null_char) exit
            error%message = error%message // letters(i)
        end do
    end function library_error

    ! An error if an array is not contiguous, or if its length is not n.
    function checked(self, name, array, other, n) result(error)
        class(context), intent(in) :: self
        character(*), intent(in) :: name, other
        type(array_view), intent(in) :: array
        integer(c_size_t), intent(in) :: n
        type(error_type) :: error
        error%message = ''
        if (.not. c_associated(self%raw)) then
            error = argument_error('the context is closed')
        else if (.not. array%contiguous) then
            error = argument_error(name // ' is not contiguous: copy it first')
        else if (array%n /= n) then
            error = argument_error(name // ' has ' // decimal(array%n) // ' elements, but ' // other // &
                ' has ' // decimal(n) // ': they must be equally long')
        end if
    end function checked

    ! ---- Contexts ----

    ! Opens a device, "cpu" or "cuda", or by default the one of ECHELON_DEVICE, a GPU, or the CPU.
    subroutine context_open(self, error, device)
        class(context), intent(inout) :: self
        type(error_type), intent(out) :: error
        character(*), intent(in), optional :: device
        character(:, kind=c_char), allocatable, target :: name
        call self%close()
        if (present(device)) then
            name = trim(device) // c_null_char
            error = library_error(ech_open(self%raw, c_loc(name)), c_null_ptr)
        else
            error = library_error(ech_open(self%raw, c_null_ptr), c_null_ptr)
        end if
    end subroutine context_open

    ! Waits for the device and closes it. A copy of the context must not be used any longer.
    subroutine context_close(self)
        class(context), intent(inout) :: self
        call ech_close(self%raw)
        self%raw = c_null_ptr
    end subroutine context_close

    ! Limits the number of CPU threads of a call. 0 is the default: all processors.
    subroutine set_threads(self, threads, error)
        class(context), intent(in) :: self
        integer, intent(in) :: threads
        type(error_type), intent(out) :: error
        error = checked(self, '', array_view(), '', 0_c_size_t)
        if (error%status /= ECH_OK) return
        error = library_error(ech_set_threads(self%raw, int(threads, c_int)), self%raw)
    end subroutine set_threads

    function options_of(descending) result(options)
        logical, intent(in), optional :: descending
        type(ech_sort_options) :: options
        if (present(descending)) options%descending = merge(1_c_int, 0_c_int, descending)
    end function options_of

    ! ---- Sorts ----

    ! Sorts keys. NaN is the largest.
    subroutine sort(self, keys, error, descending)
        class(context), intent(in) :: self
        type(array_view), intent(in) :: keys
        type(error_type), intent(out) :: error
        logical, intent(in), optional :: descending
        type(ech_sort_options), target :: options
        error = checked(self, 'keys', keys, 'keys', keys%n)
        if (error%status /= ECH_OK) return
        options = options_of(descending)
        error = library_error(ech_sort(self%raw, keys%address, keys%address, keys%n, keys%dtype, &
            c_loc(options)), self%raw)
    end subroutine sort

    ! Sorts keys, and moves a value with each key. It is stable.
    subroutine sort_pairs(self, keys, values, error, descending)
        class(context), intent(in) :: self
        type(array_view), intent(in) :: keys, values
        type(error_type), intent(out) :: error
        logical, intent(in), optional :: descending
        type(ech_sort_options), target :: options
        error = checked(self, 'keys', keys, 'keys', keys%n)
        if (error%status == ECH_OK) error = checked(self, 'values', values, 'keys', keys%n)
        if (error%status /= ECH_OK) return
        options = options_of(descending)
        error = library_error(ech_sort_pairs(self%raw, keys%address, values%address, keys%address, &
            values%address, keys%n, keys%dtype, values%bytes, c_loc(options)), self%raw)
    end subroutine sort_pairs

    ! Writes the permutation that sorts the keys. It is stable.
    subroutine argsort(self, keys, positions, error, descending)
        class(context), intent(in) :: self
        type(array_view), intent(in) :: keys
        integer(c_int64_t), intent(out), target, contiguous :: positions(:)
        type(error_type), intent(out) :: error
        logical, intent(in), optional :: descending
        type(ech_sort_options), target :: options
        type(array_view) :: out
        out = view(positions)
        error = checked(self, 'keys', keys, 'keys', keys%n)
        if (error%status == ECH_OK) error = checked(self, 'positions', out, 'keys', keys%n)
        if (error%status /= ECH_OK) return
        options = options_of(descending)
        error = library_error(ech_argsort(self%raw, keys%address, out%address, keys%n, keys%dtype, &
            out%dtype, c_loc(options)), self%raw)
        if (error%status == ECH_OK) positions = positions + 1
    end subroutine argsort

    ! Writes the permutation that sorts the rows of a table: by the first column, equal elements of it by the second
    ! column, and so on. It is stable.
    subroutine argsort_columns(self, columns, positions, error)
        class(context), intent(in) :: self
        type(column), intent(in) :: columns(:)
        integer(c_int64_t), intent(out), target, contiguous :: positions(:)
        type(error_type), intent(out) :: error
        type(ech_sort_column), target :: raw(max(1, size(columns)))
        type(array_view) :: out
        integer :: i
        out = view(positions)
        error = checked(self, 'positions', out, 'positions', out%n)
        do i = 1, size(columns)
            if (error%status == ECH_OK) error = checked(self, 'column ' // &
                decimal(int(i, c_size_t)), columns(i)%data, 'positions', out%n)
            raw(i)%data = columns(i)%data%address
            raw(i)%dtype = columns(i)%data%dtype
            raw(i)%descending = merge(1_c_int, 0_c_int, columns(i)%descending)
        end do
        if (error%status /= ECH_OK) return
        error = library_error(ech_argsort_columns(self%raw, c_loc(raw), out%address, out%n, &
            size(columns, kind=c_size_t), out%dtype, c_null_ptr), self%raw)
        if (error%status == ECH_OK) positions = positions + 1
    end subroutine argsort_columns

    ! Writes the largest elements, the largest first, and their positions; or the smallest ones.
    subroutine topk(self, in, values, positions, error, smallest)
        class(context), intent(in) :: self
        type(array_view), intent(in) :: in, values
        integer(c_int64_t), intent(out), target, contiguous :: positions(:)
        type(error_type), intent(out) :: error
        logical, intent(in), optional :: smallest
        type(ech_topk_options), target :: options
        type(array_view) :: out
        out = view(positions)
        error = checked(self, 'in', in, 'in', in%n)
        if (error%status == ECH_OK) error = checked(self, 'values', values, 'positions', out%n)
        if (error%status == ECH_OK .and. values%dtype /= in%dtype) &
            error = argument_error('values and in have different types')
        if (error%status /= ECH_OK) return
        if (present(smallest)) options%smallest = merge(1_c_int, 0_c_int, smallest)
        error = library_error(ech_topk(self%raw, in%address, values%address, out%address, in%n, &
            out%n, in%dtype, out%dtype, c_loc(options)), self%raw)
        if (error%status == ECH_OK) positions = positions + 1
    end subroutine topk

    ! ---- Reductions, scans and histograms ----

    ! Reduces an array to one element, out. Its type: sums of integers are 64 bits wide; means and deviations are f32
    ! for f32, otherwise f64; otherwise that of the array.
    subroutine reduce(self, op, in, out, error)
        class(context), intent(in) :: self
        integer(c_int), intent(in) :: op
        type(array_view), intent(in) :: in, out
        type(error_type), intent(out) :: error
        error = checked(self, 'in', in, 'in', in%n)
        if (error%status == ECH_OK) error = checked(self, 'out', out, 'the result', 1_c_size_t)
        if (error%status /= ECH_OK) return
        if (.not. any(op == [ECH_OP_SUM, ECH_OP_PRODUCT, ECH_OP_MIN, ECH_OP_MAX, ECH_OP_AND, ECH_OP_OR, &
            ECH_OP_XOR, ECH_OP_MEAN, ECH_OP_VARIANCE, ECH_OP_NORM, ECH_OP_STDDEV])) then
            error = argument_error('op is not one of the public constants ECH_OP_...')
        else if (ech_reduce_dtype(op, in%dtype, 0_c_int) /= out%dtype) then
            error = argument_error('out does not have the type of the result of this operator')
        else
            error = library_error(ech_reduce(self%raw, op, in%address, out%address, in%n, in%dtype, &
                c_null_ptr), self%raw)
        end if
    end subroutine reduce

    ! Combines each element with all elements before it. out may be in.
    subroutine scan(self, op, in, out, error, exclusive)
        class(context), intent(in) :: self
        integer(c_int), intent(in) :: op
        type(array_view), intent(in) :: in, out
        type(error_type), intent(out) :: error
        logical, intent(in), optional :: exclusive
        type(ech_scan_options), target :: options
        error = checked(self, 'in', in, 'in', in%n)
        if (error%status == ECH_OK) error = checked(self, 'out', out, 'in', in%n)
        if (error%status == ECH_OK .and. out%dtype /= in%dtype) &
            error = argument_error('out and in have different types')
        if (error%status /= ECH_OK) return
        if (present(exclusive)) options%exclusive = merge(1_c_int, 0_c_int, exclusive)
        error = library_error(ech_scan(self%raw, op, in%address, out%address, in%n, in%dtype, &
            c_loc(options)), self%raw)
    end subroutine scan

    ! Counts the elements in each of several bins of equal width. Others are not counted.
    subroutine histogram(self, in, counts, lower, upper, error)
        class(context), intent(in) :: self
        type(array_view), intent(in) :: in
        integer(c_int64_t), intent(out), target, contiguous :: counts(:)
        real(c_double), intent(in) :: lower, upper
        type(error_type), intent(out) :: error
        type(array_view) :: out
        out = view(counts)
        error = checked(self, 'in', in, 'in', in%n)
        if (error%status /= ECH_OK) return
        error = library_error(ech_histogram(self%raw, in%address, out%address, in%n, in%dtype, out%n, &
            lower, upper, c_null_ptr), self%raw)
    end subroutine histogram
end module echelon

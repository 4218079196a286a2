! test.f90 - every procedure of the module echelon, and wrong calls. The last line has the numbers of checks.
!
! SPDX-License-Identifier: Apache-2.0
program test
    use, intrinsic :: iso_c_binding
    use echelon
    implicit none
    integer :: passed = 0, failed = 0
    type(context) :: ctx
    type(error_type) :: error

    call ctx%open(error, 'cpu')
    call check(error%status == 0, 'open')
    call test_sorts()
    call test_others()
    call test_errors()
    print '(i0, a, i0, a)', passed, ' passed, ', failed, ' failed, 0 skipped'
    if (failed > 0) stop 1
contains
    subroutine check(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        if (ok .and. error%status == 0) then
            passed = passed + 1
        else
            failed = failed + 1
            print '(4a)', 'FAIL ', what, ' ', error%message
        end if
    end subroutine check

    ! Passes if the last call failed with this status, and a message that contains text.
    subroutine check_error(status, text)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: text
        logical :: ok
        ok = error%status == status .and. index(error%message, text) > 0
        if (.not. ok) print '(2a)', 'not ' // text // ': ', error%message
        error = error_type(0, '')
        call check(ok, text)
    end subroutine check_error

    subroutine test_sorts()
        integer(c_int8_t), target :: a(3) = int([3, -1, 2], c_int8_t)
        integer(c_int16_t), target :: b(3) = int([3, -1, 2], c_int16_t)
        integer(c_int32_t), target :: c(3) = [3, -1, 2]
        integer(c_int64_t), target :: d(3) = [3, -1, 2], empty(0)
        real(c_float), target :: e(3) = [3.0, -1.0, 2.0]
        real(c_double), target :: f(3) = [3d0, -1d0, 2d0]
        integer(c_int64_t) :: positions(3), two(2)
        call ctx%sort(view(a), error)
        call check(all(a == [-1, 2, 3]), 'sort of i8')
        call ctx%sort(view(b), error, descending=.true.)
        call check(all(b == [3, 2, -1]), 'sort of i16')
        call ctx%argsort(view(c), positions, error)
        call check(all(positions == [2, 3, 1]), 'argsort of i32')
        call ctx%sort(view(d), error)
        call check(all(d == [-1, 2, 3]), 'sort of i64')
        call ctx%sort(view(empty), error)
        call check(.true., 'sort of nothing')
        call ctx%argsort(view(f), positions, error, descending=.true.)
        call check(all(positions == [1, 3, 2]), 'argsort of f64')
        call ctx%sort_pairs(view(e), view(f), error)
        call check(all(e == [-1.0, 2.0, 3.0]) .and. all(f == [-1d0, 2d0, 3d0]), 'sort_pairs')
        c = [1, 0, 1]
        call ctx%argsort_columns([column(view(c)), column(view(f), .true.)], positions, error)
        call check(all(positions == [2, 3, 1]), 'argsort_columns')
        call ctx%topk(view(e), view(f(1:0)), two(1:0), error)
        call check_error(ECH_ERR_ARG, 'different types')
        call ctx%topk(view(c), view(c(1:0)), two(1:0), error)
        call check(.true., 'topk of nothing')
        call test_topk()
    end subroutine test_sorts

    subroutine test_topk()
        real(c_float), target :: in(4) = [5.0, 9.0, -1.0, 9.0], best(2)
        integer(c_int64_t) :: positions(2)
        call ctx%topk(view(in), view(best), positions, error)
        call check(all(best == 9.0) .and. all(positions == [2, 4]), 'topk')
        call ctx%topk(view(in), view(best), positions, error, smallest=.true.)
        call check(all(best == [-1.0, 5.0]) .and. all(positions == [3, 1]), 'topk, smallest')
    end subroutine test_topk

    subroutine test_others()
        integer(c_int32_t), target :: in(4) = [1, 5, 2, 4], out(4), low(1)
        integer(c_int64_t), target :: counts(2), sum(1)
        real(c_double), target :: mean(1)
        call ctx%reduce(ECH_OP_SUM, view(in), view(sum), error)
        call check(sum(1) == 12, 'sum')
        call ctx%reduce(ECH_OP_MIN, view(in), view(low), error)
        call check(low(1) == 1, 'min')
        call ctx%reduce(ECH_OP_MEAN, view(in), view(mean), error)
        call check(mean(1) == 3d0, 'mean')
        call ctx%scan(ECH_OP_SUM, view(in), view(out), error)
        call check(all(out == [1, 6, 8, 12]), 'scan')
        call ctx%scan(ECH_OP_MAX, view(in), view(out), error, exclusive=.true.)
        call check(out(1) < -huge(out) .and. all(out(2:) == [1, 5, 5]), 'scan, exclusive')
        call ctx%histogram(view(in), counts, 0d0, 4d0, error)
        call check(all(counts == [1, 1]), 'histogram')
        call ctx%set_threads(1, error)
        call check(.true., 'set_threads')
    end subroutine test_others

    subroutine test_errors()
        integer(c_int32_t), target :: keys(4) = [3, 1, 2, 0]
        integer(c_int64_t), target :: positions(3), sum(1)
        type(context) :: other
        call other%open(error, 'nosuch')
        call check_error(ECH_ERR_ARG, 'device is "nosuch"')
        call other%sort(view(keys), error)
        call check_error(ECH_ERR_ARG, 'the context is closed')
        call other%open(error, 'cuda:99')
        call check_error(ECH_ERR_NO_DEVICE, '')
        call ctx%sort_pairs(view(keys), view(positions), error)
        call check_error(ECH_ERR_ARG, 'values has 3 elements, but keys has 4: they must be')
        call ctx%sort_pairs(view(keys), view(keys), error)
        call check_error(ECH_ERR_ARG, 'overlap')
        call ctx%sort(view(keys(1:4:2)), error)
        call check_error(ECH_ERR_ARG, 'keys is not contiguous')
        call ctx%argsort(view(keys), positions, error)
        call check_error(ECH_ERR_ARG, 'positions has 3')
        call ctx%argsort_columns([column(view(keys))], positions, error)
        call check_error(ECH_ERR_ARG, 'column 1 has 4')
        call ctx%argsort_columns([column ::], positions, error)
        call check_error(ECH_ERR_ARG, 'column')
        call ctx%reduce(ECH_OP_MAX, view(keys), view(sum), error)
        call check_error(ECH_ERR_ARG, 'type of the result')
        call ctx%reduce(9, view(keys), view(sum), error)
        call check_error(ECH_ERR_ARG, 'op is not')
        call ctx%scan(99, view(keys), view(keys), error)
        call check_error(ECH_ERR_ARG, '99')
        call ctx%histogram(view(keys), positions, 1d0, 1d0, error)
        call check_error(ECH_ERR_ARG, 'lower')
        call ctx%set_threads(-1, error)
        call check_error(ECH_ERR_ARG, 'threads')
        call ctx%close()
        call ctx%set_threads(1, error)
        call check_error(ECH_ERR_ARG, 'the context is closed')
    end subroutine test_errors
end program test

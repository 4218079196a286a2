! example.f90 - orders of a shop: the largest of each customer, the total, and the smallest of all.
!
!     example [DEVICE]     the name of a device, as for the procedure open: cpu, cuda
!
! SPDX-License-Identifier: Apache-2.0
program example
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use echelon
    implicit none
    integer, parameter :: n = 100000
    integer(c_int32_t), target :: customer(n)
    real(c_double), target :: amount(n), total(1), mean(1)
    integer(c_int64_t) :: positions(n)
    integer(c_int64_t) :: x = 1
    integer :: i, next
    type(context) :: ctx
    type(error_type) :: error
    character(64) :: device

    do i = 1, n
        x = mod(x * 48271, 2147483647_c_int64_t)
        customer(i) = int(mod(x, 100_c_int64_t), c_int32_t)
        x = mod(x * 48271, 2147483647_c_int64_t)
        amount(i) = 0.25d0 * real(mod(x, 4000_c_int64_t), c_double) ! sums are exact
    end do

    call get_command_argument(1, device)
    if (device == '') then
        call ctx%open(error)
    else
        call ctx%open(error, device)
    end if
    call stop_on(error)

    call ctx%reduce(ECH_OP_SUM, view(amount), view(total), error)
    call stop_on(error)
    call ctx%reduce(ECH_OP_MEAN, view(amount), view(mean), error)
    call stop_on(error)
    if (total(1) /= sum(amount)) call fail('the total is wrong')
    print '(i0, a, f0.2, a, f0.2)', n, ' orders, total ', total, ', mean ', mean

    call ctx%argsort_columns([column(view(customer)), column(view(amount), descending=.true.)], &
        positions, error)
    call stop_on(error)
    next = 0 ! the customer whose largest order comes next
    do i = 1, n
        associate (order => positions(i), last => positions(max(i - 1, 1)))
            if (customer(order) < customer(last) .or. &
                (customer(order) == customer(last) .and. amount(order) > amount(last))) &
                call fail('the orders are not sorted')
            if (customer(order) /= next .or. next == 3) cycle
            print '(a, i0, a, i0, a, f0.2)', 'customer ', next, ': largest order ', order - 1, &
                ' of ', amount(order)
            next = next + 1
        end associate
    end do

    call ctx%sort_pairs(view(amount), view(customer), error)
    call stop_on(error)
    print '(a, f4.2, a, i0)', 'smallest order ', amount(1), ' of customer ', customer(1)
    call ctx%close()
contains
    subroutine stop_on(error)
        type(error_type), intent(in) :: error
        if (error%status /= 0) call fail(error%message)
    end subroutine stop_on

    subroutine fail(message)
        character(*), intent(in) :: message
        write (error_unit, '(2a)') 'example: ', message
        stop 1
    end subroutine fail
end program example

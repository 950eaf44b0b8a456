! Conjugate gradients of the NAS parallel benchmarks, for MPI on a grid of processes.
!
! The same algorithm and the same names of assertions as in cg.c; see there.
!
!     mpifort -O2 $(autotune assert flags --fortran) cg.F90 -o cg_f
!     mpiexec -n 4 ./cg_f W
!     mpiexec -n 4 ./cg_f W 1        with 1 iteration; zeta is not checked then
!     autotune assert run -- mpiexec -n 4 ./cg_f W
#define HERE __FILE__, __LINE__
module conjugate_gradients
  use modeling_assertions
  use iso_fortran_env, only: error_unit
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), i8 = selected_int_kind(18), steps = 25

  type problem
    character :: letter
    integer :: na, nonzer, niter
    real(dp) :: shift, zeta
  end type problem

  type(problem), parameter :: classes(5) = [ &
    problem('S', 1400, 7, 15, 10, 8.5971775078648_dp), &
    problem('W', 7000, 8, 15, 12, 10.362595087124_dp), &
    problem('A', 14000, 11, 15, 20, 17.130235054029_dp), &
    problem('B', 75000, 13, 75, 60, 22.712745482631_dp), &
    problem('C', 150000, 15, 75, 110, 28.973605592845_dp)]

  integer :: me, processes
  integer :: nprows, npcols, l ! l = log2(npcols)
  integer :: n, m              ! columns and rows of the block; a message has n numbers
  integer :: partner           ! that holds the transposed block

  ! the block of A in compressed rows
  integer, allocatable :: start(:), column(:)
  real(dp), allocatable :: entries(:)

  real(dp), allocatable :: x(:), z(:), p(:), q(:), r(:), w(:)

contains

  ! ---- the matrix ----------------------------------------------------------------------------

  ! The next number of x' = 5^13 x mod 2^46, divided by 2^46; in two halves of 23 bits.
  real(dp) function uniform(seed)
    integer(i8), intent(inout) :: seed
    integer(i8), parameter :: factor = 1220703125_i8
    integer(i8) :: high

    high = iand(factor*shiftr(seed, 23), 2_i8**23 - 1)
    seed = iand(shiftl(high, 23) + factor*iand(seed, 2_i8**23 - 1), 2_i8**46 - 1)
    uniform = scale(real(seed, dp), -46)
  end function uniform

  ! A sparse vector: nonzer random entries at random places, and 0.5 at the middle.
  subroutine sparse_vector(seed, na, nonzer, middle, length, place, entry)
    integer(i8), intent(inout) :: seed
    integer, intent(in) :: na, nonzer, middle
    integer, intent(out) :: length, place(:)
    real(dp), intent(out) :: entry(:)
    integer :: range, location, i
    real(dp) :: number

    range = 1
    do while (range < na)
      range = 2*range
    end do
    length = 0
    do while (length < nonzer)
      number = uniform(seed)
      location = int(range*uniform(seed)) + 1
      if (location > na .or. any(place(:length) == location)) cycle
      length = length + 1
      place(length) = location
      entry(length) = number
    end do
    do i = 1, length
      if (place(i) == middle) exit
    end do
    place(i) = middle
    entry(i) = 0.5_dp
    length = max(length, i)
  end subroutine sparse_vector

  ! This process's block of A = sum of weight_i v_i v_i' + (0.1 - shift) I; the weights fall from
  ! 1 to 0.1.
  subroutine make_matrix(chosen)
    type(problem), intent(in) :: chosen
    integer :: length(chosen%na), i, a, b, row, col, first_row, first_column
    integer, allocatable :: place(:, :)
    real(dp), allocatable :: entry(:, :)
    real(dp) :: weight
    integer(i8) :: seed

    allocate (place(chosen%nonzer + 1, chosen%na), entry(chosen%nonzer + 1, chosen%na))
    allocate (start(m + 2))
    first_row = me/npcols*m
    first_column = mod(me, npcols)*n
    start = 0
    seed = 314159265
    weight = uniform(seed)
    do i = 1, chosen%na
      call sparse_vector(seed, chosen%na, chosen%nonzer, i, length(i), place(:, i), entry(:, i))
      b = count(place(:length(i), i) > first_column .and. place(:length(i), i) <= first_column + n)
      do a = 1, length(i)
        row = place(a, i) - first_row
        if (row >= 1 .and. row <= m) start(row + 2) = start(row + 2) + b
      end do
    end do
    start(:2) = 1
    do row = 1, m
      start(row + 2) = start(row + 2) + start(row + 1)
    end do
    allocate (column(start(m + 2) - 1), entries(start(m + 2) - 1))
    weight = 1
    do i = 1, chosen%na
      do a = 1, length(i)
        row = place(a, i) - first_row
        if (row < 1 .or. row > m) cycle
        do b = 1, length(i)
          col = place(b, i) - first_column
          if (col < 1 .or. col > n) cycle
          column(start(row + 1)) = col
          entries(start(row + 1)) = weight*entry(a, i)*entry(b, i)
          if (place(a, i) == i .and. place(b, i) == i) &
            entries(start(row + 1)) = entries(start(row + 1)) + 0.1_dp - chosen%shift
          start(row + 1) = start(row + 1) + 1
        end do
      end do
      weight = weight*0.1_dp**(1.0_dp/chosen%na)
    end do
    call merge_columns
  end subroutine make_matrix

  ! Adds entries of equal column within each row; last(c) is the last entry of column c.
  subroutine merge_columns
    integer :: last(n), row, k, c, first, total

    last = 0
    total = 0
    do row = 1, m
      first = start(row)
      start(row) = total + 1
      do k = first, start(row + 1) - 1
        c = column(k)
        if (last(c) < start(row)) then
          total = total + 1
          last(c) = total
          column(total) = c
          entries(total) = entries(k)
        else
          entries(last(c)) = entries(last(c)) + entries(k)
        end if
      end do
    end do
    start(m + 1) = total + 1
  end subroutine merge_columns

  ! ---- messages ------------------------------------------------------------------------------

  subroutine exchange(out, in, length, other)
    integer, intent(in) :: length, other
    real(dp), intent(in) :: out(length)
    real(dp), intent(inout) :: in(length)
    integer :: request, error

    call mpi_irecv(in, length, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, request, error)
    call mpi_send(out, length, MPI_DOUBLE_PRECISION, other, 0, MPI_COMM_WORLD, error)
    call mpi_wait(request, MPI_STATUS_IGNORE, error)
  end subroutine exchange

  ! ---- conjugate gradients -------------------------------------------------------------------

  ! product = A vector: local rows, their sum over a row of the grid, then the exchange with the
  ! process that holds the transposed block.
  subroutine multiply(vector, product)
    real(dp), intent(in) :: vector(:)
    real(dp), intent(out) :: product(:)
    real(dp) :: total
    integer :: row, k, i, stage, first, kept, given

    call ma_sub_begin('multiply', HERE)
    call ma_flop_begin('flopmv', '2*nnz', HERE)
    do row = 1, m
      total = 0
      do k = start(row), start(row + 1) - 1
        total = total + entries(k)*vector(column(k))
      end do
      w(row) = total
    end do
    call ma_flop_end('flopmv', HERE)
    first = 0
    kept = 0
    call ma_recv_n('l1rcv', '8*na/npcols', 'halves', HERE)
    call ma_send_n('l1snd', '8*na/npcols', 'halves', HERE)
    if (npcols > nprows) then ! the two of a pair keep one half of the rows each
      kept = mod(me, 2)*n
      given = n - kept
      call exchange(w(given + 1), product, n, ieor(me, 1))
      call ma_flop_begin('flophalf', 'n', HERE)
      do i = 1, n
        w(kept + i) = w(kept + i) + product(i)
      end do
      call ma_flop_end('flophalf', HERE)
      first = 1
    end if
    call ma_loop_begin('row_sum', 'l - halves', HERE)
    do stage = first, l - 1
      call ma_recv('l2rcv', '8*na/npcols', file=__FILE__, line=__LINE__)
      call ma_send('l2snd', '8*na/npcols', file=__FILE__, line=__LINE__)
      call exchange(w(kept + 1), product, n, ieor(me, 2**stage))
      call ma_flop_begin('flopsum', 'n', HERE)
      do i = 1, n
        w(kept + i) = w(kept + i) + product(i)
      end do
      call ma_flop_end('flopsum', HERE)
    end do
    call ma_loop_end('row_sum', stage - first, HERE)
    call ma_recv_n('l3rcv', '8*na/npcols', 'min(l, 1)', HERE)
    call ma_send_n('l3snd', '8*na/npcols', 'min(l, 1)', HERE)
    if (l > 0) then
      call exchange(w(kept + 1), product, n, partner)
    else
      product = w
    end if
    call ma_sub_end('multiply', HERE)
  end subroutine multiply

  ! Solves A z = x by 25 steps; the norm of x - A z.
  subroutine conj_grad(norm)
    real(dp), intent(out) :: norm
    real(dp) :: rho, rho0, d, alpha, beta, difference
    integer :: i, step

    call ma_sub_begin('conj_grad', HERE)
    z = 0
    r = x
    p = x
    rho = 0
    call ma_flop_begin('floprho', '2*n', HERE)
    do i = 1, n
      rho = rho + r(i)*r(i)
    end do
    call ma_flop_end('floprho', HERE)
    call sum_over_row(rho)
    call ma_loop_begin('cgmain', 'cgitmax', HERE)
    do step = 1, steps
      call multiply(p, q)
      d = 0
      call ma_flop_begin('flopd', '2*n', HERE)
      do i = 1, n
        d = d + p(i)*q(i)
      end do
      call ma_flop_end('flopd', HERE)
      call sum_over_row(d)
      rho0 = rho
      call ma_flop_begin('floprrhopq', '6*n + 1', HERE)
      alpha = rho/d
      rho = 0
      do i = 1, n
        z(i) = z(i) + alpha*p(i)
        r(i) = r(i) - alpha*q(i)
        rho = rho + r(i)*r(i)
      end do
      call ma_flop_end('floprrhopq', HERE)
      call sum_over_row(rho)
      call ma_flop_begin('flopbeta', '2*n + 1', HERE)
      beta = rho/rho0
      do i = 1, n
        p(i) = r(i) + beta*p(i)
      end do
      call ma_flop_end('flopbeta', HERE)
    end do
    call ma_loop_end('cgmain', step - 1, HERE)
    call multiply(z, r)
    norm = 0
    call ma_flop_begin('flopnorm', '3*n', HERE)
    do i = 1, n
      difference = x(i) - r(i)
      norm = norm + difference*difference
    end do
    call ma_flop_end('flopnorm', HERE)
    call sum_over_row(norm)
    call ma_flop_begin('floproot', '1', HERE)
    norm = sqrt(norm)
    call ma_flop_end('floproot', HERE)
    call ma_sub_end('conj_grad', HERE)
  end subroutine conj_grad

  ! Adds up a number over a row of the grid.
  subroutine sum_over_row(number)
    real(dp), intent(inout) :: number
    real(dp) :: mine(1), other(1)
    integer :: stage

    call ma_loop_begin('cj', 'l', HERE)
    do stage = 0, l - 1
      call ma_recv('l5rcv', '8', file=__FILE__, line=__LINE__)
      call ma_send('l5snd', '8', file=__FILE__, line=__LINE__)
      mine = number
      call exchange(mine, other, 1, ieor(me, 2**stage))
      call ma_flop_begin('flopcj', '1', HERE)
      number = number + other(1)
      call ma_flop_end('flopcj', HERE)
    end do
    call ma_loop_end('cj', stage, HERE)
  end subroutine sum_over_row

  ! niter iterations from x = 1, after one that is not timed.
  subroutine iterate(niter, shift, zeta, seconds)
    integer, intent(in) :: niter
    real(dp), intent(in) :: shift
    real(dp), intent(out) :: zeta, seconds
    real(dp) :: norm, sums(2), others(2), factor, begin
    integer :: it, i, stage

    zeta = 0
    begin = 0
    call ma_loop_begin('conj_loop', 'niter + 1', HERE)
    do it = 0, niter
      if (it < 2) then
        begin = mpi_wtime()
        x = 1
      end if
      call conj_grad(norm)
      sums = 0
      call ma_flop_begin('flopzeta', '4*na/npcols', HERE)
      do i = 1, n
        sums(1) = sums(1) + x(i)*z(i)
        sums(2) = sums(2) + z(i)*z(i)
      end do
      call ma_flop_end('flopzeta', HERE)
      call ma_loop_begin('norm_loop', 'l', HERE)
      do stage = 0, l - 1
        call ma_recv('nrecv', '16', file=__FILE__, line=__LINE__)
        call ma_send('nsend', '16', file=__FILE__, line=__LINE__)
        call exchange(sums, others, 2, ieor(me, 2**stage))
        call ma_flop_begin('flopnsum', '2', HERE)
        sums(1) = sums(1) + others(1)
        sums(2) = sums(2) + others(2)
        call ma_flop_end('flopnsum', HERE)
      end do
      call ma_loop_end('norm_loop', stage, HERE)
      call ma_flop_begin('floproot0', '2 if rank < 1 else 0', HERE)
      if (me == 0) zeta = shift + 1/sums(1)
      call ma_flop_end('floproot0', HERE)
      call ma_flop_begin('flopznx', 'n + 2', HERE)
      factor = 1/sqrt(sums(2))
      do i = 1, n
        x(i) = factor*z(i)
      end do
      call ma_flop_end('flopznx', HERE)
    end do
    call ma_loop_end('conj_loop', it, HERE)
    seconds = mpi_wtime() - begin
  end subroutine iterate

  ! ---- the program ---------------------------------------------------------------------------

  subroutine fail(text)
    character(*), intent(in) :: text
    integer :: error

    if (me == 0) write (error_unit, '(2a)') 'cg: ', text
    call mpi_finalize(error)
    stop 2
  end subroutine fail

  ! Sets the grid of processes and the lengths.
  subroutine make_grid(na)
    integer, intent(in) :: na
    integer :: width, row, col

    if (popcnt(processes) /= 1) call fail('the number of processes must be a power of two')
    l = (trailz(processes) + 1)/2
    npcols = 2**l
    nprows = processes/npcols
    if (mod(na, npcols) /= 0) call fail('the columns of the process grid must divide na')
    n = na/npcols
    m = na/nprows
    width = npcols/nprows
    row = me/npcols
    col = mod(me, npcols)
    partner = col/width*npcols + row*width + mod(col, width)
  end subroutine make_grid

end module conjugate_gradients

program cg
  use conjugate_gradients
  implicit none
  character(16) :: argument
  integer :: error, niter, class, number
  logical :: wrong
  real(dp) :: seconds, zeta
  type(problem) :: chosen

  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call mpi_comm_size(MPI_COMM_WORLD, processes, error)
  argument = 'S'
  if (command_argument_count() > 0) call get_command_argument(1, argument)
  class = index('SWABC', argument(1:1))
  if (class == 0) call fail('the class must be S, W, A, B or C')
  chosen = classes(class)
  niter = chosen%niter
  if (command_argument_count() > 1) then
    call get_command_argument(2, argument)
    read (argument, *, iostat=error) number
    if (error /= 0 .or. number < 0) call fail('the number of iterations must not be negative')
    if (number > 0) niter = number
  end if

  call make_grid(chosen%na)
  call make_matrix(chosen)
  allocate (x(n), z(n), p(n), q(n), r(n), w(m))

  call ma_var('nprocs', processes, unit='processes', domain='power of two')
  call ma_var('rank', me, domain='whole')
  call ma_var('na', chosen%na, unit='rows', domain='whole')
  call ma_var('nonzer', chosen%nonzer, domain='whole')
  call ma_var('niter', niter, unit='iterations', domain='whole')
  call ma_var('cgitmax', steps, unit='iterations', domain='whole')
  call ma_var('nnz', start(m + 1) - 1, unit='numbers', domain='whole') ! of this process
  call ma_derive('npcols', '2**ceil(log2(nprocs)/2)', npcols)
  call ma_derive('nprows', 'nprocs/npcols', nprows)
  call ma_derive('l', 'log2(npcols)', l)
  call ma_derive('n', 'na/npcols', n)
  call ma_derive('halves', 'npcols/nprows - 1', npcols/nprows - 1)
  call iterate(niter, chosen%shift, zeta, seconds)

  wrong = niter == chosen%niter .and. me == 0 .and. .not. abs(zeta - chosen%zeta) <= 1e-10_dp
  if (me == 0) then
    write (*, '(3a, i0, a, i0, a, i0)') 'class ', chosen%letter, ', ', processes, &
      ' processes as ', nprows, ' x ', npcols
    write (*, '(a, f0.13, a, f0.13, a)') 'zeta ', zeta, ', published ', chosen%zeta, &
      trim(merge(': WRONG', '       ', wrong))
    write (*, '(a, f0.3)') 'seconds ', seconds
  end if
  call mpi_finalize(error)
  if (wrong) stop 1
end program cg

! Functions of MPI that carry messages, called from Fortran: by mpif.h, the module mpi (-DUSE_MPI)
! or the module mpi_f08 (-DUSE_F08). Argument and output as of mpi_all_calls.c.
#ifdef USE_F08
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#endif
program all_calls
#ifdef USE_F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: room = 4096
  double precision :: out(room), in(room)
  integer :: rank, ranks, next, previous, ierr, i, k, way, number, indices(8), all, mine
  integer :: one(64), place(64), offset(64), counts(64)
  integer :: cells(21)
  logical :: flag
  character(len=4096) :: folder, name
  HANDLE(MPI_Request) :: r(8)
  HANDLE(MPI_Comm) :: reversed
  HANDLE(MPI_Datatype) :: doubles(64)
  HANDLE(MPI_Message) :: message
  HANDLE(MPI_Win) :: win
  STATUS(one_status)
  STATUSES(list, 8)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call get_command_argument(1, folder)
  write (name, '(a, a, i0)') trim(folder), '/expected.', rank
  open (unit=11, file=name, status='replace')
  out = 0
  do i = 1, 64
    one(i) = i
    place(i) = 16 * (i - 1)
    offset(i) = 128 * (i - 1)
    doubles(i) = MPI_DOUBLE_PRECISION
  end do

  ! point to point
  call MPI_Irecv(in, room, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call expect('send', 'Send', 8, next)
  call expect('recv', 'Irecv', 8, previous)
  call MPI_Isend(out, 2, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Recv(in, room, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(r(1), one_status, ierr)
  call expect('send', 'Isend', 16, next)
  call expect('recv', 'Recv', 16, previous)
  call MPI_Isend(out, 3, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Recv(in, room, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, one_status, ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call expect('send', 'Isend', 24, next)
  call expect('recv', 'Recv', 24, previous)
  do k = 1, 6
    do i = 1, 4
      call MPI_Irecv(in, room, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, r(i), ierr)
    end do
    do i = 1, 4
      call MPI_Isend(out, 10 * k + i, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, r(4 + i), ierr)
      call expect('send', 'Isend', 80 * k + 8 * i, next)
      call expect('recv', 'Irecv', 80 * k + 8 * i, previous)
    end do
    way = k
#ifdef INDICES_FROM_ZERO
    if (k == 3 .or. k == 4) way = 1 ! Waitany and Waitsome of mpi_f08 in MPICH 4.0
#endif
    select case (way)
    case (1)
      call MPI_Waitall(8, r, MPI_STATUSES_IGNORE, ierr)
    case (2)
      call MPI_Waitall(8, r, list, ierr)
    case (3)
      do i = 1, 8
        call MPI_Waitany(8, r, number, MPI_STATUS_IGNORE, ierr)
      end do
    case (4)
      i = 8
      do while (i > 0)
        call MPI_Waitsome(8, r, number, indices, MPI_STATUSES_IGNORE, ierr)
        i = i - number
      end do
    case (5)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(8, r, flag, list, ierr)
      end do
    case (6)
      do i = 1, 8
        flag = .false.
        do while (.not. flag)
          call MPI_Test(r(i), flag, MPI_STATUS_IGNORE, ierr)
        end do
      end do
    end select
  end do
  call MPI_Sendrecv(out, 20, MPI_DOUBLE_PRECISION, next, 7, in, room, MPI_DOUBLE_PRECISION, &
                    previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call expect('send', 'Sendrecv', 160, next)
  call expect('recv', 'Sendrecv', 160, previous)
  cells = 0
  call MPI_Sendrecv_replace(cells, 21, MPI_INTEGER, next, 7, previous, 7, MPI_COMM_WORLD, &
                            one_status, ierr)
  call expect('send', 'Sendrecv_replace', 84, next)
  call expect('recv', 'Sendrecv_replace', 84, previous)
  call MPI_Send(out, 5, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 7, MPI_COMM_WORLD, ierr)
  call MPI_Isend(out, 23, MPI_DOUBLE_PRECISION, next, 9, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Mprobe(previous, 9, MPI_COMM_WORLD, message, one_status, ierr)
  call MPI_Mrecv(in, room, MPI_DOUBLE_PRECISION, message, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call expect('send', 'Isend', 184, next)
  call expect('recv', 'Mrecv', 184, previous)

  ! persistent
  call MPI_Recv_init(in, room, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Send_init(out, 30, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, r(2), ierr)
  do i = 1, 3
    call MPI_Startall(2, r, ierr)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
    call expect('send', 'Send_init', 240, next)
    call expect('recv', 'Recv_init', 240, previous)
  end do
  call MPI_Start(r(1), ierr)
  call MPI_Start(r(2), ierr)
  call MPI_Waitall(2, r, list, ierr)
  call expect('send', 'Send_init', 240, next)
  call expect('recv', 'Recv_init', 240, previous)
  call MPI_Request_free(r(1), ierr)
  call MPI_Request_free(r(2), ierr)

  ! collectives
  all = ranks * (ranks + 1) / 2
  mine = rank + 1
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call expect('coll', 'Barrier', 0, -1)
  call MPI_Bcast(out, 10, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Bcast', 80, -1)
  call MPI_Allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Allreduce', 8, -1)
  call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Allreduce', 16, -1)
  call MPI_Iallreduce(out, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
  call expect('coll', 'Iallreduce', 24, -1)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, in, 7, MPI_DOUBLE_PRECISION, 0, &
                    MPI_COMM_WORLD, ierr)
  else
    call MPI_Gather(out, 7, MPI_DOUBLE_PRECISION, in, 7, MPI_DOUBLE_PRECISION, 0, &
                    MPI_COMM_WORLD, ierr)
  end if
  call expect('coll', 'Gather', 56, -1)
  call MPI_Scatterv(out, one, place, MPI_DOUBLE_PRECISION, in, mine, MPI_DOUBLE_PRECISION, 0, &
                    MPI_COMM_WORLD, ierr)
  call expect('coll', 'Scatterv', 8 * mine, -1)
  call MPI_Allgather(MPI_IN_PLACE, 1, MPI_INTEGER, in, 6, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                     ierr)
  call expect('coll', 'Allgather', 48, -1)
  call MPI_Allgatherv(MPI_IN_PLACE, 1, MPI_INTEGER, in, one, place, MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, ierr)
  call expect('coll', 'Allgatherv', 8 * mine, -1)
  counts = mine
  call MPI_Alltoallv(out, counts, place, MPI_DOUBLE_PRECISION, in, one, place, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Alltoallv', 8 * mine * ranks, -1)
  call MPI_Alltoallw(out, counts, offset, doubles, in, one, offset, doubles, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Alltoallw', 8 * mine * ranks, -1)
  call MPI_Reduce_scatter(out, in, one, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call expect('coll', 'Reduce_scatter', 8 * all, -1)

  ! another communicator, and a window on it
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed, ierr)
  i = modulo(ranks - 1 - rank + 1, ranks)
  call MPI_Sendrecv(out, 25, MPI_DOUBLE_PRECISION, i, 7, in, room, MPI_DOUBLE_PRECISION, &
                    MPI_ANY_SOURCE, 7, reversed, MPI_STATUS_IGNORE, ierr)
  call expect('send', 'Sendrecv', 200, ranks - 1 - i)
  call expect('recv', 'Sendrecv', 200, next)
  call MPI_Win_create(in, 8_MPI_ADDRESS_KIND * room, 8, MPI_INFO_NULL, reversed, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(out, 4, MPI_DOUBLE_PRECISION, i, 0_MPI_ADDRESS_KIND, 4, MPI_DOUBLE_PRECISION, win, &
               ierr)
  call MPI_Win_fence(0, win, ierr)
  call expect('send', 'Put', 32, ranks - 1 - i)
  call MPI_Win_free(win, ierr)
  call MPI_Comm_free(reversed, ierr)
#ifdef USE_F08
  call MPI_Allreduce(out, in, 9, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD) ! no code asked for
  call expect('coll', 'Allreduce', 72, -1)
#endif
  close (11)
  call MPI_Finalize(ierr)

contains

  subroutine expect(kind, function, bytes, peer)
    character(len=*), intent(in) :: kind, function
    integer, intent(in) :: bytes, peer
    write (11, '(a, a, a, a, i0, a, i0)') kind, ' MPI_', function, ' ', bytes, ' ', peer
  end subroutine expect

end program all_calls

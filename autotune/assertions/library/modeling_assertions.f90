! Modeling assertions for Fortran: the names of modeling_assertions.h.
!
!     use modeling_assertions
!     call ma_var('na', na)
!     call ma_var('nprocs', p, unit='processes', domain='power of two')
!     call ma_derive('npcols', '2**ceil(log2(nprocs)/2)')              or with a third argument:
!     call ma_derive('npcols', '2**ceil(log2(nprocs)/2)', npcols)      compared with the program's
!     call ma_region_begin('setup');          call ma_region_end('setup')
!     call ma_loop_begin('norm', 'l');        call ma_loop_end('norm', trips)
!     call ma_flop_begin('rho', '2*n');       call ma_flop_end('rho')
!     call ma_flop_count('rho', '2*n', counted)
!     call ma_send_n('x', '16', 'l');         call ma_coll('norm', 'allreduce', '8')
!
! Compile this file with the program; nothing is linked. Without the library (autotune assert run
! loads it) a call costs a load and a branch. Lines are not known to Fortran: pass the optional
! arguments file=__FILE__, line=__LINE__ where the file is preprocessed. The optional arguments come
! after all others. Integers of 4 and 8 bytes and reals of 8 bytes are taken.
module modeling_assertions
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: ma_var, ma_derive
  public :: ma_region_begin, ma_region_end, ma_sub_begin, ma_sub_end
  public :: ma_loop_begin, ma_loop_end
  public :: ma_flop_begin, ma_flop_end, ma_flop_count
  public :: ma_load_begin, ma_load_end, ma_load_count
  public :: ma_store_begin, ma_store_end, ma_store_count
  public :: ma_send, ma_recv, ma_coll, ma_send_n, ma_recv_n, ma_coll_n

  ! enum ma_point_kind_ of the header
  integer(c_int), parameter :: region = 0, loop = 1, sub = 2, flop = 3, load = 4, store = 5
  integer(c_int), parameter :: send = 6, recv = 7, coll = 8, variable = 9

  type, bind(C) :: site_t ! struct ma_site
    integer(c_int) :: kind, line
    type(c_ptr) :: file, name, expression, repeat, operation, unit, domain, parent, path
  end type

  type, bind(C) :: functions_t ! struct ma_functions
    type(c_funptr) :: begin, end, end_whole, end_real, count_whole, count_real, message
    type(c_funptr) :: set_whole, set_real, derive, derive_whole, derive_real, set_program
    integer(c_int) :: on
  end type

  ! A text as C wants it, in a place of its own where it is too long for the first.
  integer, parameter :: longest = 255
  type :: text_t
    character(kind=c_char, len=longest + 1) :: short
    character(kind=c_char, len=:), allocatable :: long
  end type
  type :: texts_t
    type(text_t) :: name, expression, repeat, operation, unit, domain, file
  end type
  character(kind=c_char, len=1), target, save :: nothing = c_null_char
  character(kind=c_char, len=2), target, save :: once = '1' // c_null_char

  abstract interface
    subroutine at_point(site) bind(C)
      import :: site_t
      type(site_t), intent(inout) :: site
    end subroutine
    subroutine with_whole(site, value) bind(C)
      import :: site_t, c_int64_t
      type(site_t), intent(inout) :: site
      integer(c_int64_t), value :: value
    end subroutine
    subroutine with_real(site, value) bind(C)
      import :: site_t, c_double
      type(site_t), intent(inout) :: site
      real(c_double), value :: value
    end subroutine
  end interface

  interface
    ! of the C library; the null handle searches every library of the process
    function dlsym(handle, symbol) bind(C, name='dlsym') result(address)
      import :: c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_ptr) :: address
    end function
  end interface

  interface ma_var
    module procedure var_4, var_8, var_real
  end interface
  interface ma_derive
    module procedure derive_only, derive_4, derive_8, derive_real
  end interface
  interface ma_loop_end
    module procedure loop_end_4, loop_end_8
  end interface
  interface ma_flop_count
    module procedure flop_count_4, flop_count_8, flop_count_real
  end interface
  interface ma_load_count
    module procedure load_count_4, load_count_8, load_count_real
  end interface
  interface ma_store_count
    module procedure store_count_4, store_count_8, store_count_real
  end interface

  logical, save :: searched = .false.
  type(functions_t), pointer, save :: functions => null()

contains

  ! Whether the library is loaded and on.
  logical function is_on()
    if (.not. searched) call search()
    is_on = .false.
    if (associated(functions)) is_on = functions%on /= 0
  end function

  subroutine search()
    type(c_ptr) :: address
    address = dlsym(c_null_ptr, 'ma_functions_1' // c_null_char)
    if (c_associated(address)) call c_f_pointer(address, functions)
    searched = .true.
  end subroutine

  ! The address of a text without the blanks that end it, ended as in C.
  function c_text(place, text) result(address)
    type(text_t), intent(inout), target :: place
    character(len=*), intent(in), optional :: text
    type(c_ptr) :: address
    integer :: length
    address = c_loc(nothing)
    if (.not. present(text)) return
    length = len_trim(text)
    if (length > longest) then
      place%long = text(:length) // c_null_char
      address = c_loc(place%long)
    else if (length > 0) then
      place%short(:length) = text(:length)
      place%short(length + 1:length + 1) = c_null_char
      address = c_loc(place%short)
    end if
  end function

  subroutine describe(site, texts, kind, name, expression, repeat, operation, unit, domain, file, &
                      line)
    type(site_t), intent(out) :: site
    type(texts_t), intent(inout), target :: texts
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: expression, repeat, operation, unit, domain, file
    integer, intent(in), optional :: line
    site%kind = kind
    site%line = 0
    if (present(line)) site%line = line
    site%file = c_text(texts%file, file)
    site%name = c_text(texts%name, name)
    site%expression = c_text(texts%expression, expression)
    site%repeat = c_loc(once)
    if (present(repeat)) site%repeat = c_text(texts%repeat, repeat)
    site%operation = c_text(texts%operation, operation)
    site%unit = c_text(texts%unit, unit)
    site%domain = c_text(texts%domain, domain)
    site%parent = c_null_ptr
    site%path = c_null_ptr
  end subroutine

  ! --- what a point calls --------------------------------------------------------------------

  subroutine reach(function, kind, name, expression, repeat, operation, file, line)
    type(c_funptr), intent(in) :: function
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: expression, repeat, operation, file
    integer, intent(in), optional :: line
    procedure(at_point), pointer :: called
    type(texts_t), target :: texts
    type(site_t) :: site
    call describe(site, texts, kind, name, expression, repeat, operation, file=file, line=line)
    call c_f_procpointer(function, called)
    call called(site)
  end subroutine

  subroutine reach_whole(function, kind, name, value, expression, unit, domain, file, line)
    type(c_funptr), intent(in) :: function
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    character(len=*), intent(in), optional :: expression, unit, domain, file
    integer, intent(in), optional :: line
    procedure(with_whole), pointer :: called
    type(texts_t), target :: texts
    type(site_t) :: site
    call describe(site, texts, kind, name, expression, unit=unit, domain=domain, file=file, &
                  line=line)
    call c_f_procpointer(function, called)
    call called(site, value)
  end subroutine

  subroutine reach_real(function, kind, name, value, expression, unit, domain, file, line)
    type(c_funptr), intent(in) :: function
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: expression, unit, domain, file
    integer, intent(in), optional :: line
    procedure(with_real), pointer :: called
    type(texts_t), target :: texts
    type(site_t) :: site
    call describe(site, texts, kind, name, expression, unit=unit, domain=domain, file=file, &
                  line=line)
    call c_f_procpointer(function, called)
    call called(site, value)
  end subroutine

  ! --- variables -------------------------------------------------------------------------------

  subroutine var_4(name, value, unit, domain)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: value
    character(len=*), intent(in), optional :: unit, domain
    if (.not. is_on()) return
    call reach_whole(functions%set_whole, variable, name, int(value, c_int64_t), '', unit, domain)
  end subroutine

  subroutine var_8(name, value, unit, domain)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    character(len=*), intent(in), optional :: unit, domain
    if (.not. is_on()) return
    call reach_whole(functions%set_whole, variable, name, value, '', unit, domain)
  end subroutine

  subroutine var_real(name, value, unit, domain)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    character(len=*), intent(in), optional :: unit, domain
    if (.not. is_on()) return
    call reach_real(functions%set_real, variable, name, value, '', unit, domain)
  end subroutine

  subroutine derive_only(name, expression)
    character(len=*), intent(in) :: name, expression
    if (is_on()) call reach(functions%derive, variable, name, expression)
  end subroutine

  subroutine derive_4(name, expression, value)
    character(len=*), intent(in) :: name, expression
    integer(c_int32_t), intent(in) :: value
    if (.not. is_on()) return
    call reach_whole(functions%derive_whole, variable, name, int(value, c_int64_t), expression)
  end subroutine

  subroutine derive_8(name, expression, value)
    character(len=*), intent(in) :: name, expression
    integer(c_int64_t), intent(in) :: value
    if (.not. is_on()) return
    call reach_whole(functions%derive_whole, variable, name, value, expression)
  end subroutine

  subroutine derive_real(name, expression, value)
    character(len=*), intent(in) :: name, expression
    real(c_double), intent(in) :: value
    if (.not. is_on()) return
    call reach_real(functions%derive_real, variable, name, value, expression)
  end subroutine

  ! --- blocks ----------------------------------------------------------------------------------

  subroutine ma_region_begin(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, region, name, file=file, line=line)
  end subroutine

  subroutine ma_sub_begin(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, sub, name, file=file, line=line)
  end subroutine

  subroutine ma_loop_begin(name, expression, file, line)
    character(len=*), intent(in) :: name, expression
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, loop, name, expression, file=file, line=line)
  end subroutine

  subroutine ma_flop_begin(name, expression, file, line)
    character(len=*), intent(in) :: name, expression
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, flop, name, expression, file=file, line=line)
  end subroutine

  subroutine ma_load_begin(name, expression, file, line)
    character(len=*), intent(in) :: name, expression
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, load, name, expression, file=file, line=line)
  end subroutine

  subroutine ma_store_begin(name, expression, file, line)
    character(len=*), intent(in) :: name, expression
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%begin, store, name, expression, file=file, line=line)
  end subroutine

  subroutine ma_region_end(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%end, region, name, file=file, line=line)
  end subroutine

  subroutine ma_sub_end(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%end, sub, name, file=file, line=line)
  end subroutine

  subroutine ma_flop_end(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%end, flop, name, file=file, line=line)
  end subroutine

  subroutine ma_load_end(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%end, load, name, file=file, line=line)
  end subroutine

  subroutine ma_store_end(name, file, line)
    character(len=*), intent(in) :: name
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%end, store, name, file=file, line=line)
  end subroutine

  subroutine loop_end_4(name, trips, file, line)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: trips
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%end_whole, loop, name, int(trips, c_int64_t), file=file, line=line)
  end subroutine

  subroutine loop_end_8(name, trips, file, line)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: trips
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%end_whole, loop, name, trips, file=file, line=line)
  end subroutine

  subroutine flop_count_4(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int32_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, flop, name, int(counted, c_int64_t), expression, &
                     file=file, line=line)
  end subroutine

  subroutine flop_count_8(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int64_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, flop, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  subroutine flop_count_real(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    real(c_double), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_real(functions%count_real, flop, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  subroutine load_count_4(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int32_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, load, name, int(counted, c_int64_t), expression, &
                     file=file, line=line)
  end subroutine

  subroutine load_count_8(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int64_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, load, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  subroutine load_count_real(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    real(c_double), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_real(functions%count_real, load, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  subroutine store_count_4(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int32_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, store, name, int(counted, c_int64_t), expression, &
                     file=file, line=line)
  end subroutine

  subroutine store_count_8(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    integer(c_int64_t), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_whole(functions%count_whole, store, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  subroutine store_count_real(name, expression, counted, file, line)
    character(len=*), intent(in) :: name, expression
    real(c_double), intent(in) :: counted
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    if (.not. is_on()) return
    call reach_real(functions%count_real, store, name, counted, expression, &
                     file=file, line=line)
  end subroutine

  ! --- messages --------------------------------------------------------------------------------

  subroutine ma_send(name, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, bytes
    character(len=*), intent(in), optional :: repeat, file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%message, send, name, bytes, repeat, file=file, line=line)
  end subroutine

  subroutine ma_recv(name, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, bytes
    character(len=*), intent(in), optional :: repeat, file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%message, recv, name, bytes, repeat, file=file, line=line)
  end subroutine

  subroutine ma_coll(name, operation, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, operation, bytes
    character(len=*), intent(in), optional :: repeat, file
    integer, intent(in), optional :: line
    if (is_on()) call reach(functions%message, coll, name, bytes, repeat, operation, file, line)
  end subroutine
  subroutine ma_send_n(name, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, bytes, repeat
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    call ma_send(name, bytes, repeat, file, line)
  end subroutine

  subroutine ma_recv_n(name, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, bytes, repeat
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    call ma_recv(name, bytes, repeat, file, line)
  end subroutine

  subroutine ma_coll_n(name, operation, bytes, repeat, file, line)
    character(len=*), intent(in) :: name, operation, bytes, repeat
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    call ma_coll(name, operation, bytes, repeat, file, line)
  end subroutine
end module

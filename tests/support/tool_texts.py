"""What OSU and Intel MPI Benchmarks print."""

OSU_NEW = """\

# OSU MPI Allgather Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       2.81              1.89              3.73        1000
1024                    5.50              5.10              6.25        1000
1048576               104.30            104.26            104.33         100
"""
OSU_OLD = """\
# OSU MPI Allgather Latency Test v5.6.3
# Size       Avg Latency(us)
1                       1.60
8                       1.55
"""
OSU_LATENCY = """\
# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
0                       0.20
1                       0.21
4194304               412.77
"""
OSU_ANCIENT = """\
# OSU MPI Latency Test (Version 2.0)
# Size Latency (us)
0 1.06
8 1.05
"""
OSU_BARRIER = """\
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             1.41
"""
OSU_BW = """\
# OSU MPI Bandwidth Test v7.4
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       2.32
4194304             27161.33
"""
IMB = """\
#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
# Date                  : Mon Jan  1 00:00:00 2024
# PingPong
# Allgather

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.25         0.00
            8         1000         0.26        30.77
      4194304           10       500.00      8388.61

#----------------------------------------------------------------
# Benchmarking Exchange
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.90         1.10         1.00        29.09

#----------------------------------------------------------------
# Benchmarking Allgather
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.06         0.05
            8         1000         0.50         0.60         0.55

#----------------------------------------------------------------
# Benchmarking Allgather
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.06         0.05
            8         1000         1.30         1.34         1.32
        65536          640        46.08        48.94        47.54
      4194304 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over

#----------------------------------------------------------------
# Benchmarking Uniband
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions   Mbytes/sec      Msg/sec
            1         1000         3.45      3450000

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000        22.93        22.95        22.94


# All processes entering MPI_Finalize

"""

"""Workers, prefetching, shared memory, memory settings of the C library and the BLAS, and radix sort."""

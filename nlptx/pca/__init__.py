"""Principal components of a large sparse matrix: the matrix as an operator, power iteration, the vectors."""

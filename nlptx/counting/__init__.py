"""Counting which words occur together: a row at a time, block by block, and the blocks summed in bounded memory."""

"""The program's version, in a file of its own so that `clew --version` imports nothing else."""

VERSION = "0.1.0"

"""What is asked for: papers, algorithms, data sets and the command line, as typed values."""

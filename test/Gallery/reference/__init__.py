"""Independent implementations of the cells in examples/, each written in another way than its .rnn file."""

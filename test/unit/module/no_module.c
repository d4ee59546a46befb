// A library of somebody else's.
int nothing_of_rnn(void) { return 1; }

/* sorted send, random receive, channel passed as a parameter, ends of processes */
chan q = [3] of {byte}; byte got;
proctype Put(chan o; byte v) { o!!v }
proctype Get(chan i) { i??2; got = 2; i?got }
init { run Put(q, 3); run Put(q, 2); run Put(q, 1); run Get(q); (_nr_pr == 1); assert(got == 1) ; got = 0; assert(len(q) == 0) }

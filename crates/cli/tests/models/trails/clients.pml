/* buffered channels with mtype, several instances */
mtype = {req, ack, nak};
chan to[2] = [2] of {mtype, byte}; byte served; 
active [2] proctype Client() { byte v; to[_pid]!req,_pid; do :: to[1-_pid]?req,v -> served = served + v + 1 :: served > 2 -> break od; assert(served != 3) }

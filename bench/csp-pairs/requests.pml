/* Clients and servers that meet in channels without a buffer. */
#define CLIENTS 5
#define SERVERS 2
chan ask = [0] of { byte };
chan reply[CLIENTS] = [0] of { byte };
byte last[CLIENTS];
active [CLIENTS] proctype client() {
    do
    :: skip; ask!_pid; reply[_pid]?last[_pid]
    od
}
active [SERVERS] proctype server() {
    byte who;
    do
    :: ask?who; skip; atomic { reply[who]!(_pid - CLIENTS + 1); who = 0 }
    od
}

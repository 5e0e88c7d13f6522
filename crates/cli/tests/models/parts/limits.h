#define LIMIT 2
#ifdef WRONG
byte limit limit;
#endif

// The C library's memory, which Swift's module of it leaves out.
#include <malloc.h>

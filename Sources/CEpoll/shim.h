// The kernel's event queues, which Swift's module of the C library leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

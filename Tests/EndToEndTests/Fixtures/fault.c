// Preloaded into a program: makes the n-th system call of one family fail, once or from then on, and counts the calls of every family.
//
//   FAULT_FAMILY  one of `families`; none: calls are counted only
//   FAULT_AT      which call of the family is the first to fail, counted from 1
//   FAULT_ERRNO   the number of the error
//   FAULT_ON      1: every later call of the family fails, too
//   FAULT_SIGNAL  this signal comes to the process at that call, which does not fail; 0: the call never returns
//   FAULT_SPACE   a file: while it is there, no file system has any room left
//   FAULT_COUNTS  a file for what happened: the counts in the order of `families` (64 bits each), then how many calls failed
//   FAULT_PLACES  a file for where in the program the first call failed
//   FAULT_LIMIT   seconds after which the program is ended by SIGALRM, because it hangs
//
// Every call that is let through goes to the kernel directly; what is passed to `syscall` without a type is as wide as a register.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, STAT, LOCK, MMAP, SOCKET, CONNECT, ACCEPT, RECV, SEND, LOG, EPOLL, EVENT, THREAD, FAMILIES };
static const char *families[FAMILIES] = {"open", "read", "write", "sync", "truncate", "rename", "unlink", "mkdir", "stat", "lock", "mmap",
                                         "socket", "connect", "accept", "recv", "send", "log", "epoll", "event", "thread"};

static _Atomic unsigned long own[FAMILIES + 1], *counts = own;
static unsigned long first;
static int wanted = -1, code, keeps, number_of_signal = -1;

// Not a constructor's work alone: other libraries' constructors call, too; what they do is not counted.
__attribute__((constructor)) static void begin(void) {
    const char *family = getenv("FAULT_FAMILY"), *path = getenv("FAULT_COUNTS");
    if (path) {
        int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0 || syscall(SYS_ftruncate, file, 4096L)) abort();
        void *place = (void *)syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
        if (place == MAP_FAILED) abort();
        counts = place;
        syscall(SYS_close, file);
    }
    first = strtoul(getenv("FAULT_AT") ?: "0", 0, 10), code = atoi(getenv("FAULT_ERRNO") ?: "0"), keeps = atoi(getenv("FAULT_ON") ?: "0");
    number_of_signal = atoi(getenv("FAULT_SIGNAL") ?: "-1");
    for (int i = 0; family && i < FAMILIES; i++)
        if (!strcmp(family, families[i])) wanted = i;
    alarm(atoi(getenv("FAULT_LIMIT") ?: "0"));
    unsetenv("LD_PRELOAD");
}

static void tell_where(void) {
    const char *path = getenv("FAULT_PLACES");
    if (!path) return;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    void *frames[40];
    int count = backtrace(frames, 40);
    backtrace_symbols_fd(frames + 2, count - 2, file);
    syscall(SYS_close, file);
}

// The number of the error if this call fails, else 0.
static int fault(int family) {
    unsigned long number = ++counts[family];
    if (family != wanted || number < first || (number > first && !keeps)) return 0;
    if (++counts[FAMILIES] == 1) tell_where();
    if (number_of_signal == 0) {
        static const char line[] = "fault: this call never returns\n";
        syscall(SYS_write, 2, line, sizeof line - 1);
        while (1) pause();
    }
    if (number_of_signal > 0) return kill(getpid(), number_of_signal), 0;
    return code;
}

#define FAIL_IF(family)                           \
    do {                                          \
        int f_ = (family), e_ = f_ < 0 ? 0 : fault(f_); \
        if (e_) return errno = e_, -1;            \
    } while (0)

// By what the descriptor is: the log, a socket, a file; nothing else is counted.
static int kind(int file, int on_socket, int on_file) {
    struct stat facts;
    if (file == STDERR_FILENO) return on_file == WRITE ? LOG : -1;
    if (syscall(SYS_fstat, file, &facts)) return -1;
    return S_ISSOCK(facts.st_mode) ? on_socket : S_ISREG(facts.st_mode) ? on_file : -1;
}

#define MODE(mode, flags)                                             \
    mode_t mode = 0;                                                  \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                          \
        va_list list_;                                                \
        va_start(list_, flags), mode = va_arg(list_, mode_t), va_end(list_); \
    }

int open(const char *path, int flags, ...) { MODE(mode, flags) FAIL_IF(OPEN); return syscall(SYS_openat, AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(mode, flags) FAIL_IF(OPEN); return syscall(SYS_openat, AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(mode, flags) FAIL_IF(OPEN); return syscall(SYS_openat, at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(mode, flags) FAIL_IF(OPEN); return syscall(SYS_openat, at, path, flags, mode); }
int __open64_2(const char *path, int flags) { FAIL_IF(OPEN); return syscall(SYS_openat, AT_FDCWD, path, flags, 0); }
int __openat64_2(int at, const char *path, int flags) { FAIL_IF(OPEN); return syscall(SYS_openat, at, path, flags, 0); }

ssize_t read(int file, void *to, size_t n) { FAIL_IF(kind(file, RECV, READ)); return syscall(SYS_read, file, to, n); }
ssize_t readv(int file, const struct iovec *to, int n) { FAIL_IF(kind(file, RECV, READ)); return syscall(SYS_readv, file, to, n); }
ssize_t pread(int file, void *to, size_t n, off_t at) { FAIL_IF(READ); return syscall(SYS_pread64, file, to, n, at); }
ssize_t pread64(int file, void *to, size_t n, off_t at) { FAIL_IF(READ); return syscall(SYS_pread64, file, to, n, at); }
ssize_t write(int file, const void *from, size_t n) { FAIL_IF(kind(file, SEND, WRITE)); return syscall(SYS_write, file, from, n); }
ssize_t writev(int file, const struct iovec *from, int n) { FAIL_IF(kind(file, SEND, WRITE)); return syscall(SYS_writev, file, from, n); }
ssize_t pwrite(int file, const void *from, size_t n, off_t at) { FAIL_IF(WRITE); return syscall(SYS_pwrite64, file, from, n, at); }
ssize_t pwrite64(int file, const void *from, size_t n, off_t at) { FAIL_IF(WRITE); return syscall(SYS_pwrite64, file, from, n, at); }
ssize_t pwritev(int file, const struct iovec *from, int n, off_t at) { FAIL_IF(WRITE); return syscall(SYS_pwritev, file, from, n, at, 0L); }
ssize_t recv(int file, void *to, size_t n, int flags) { FAIL_IF(RECV); return syscall(SYS_recvfrom, file, to, n, flags, NULL, NULL); }
ssize_t recvmsg(int file, struct msghdr *to, int flags) { FAIL_IF(RECV); return syscall(SYS_recvmsg, file, to, flags); }
ssize_t send(int file, const void *from, size_t n, int flags) { FAIL_IF(SEND); return syscall(SYS_sendto, file, from, n, flags, NULL, 0L); }
ssize_t sendmsg(int file, const struct msghdr *from, int flags) { FAIL_IF(SEND); return syscall(SYS_sendmsg, file, from, flags); }

int statvfs(const char *path, struct statvfs *facts) {
    static int (*next)(const char *, struct statvfs *);
    if (!next) next = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    int result = next(path, facts);
    const char *space = getenv("FAULT_SPACE");
    if (!result && space && !syscall(SYS_faccessat, AT_FDCWD, space, F_OK)) facts->f_bavail = 0;
    return result;
}

int fsync(int file) { FAIL_IF(SYNC); return syscall(SYS_fsync, file); }
int fdatasync(int file) { FAIL_IF(SYNC); return syscall(SYS_fdatasync, file); }
int ftruncate(int file, off_t size) { FAIL_IF(TRUNCATE); return syscall(SYS_ftruncate, file, size); }
int ftruncate64(int file, off_t size) { FAIL_IF(TRUNCATE); return syscall(SYS_ftruncate, file, size); }
int rename(const char *from, const char *to) { FAIL_IF(RENAME); return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { FAIL_IF(RENAME); return syscall(SYS_renameat2, a, from, b, to, 0); }
int unlink(const char *path) { FAIL_IF(UNLINK); return syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
int mkdir(const char *path, mode_t mode) { FAIL_IF(MKDIR); return syscall(SYS_mkdirat, AT_FDCWD, path, mode); }
int fstat(int file, struct stat *facts) { FAIL_IF(STAT); return syscall(SYS_fstat, file, facts); }
int fstat64(int file, struct stat64 *facts) { FAIL_IF(STAT); return syscall(SYS_fstat, file, facts); }

int fcntl(int file, int what, ...) {
    va_list list;
    va_start(list, what);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK) FAIL_IF(LOCK);
    return syscall(SYS_fcntl, file, what, argument);
}
int fcntl64(int file, int what, ...) {
    va_list list;
    va_start(list, what);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(file, what, argument);
}

void *mmap(void *at, size_t n, int access, int flags, int file, off_t from) {
    int error = fault(MMAP);
    if (error) return errno = error, MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, n, access, flags, file, from);
}
void *mmap64(void *at, size_t n, int access, int flags, int file, off_t from) { return mmap(at, n, access, flags, file, from); }

int socket(int domain, int type, int protocol) { FAIL_IF(SOCKET); return syscall(SYS_socket, domain, type, protocol); }
int bind(int file, const struct sockaddr *to, socklen_t n) { FAIL_IF(SOCKET); return syscall(SYS_bind, file, to, n); }
int listen(int file, int waiting) { FAIL_IF(SOCKET); return syscall(SYS_listen, file, waiting); }
int connect(int file, const struct sockaddr *to, socklen_t n) { FAIL_IF(CONNECT); return syscall(SYS_connect, file, to, n); }
int accept(int file, struct sockaddr *who, socklen_t *n) { FAIL_IF(ACCEPT); return syscall(SYS_accept4, file, who, n, 0); }
int accept4(int file, struct sockaddr *who, socklen_t *n, int flags) { FAIL_IF(ACCEPT); return syscall(SYS_accept4, file, who, n, flags); }

int epoll_create(int size) { FAIL_IF(EPOLL); return syscall(SYS_epoll_create1, 0); }
int epoll_create1(int flags) { FAIL_IF(EPOLL); return syscall(SYS_epoll_create1, flags); }
int epoll_ctl(int file, int what, int of, struct epoll_event *event) { FAIL_IF(EPOLL); return syscall(SYS_epoll_ctl, file, what, of, event); }
int eventfd(unsigned value, int flags) { FAIL_IF(EVENT); return syscall(SYS_eventfd2, value, flags); }
int timerfd_create(int clock, int flags) { FAIL_IF(EVENT); return syscall(SYS_timerfd_create, clock, flags); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int error = fault(THREAD);
    if (error) return error;
    if (!real) real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, body, argument);
}

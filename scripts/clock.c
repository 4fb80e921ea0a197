// A clock that is CLOCK_AHEAD_S seconds ahead, and files as if they had been written by it: for soak.py to preload.
// The monotonic clock stays as it is. (libfaketime cannot be had for this: it breaks the sleep and the lock of the
// interpreter of Python 3.11 and newer.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead;
static int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void begin(void) {
  const char *told = getenv("CLOCK_AHEAD_S");
  ahead = told ? atol(told) : 0;
  *(void **)&wait_until = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

// Libraries of old compilers wait for a length of time until a moment of this clock; Python until one of the other.
int pthread_cond_timedwait(pthread_cond_t *what, pthread_mutex_t *mutex, const struct timespec *moment) {
  struct timespec real = *moment;
  if (real.tv_sec > 1000000000) real.tv_sec -= ahead;
  return wait_until(what, mutex, &real);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead;
  return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec real;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &real);
  now->tv_sec = real.tv_sec;
  now->tv_usec = real.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  if (now) *now = real.tv_sec;
  return real.tv_sec;
}

int fstatat(int folder, const char *path, struct stat *found, int flags) {
  int failed = syscall(SYS_newfstatat, folder, path, found, flags);
  if (!failed) {
    found->st_atim.tv_sec += ahead;
    found->st_mtim.tv_sec += ahead;
    found->st_ctim.tv_sec += ahead;
  }
  return failed;
}

int stat(const char *path, struct stat *found) { return fstatat(AT_FDCWD, path, found, 0); }
int lstat(const char *path, struct stat *found) { return fstatat(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat *found) { return fstatat(file, "", found, AT_EMPTY_PATH); }
int fstatat64(int, const char *, struct stat64 *, int) __attribute__((alias("fstatat")));
int stat64(const char *, struct stat64 *) __attribute__((alias("stat")));
int lstat64(const char *, struct stat64 *) __attribute__((alias("lstat")));
int fstat64(int, struct stat64 *) __attribute__((alias("fstat")));

static int touch(int folder, const char *path, const struct timespec *when, int flags) {
  struct timespec real[2];
  for (int each = 0; when && each < 2; each++) {
    real[each] = when[each];
    if (when[each].tv_nsec != UTIME_NOW && when[each].tv_nsec != UTIME_OMIT) real[each].tv_sec -= ahead;
  }
  return syscall(SYS_utimensat, folder, path, when ? real : NULL, flags);
}

int utimensat(int folder, const char *path, const struct timespec when[2], int flags) {
  return touch(folder, path, when, flags);
}

int futimens(int file, const struct timespec when[2]) { return touch(file, NULL, when, 0); }

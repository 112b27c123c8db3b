/*
 * Makes calls of the C library fail on purpose. Loaded with LD_PRELOAD; README.md beside this file says how to use it.
 * Only calls that a program makes through the dynamic linker come by here, which are all of Node's, SQLite's and
 * DuckDB's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* The names that rules are written with. Variants of a call (pwrite64, unlinkat) go by the plain name. */
enum call { WRITE, PWRITE, FSYNC, FDATASYNC, RENAME, UNLINK, OPEN, FTRUNCATE, MMAP, READ, PREAD, MKDIR, CALLS };
static const char *const NAMES[CALLS] = {
  "write", "pwrite", "fsync", "fdatasync", "rename", "unlink", "open", "ftruncate", "mmap", "read", "pread", "mkdir",
};
/* In place of an error: the call does half of what it is asked for. */
#define HALF -1

struct rule {
  unsigned counted;  /* calls that bring the n-th nearer */
  unsigned failing;  /* calls that fail once it has come */
  long nth;
  int error;
  int onwards;       /* from the n-th on, not it alone */
  int kill;          /* the process dies in place of an error */
  char pattern[512];
  long seen;
};

#define MOST_RULES 16
static struct rule rules[MOST_RULES];
static int rule_count;
static const char *armed_by;
static const char *log_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

static int error_named(const char *name) {
  if (!strcmp(name, "EIO")) return EIO;
  if (!strcmp(name, "ENOSPC")) return ENOSPC;
  if (!strcmp(name, "EDQUOT")) return EDQUOT;
  if (!strcmp(name, "EACCES")) return EACCES;
  if (!strcmp(name, "EROFS")) return EROFS;
  if (!strcmp(name, "ENOMEM")) return ENOMEM;
  if (!strcmp(name, "EMFILE")) return EMFILE;
  if (!strcmp(name, "HALF")) return HALF;
  return 0;
}

static void give_up(const char *what, const char *text) {
  fprintf(stderr, "fault.so: %s: %s\n", what, text);
  abort();
}

/* "fsync+fdatasync" as a set of bits. */
static unsigned calls_named(char *text) {
  unsigned set = 0;
  char *rest = NULL;
  for (char *name = strtok_r(text, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
    int call = 0;
    while (call < CALLS && strcmp(name, NAMES[call])) call++;
    if (call == CALLS) give_up("no such call", name);
    set |= 1u << call;
  }
  return set;
}

/* counted[,failing] nth error|HALF|KILL once|on pattern */
static void add_rule(char *text) {
  char calls[128], error[32], mode[8];
  if (rule_count == MOST_RULES) give_up("too many rules", text);
  struct rule *rule = &rules[rule_count];
  if (sscanf(text, " %127s %ld %31s %7s %511[^\n]", calls, &rule->nth, error, mode, rule->pattern) != 5)
    give_up("not a rule", text);
  char *failing = strchr(calls, ',');
  if (failing) *failing++ = 0;
  rule->counted = calls_named(calls);
  rule->failing = rule->counted | (failing ? calls_named(failing) : 0);
  rule->kill = !strcmp(error, "KILL");
  rule->error = rule->kill ? EIO : error_named(error);
  if (!rule->error) give_up("no such error", error);
  if (strcmp(mode, "once") && strcmp(mode, "on")) give_up("neither once nor on", mode);
  rule->onwards = !strcmp(mode, "on");
  rule->seen = 0;
  rule_count++;
}

static void set_rules(char *text) {
  char *rest = NULL;
  rule_count = 0;
  for (char *rule = strtok_r(text, ";", &rest); rule; rule = strtok_r(NULL, ";", &rest)) add_rule(rule);
}

__attribute__((constructor)) static void start(void) {
  armed_by = getenv("FAULT_ARM");
  log_file = getenv("FAULT_LOG");
  const char *text = getenv("FAULTS");
  if (!text) return;
  char *copy = strdup(text);
  set_rules(copy);
  free(copy);
}

/* Whether calls count now. A file that is not empty holds rules, which begin anew with each such file. */
static int armed(void) {
  static ino_t last;
  static struct timespec since;
  struct stat now;
  if (!armed_by) return 1;
  if (stat(armed_by, &now) != 0) return 0;
  if (now.st_size == 0) return 1;
  if (now.st_ino == last && !memcmp(&now.st_mtim, &since, sizeof since)) return 1;
  char text[4096] = "";
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  ssize_t (*real_read)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
  int fd = real_open(armed_by, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = real_read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  last = now.st_ino;
  since = now.st_mtim;
  set_rules(text);
  return 1;
}

static void note(const char *name, const char *path, const char *outcome) {
  if (!log_file) return;
  char line[1200];
  int length = snprintf(line, sizeof line, "%s %s %s\n", name, outcome, path);
  int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
  ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  int fd = real_open(log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (real_write(fd, line, (size_t)length) < 0) abort();
  close(fd);
}

/* The error that this call is to fail with; 0 to let it through. */
static int fault(enum call call, const char *path) {
  if (inside || (rule_count == 0 && !log_file && !armed_by)) return 0;
  inside = 1;
  int error = 0;
  pthread_mutex_lock(&lock);
  if (!armed()) {
    pthread_mutex_unlock(&lock);
    inside = 0;
    return 0;
  }
  for (int index = 0; index < rule_count && !error; index++) {
    struct rule *rule = &rules[index];
    unsigned bit = 1u << call;
    if (!(rule->failing & bit) || fnmatch(rule->pattern, path, 0) != 0) continue;
    if (rule->counted & bit) rule->seen++;
    int now = rule->seen == rule->nth && (rule->counted & bit);
    int later = rule->onwards && rule->seen >= rule->nth;
    if (!now && !later) continue;
    note(NAMES[call], path, rule->kill ? "killed" : "failed");
    if (rule->kill) kill(getpid(), SIGKILL);
    error = rule->error;
  }
  if (!error) note(NAMES[call], path, "passed");
  pthread_mutex_unlock(&lock);
  inside = 0;
  return error;
}

static int fault_at(enum call call, int fd) {
  if (inside || (rule_count == 0 && !log_file && !armed_by)) return 0;
  int before = errno;
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  int error = 0;
  if (length >= 0) {
    path[length] = 0;
    error = fault(call, path);
  }
  errno = before;
  return error;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define FAIL_IF(test) \
  do { int failed = (test); if (failed > 0) { errno = failed; return -1; } } while (0)
/* For calls that may do less than they are asked for. */
#define FAIL_OR_HALVE(test, count) \
  do { \
    int failed = (test); \
    if (failed > 0) { errno = failed; return -1; } \
    if (failed == HALF && (count) > 1) count /= 2; \
  } while (0)

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t);
  FAIL_OR_HALVE(fault_at(WRITE, fd), count);
  return real(fd, bytes, count);
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  FAIL_OR_HALVE(fault_at(WRITE, fd), count);
  return real(fd, pieces, count);
}
#define PWRITE_AS(name, offset_type) \
  ssize_t name(int fd, const void *bytes, size_t count, offset_type at) { \
    REAL(ssize_t, name, int, const void *, size_t, offset_type); \
    FAIL_OR_HALVE(fault_at(PWRITE, fd), count); \
    return real(fd, bytes, count, at); \
  }
PWRITE_AS(pwrite, off_t)
PWRITE_AS(pwrite64, off64_t)
#define PWRITEV_AS(name, offset_type) \
  ssize_t name(int fd, const struct iovec *pieces, int count, offset_type at) { \
    REAL(ssize_t, name, int, const struct iovec *, int, offset_type); \
    FAIL_OR_HALVE(fault_at(PWRITE, fd), count); \
    return real(fd, pieces, count, at); \
  }
PWRITEV_AS(pwritev, off_t)
PWRITEV_AS(pwritev64, off64_t)

ssize_t read(int fd, void *bytes, size_t count) {
  REAL(ssize_t, read, int, void *, size_t);
  FAIL_OR_HALVE(fault_at(READ, fd), count);
  return real(fd, bytes, count);
}
ssize_t readv(int fd, const struct iovec *pieces, int count) {
  REAL(ssize_t, readv, int, const struct iovec *, int);
  FAIL_OR_HALVE(fault_at(READ, fd), count);
  return real(fd, pieces, count);
}
#define PREAD_AS(name, offset_type) \
  ssize_t name(int fd, void *bytes, size_t count, offset_type at) { \
    REAL(ssize_t, name, int, void *, size_t, offset_type); \
    FAIL_OR_HALVE(fault_at(PREAD, fd), count); \
    return real(fd, bytes, count, at); \
  }
PREAD_AS(pread, off_t)
PREAD_AS(pread64, off64_t)
#define PREADV_AS(name, offset_type) \
  ssize_t name(int fd, const struct iovec *pieces, int count, offset_type at) { \
    REAL(ssize_t, name, int, const struct iovec *, int, offset_type); \
    FAIL_OR_HALVE(fault_at(PREAD, fd), count); \
    return real(fd, pieces, count, at); \
  }
PREADV_AS(preadv, off_t)
PREADV_AS(preadv64, off64_t)

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  FAIL_IF(fault(MKDIR, path));
  return real(path, mode);
}

int fsync(int fd) {
  REAL(int, fsync, int);
  FAIL_IF(fault_at(FSYNC, fd));
  return real(fd);
}
int fdatasync(int fd) {
  REAL(int, fdatasync, int);
  FAIL_IF(fault_at(FDATASYNC, fd));
  return real(fd);
}
int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  FAIL_IF(fault(RENAME, to));
  return real(from, to);
}
int unlink(const char *path) {
  REAL(int, unlink, const char *);
  FAIL_IF(fault(UNLINK, path));
  return real(path);
}
int remove(const char *path) {
  REAL(int, remove, const char *);
  FAIL_IF(fault(UNLINK, path));
  return real(path);
}
int unlinkat(int folder, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  FAIL_IF(fault(UNLINK, path));
  return real(folder, path, flags);
}

/* The mode is there only where a file may be made. */
#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
#define OPEN_AS(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    MODE_OF(flags) \
    FAIL_IF(fault(OPEN, path)); \
    return real(path, flags, mode); \
  }
OPEN_AS(open)
OPEN_AS(open64)
#define OPENAT_AS(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(int, name, int, const char *, int, ...); \
    MODE_OF(flags) \
    FAIL_IF(fault(OPEN, path)); \
    return real(folder, path, flags, mode); \
  }
OPENAT_AS(openat)
OPENAT_AS(openat64)

#define FTRUNCATE_AS(name, offset_type) \
  int name(int fd, offset_type length) { \
    REAL(int, name, int, offset_type); \
    FAIL_IF(fault_at(FTRUNCATE, fd)); \
    return real(fd, length); \
  }
FTRUNCATE_AS(ftruncate, off_t)
FTRUNCATE_AS(ftruncate64, off64_t)

/* Memory without a file behind it is left alone. */
#define MMAP_AS(name, offset_type) \
  void *name(void *at, size_t length, int access, int flags, int fd, offset_type offset) { \
    REAL(void *, name, void *, size_t, int, int, int, offset_type); \
    int failed = fd >= 0 && !(flags & MAP_ANONYMOUS) ? fault_at(MMAP, fd) : 0; \
    if (failed > 0) { errno = failed; return MAP_FAILED; } \
    return real(at, length, access, flags, fd, offset); \
  }
MMAP_AS(mmap, off_t)
MMAP_AS(mmap64, off64_t)

/* Calls of the operating system that fail: preloaded into a process, whose files below a folder are written by these.

   FAULT_PLAN names a file that is shared memory: how many calls there were, which of them fails, with which error, below
   which folder. Whoever forks commands sets it between two of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct plan {
    int64_t n_calls, fails, error;
    char folder[4072];
};

static struct plan *plan;
static unsigned char is_below[65536]; /* of each descriptor: whether it was opened below the folder */

__attribute__((constructor)) static void read_plan(void) {
    int (*open_file)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    const char *path = getenv("FAULT_PLAN");
    int file = path ? open_file(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof(struct plan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) plan = memory;
    close(file);
}

static int concerns(const char *path) {
    return plan && plan->folder[0] && path && strncmp(path, plan->folder, strlen(plan->folder)) == 0;
}

static int concerns_file(int file) { return plan && plan->folder[0] && file >= 0 && file < 65536 && is_below[file]; }

/* Count a call; return whether it is the one that fails. */
static int fails(void) {
    if (__atomic_add_fetch(&plan->n_calls, 1, __ATOMIC_SEQ_CST) != plan->fails) return 0;
    errno = (int)plan->error;
    return 1;
}

/* Return the descriptor of what was opened, and note whether it is below the folder. */
static int note_opened(int file, const char *path) {
    if (file >= 0 && file < 65536) is_below[file] = concerns(path);
    return file;
}

/* The mode stands behind the flags where a file may be made. */
#define TAKE_MODE                                                           \
    va_list more;                                                           \
    va_start(more, flags);                                                  \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more);

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                \
        static int (*real)(const char *, int, ...);             \
        if (!real) real = dlsym(RTLD_NEXT, #name);              \
        TAKE_MODE                                               \
        if (concerns(path) && fails()) return -1;               \
        return note_opened(real(path, flags, mode), path);      \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                               \
    int name(int folder, const char *path, int flags, ...) {        \
        static int (*real)(int, const char *, int, ...);            \
        if (!real) real = dlsym(RTLD_NEXT, #name);                  \
        TAKE_MODE                                                   \
        if (concerns(path) && fails()) return -1;                   \
        return note_opened(real(folder, path, flags, mode), path);  \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int close(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "close");
    if (file >= 0 && file < 65536) is_below[file] = 0;
    return real(file);
}

ssize_t write(int file, const void *bytes, size_t n) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (concerns_file(file) && fails()) {
        int error = errno;
        if (n > 1) real(file, bytes, n / 2); /* half of it is there already */
        errno = error;
        return -1;
    }
    return real(file, bytes, n);
}

#define PWRITE(name, offset_type)                                               \
    ssize_t name(int file, const void *bytes, size_t n, offset_type offset) {   \
        static ssize_t (*real)(int, const void *, size_t, offset_type);         \
        if (!real) real = dlsym(RTLD_NEXT, #name);                              \
        return concerns_file(file) && fails() ? -1 : real(file, bytes, n, offset); \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define OF_FILE(name)                                       \
    int name(int file) {                                    \
        static int (*real)(int);                            \
        if (!real) real = dlsym(RTLD_NEXT, #name);          \
        return concerns_file(file) && fails() ? -1 : real(file); \
    }
OF_FILE(fsync)
OF_FILE(fdatasync)

#define TRUNCATE(name, offset_type)                                     \
    int name(int file, offset_type size) {                              \
        static int (*real)(int, offset_type);                           \
        if (!real) real = dlsym(RTLD_NEXT, #name);                      \
        return concerns_file(file) && fails() ? -1 : real(file, size);  \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    return concerns(to) && fails() ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    static int (*real)(const char *, mode_t);
    if (!real) real = dlsym(RTLD_NEXT, "mkdir");
    return concerns(path) && fails() ? -1 : real(path, mode);
}

int unlink(const char *path) {
    static int (*real)(const char *);
    if (!real) real = dlsym(RTLD_NEXT, "unlink");
    return concerns(path) && fails() ? -1 : real(path);
}

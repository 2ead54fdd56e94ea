/* A disk that can be looked at, and that can be full: loaded before libc into a server under test.
 *
 * Writes, truncations and syncs of the store's files are noted in DISK_LOG, in order, before they are carried out (a sync: after). One
 * record is 24 bytes (kind, file, offset, length as little-endian 32, 32, 64, 64 bits), then the bytes written. While the file DISK_FULL
 * exists, writes to the store's files fail with ENOSPC.
 *
 * While the file DISK_EIO exists, syncs of the store's files fail with EIO, as they do on Linux: reported once, and then the pages count as
 * written although they are not on the disk (Rebello and others, "Can applications recover from fsync failures?"). When DISK_EIO holds
 * anything, it is removed by the first sync that fails. Such a sync is noted as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE = 2, SYNC = 3, FAILED_SYNC = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -2;

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, #name)

typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);
typedef int (*fd_fn)(int);
typedef int (*truncate_fn)(int, off_t);

static ssize_t raw_write(int fd, const void *bytes, size_t count) {
    REAL(write, write_fn);
    return real(fd, bytes, count);
}

/* 1 the database, 2 its log, 0 anything else. */
static int file_of(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (strcmp(name, "jobs.db") == 0) return 1;
    if (strcmp(name, "jobs.db-wal") == 0) return 2;
    return 0;
}

static int is_full(void) {
    const char *flag = getenv("DISK_FULL");
    return flag && access(flag, F_OK) == 0;
}

/* The caller holds the lock. */
static void note(uint32_t kind, uint32_t file, uint64_t offset, uint64_t length, const void *bytes) {
    if (journal == -2) {
        const char *path = getenv("DISK_LOG");
        journal = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    }
    if (journal < 0) return;
    char head[24];
    memcpy(head, &kind, 4);
    memcpy(head + 4, &file, 4);
    memcpy(head + 8, &offset, 8);
    memcpy(head + 16, &length, 8);
    if (raw_write(journal, head, sizeof head) != sizeof head) abort();
    if (bytes && raw_write(journal, bytes, length) != (ssize_t)length) abort();
}

static ssize_t write_at(int fd, int file, const void *bytes, size_t count, off_t at, int seeks) {
    if (is_full()) { errno = ENOSPC; return -1; }
    pthread_mutex_lock(&lock);
    note(WRITE, file, at, count, bytes);
    REAL(pwrite64, pwrite_fn);
    ssize_t done = seeks ? raw_write(fd, bytes, count) : real(fd, bytes, count, at);
    /* A short write would make the journal lie. */
    if (done != (ssize_t)count) abort();
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    int file = file_of(fd);
    if (!file) return raw_write(fd, bytes, count);
    return write_at(fd, file, bytes, count, lseek(fd, 0, SEEK_CUR), 1);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) {
    REAL(pwrite64, pwrite_fn);
    int file = file_of(fd);
    return file ? write_at(fd, file, bytes, count, at, 0) : real(fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }

/* Whether this sync is to fail. */
static int is_broken(void) {
    const char *flag = getenv("DISK_EIO");
    struct stat found;
    if (!flag || stat(flag, &found) != 0) return 0;
    if (found.st_size > 0) unlink(flag);
    return 1;
}

static int sync_with(fd_fn real, int fd) {
    int file = file_of(fd);
    if (file && is_broken()) {
        pthread_mutex_lock(&lock);
        note(FAILED_SYNC, file, 0, 0, NULL);
        pthread_mutex_unlock(&lock);
        errno = EIO;
        return -1;
    }
    int done = real(fd);
    if (file && done == 0) {
        pthread_mutex_lock(&lock);
        note(SYNC, file, 0, 0, NULL);
        pthread_mutex_unlock(&lock);
    }
    return done;
}

int fsync(int fd) { REAL(fsync, fd_fn); return sync_with(real, fd); }
int fdatasync(int fd) { REAL(fdatasync, fd_fn); return sync_with(real, fd); }

int ftruncate64(int fd, off_t length) {
    REAL(ftruncate64, truncate_fn);
    int file = file_of(fd);
    if (!file) return real(fd, length);
    pthread_mutex_lock(&lock);
    note(TRUNCATE, file, length, 0, NULL);
    int done = real(fd, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

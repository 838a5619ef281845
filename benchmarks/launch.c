/* launch CORES MEGABYTES COMMAND…: runs a command on these cores (0,1) and says, in one line, how many seconds it took, how
 * many kilobytes it had resident at most, and how many seconds of a processor it used. Ends with the command's exit code.
 *
 * Before that it uses so much memory and gives it back. A virtual machine whose host takes free memory away pays for getting it
 * again, page by page, ten times what clearing it costs; how much of that meets a program depends on what ran before it. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* can't fail for this clock */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void pin(const char *cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (char *end; *cores != '\0'; cores = *end == ',' ? end + 1 : end) CPU_SET(strtoul(cores, &end, 10), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) perror("sched_setaffinity"); /* goes on, but less steadily */
}

static void fetch_memory(size_t size)
{
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return perror("mmap"); /* goes on: the command may need less */
    (void)madvise(room, size, MADV_HUGEPAGE);      /* a wish */
    memset(room, 1, size);
    (void)munmap(room, size); /* can't fail for what was mapped */
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    size_t megabytes = strtoul(argv[2], NULL, 10);
    pin(argv[1]);
    if (megabytes > 0) fetch_memory(megabytes << 20);
    double began = now();
    pid_t child = fork();
    if (child == 0) {
        (void)execv(argv[3], argv + 3);
        perror(argv[3]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) return perror("launch"), 2;
    double took = now() - began;
    printf("%.6f %ld %.6f\n", took, usage.ru_maxrss, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

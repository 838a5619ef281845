#define _GNU_SOURCE
#include "frequency.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- small files --------------------------------------------------------------------------------------- */

static bool place(char *path, const char *folder, const char *name)
{
    int size = snprintf(path, DFRT__SYSFS_ROOM, "%s/%s", folder, name);
    return size > 0 && size < DFRT__SYSFS_ROOM;
}

static bool read_word(const char *folder, const char *name, char *word, size_t room)
{
    char path[DFRT__SYSFS_ROOM];
    int fd = place(path, folder, name) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t size = fd < 0 ? -1 : read(fd, word, room - 1);
    if (fd >= 0) {
        (void)close(fd); /* only read */
    }
    if (size <= 0) {
        return false;
    }
    word[size] = '\0';
    word[strcspn(word, "\n")] = '\0';
    return true;
}

/* A whole number that is not negative; nothing else may stand in the file. */
static bool read_count(const char *folder, const char *name, long long *number)
{
    char word[64], *end;
    if (!read_word(folder, name, word, sizeof word)) {
        return false;
    }
    errno = 0;
    *number = strtoll(word, &end, 10);
    return errno == 0 && end != word && *end == '\0' && *number >= 0;
}

static bool write_count(const char *folder, const char *name, long long number)
{
    char path[DFRT__SYSFS_ROOM], word[32];
    int fd = place(path, folder, name) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    int size = snprintf(word, sizeof word, "%lld\n", number);
    bool good = fd >= 0 && write(fd, word, (size_t)size) == size;
    if (fd >= 0) {
        good = close(fd) == 0 && good;
    }
    return good;
}

/* --- finding ------------------------------------------------------------------------------------------- */

/* `prefix` and a number: policy0, intel-rapl:1; not intel-rapl:1:0, which is a part of that. */
static bool is_numbered(const char *name, const char *prefix)
{
    size_t size = strlen(prefix);
    return strncmp(name, prefix, size) == 0 && name[size] != '\0' &&
           strspn(name + size, "0123456789") == strlen(name + size);
}

static void add_domain(dfrt__frequency *frequency, const char *folder)
{
    long long least, most;
    dfrt__frequency_domain *domain = &frequency->domains[frequency->domain_count];
    if (frequency->domain_count < DFRT__MOST_DOMAINS && read_count(folder, "cpuinfo_min_freq", &least) &&
        read_count(folder, "cpuinfo_max_freq", &most) && least <= most) {
        *domain = (dfrt__frequency_domain){0};
        (void)snprintf(domain->path, sizeof domain->path, "%s", folder);
        frequency->domain_count++;
    }
}

static void add_meter(dfrt__frequency *frequency, const char *folder)
{
    long long now, range;
    dfrt__energy_meter *meter = &frequency->meters[frequency->meter_count];
    if (frequency->meter_count < DFRT__MOST_PACKAGES && read_count(folder, "energy_uj", &now)) {
        *meter = (dfrt__energy_meter){.last_uj = (double)now};
        meter->range_uj = read_count(folder, "max_energy_range_uj", &range) ? (double)range : 0;
        (void)snprintf(meter->path, sizeof meter->path, "%s", folder);
        frequency->meter_count++;
    }
}

static void find_all(dfrt__frequency *frequency, const char *folder, const char *prefix,
                     void (*add)(dfrt__frequency *, const char *))
{
    DIR *found = opendir(folder);
    const struct dirent *entry;
    while (found != NULL && (entry = readdir(found)) != NULL) {
        char path[DFRT__SYSFS_ROOM];
        if (is_numbered(entry->d_name, prefix) && place(path, folder, entry->d_name)) {
            add(frequency, path);
        }
    }
    if (found != NULL) {
        (void)closedir(found); /* only read */
    }
}

void dfrt__frequency_open(dfrt__frequency *frequency, const char *root, dfrt__frequency_missing *why)
{
    char folder[DFRT__SYSFS_ROOM];
    frequency->domain_count = frequency->meter_count = 0;
    *why = (dfrt__frequency_missing){{{0}}, {{0}}};
    if (place(folder, root, "devices/system/cpu/cpufreq")) {
        find_all(frequency, folder, "policy", add_domain);
    }
    if (frequency->domain_count == 0) {
        (void)dfrt_fail(&why->frequency, DFRT_MISSING, "no cpufreq below '%s': the frequency stays as it is", root);
    }
    if (place(folder, root, "class/powercap")) {
        find_all(frequency, folder, "intel-rapl:", add_meter);
    }
    if (frequency->meter_count == 0) {
        (void)dfrt_fail(&why->energy, DFRT_MISSING, "no energy meter below '%s': power is the model's", root);
    }
}

/* --- frequency ----------------------------------------------------------------------------------------- */

/* The order matters: the kernel refuses a least above the most. */
static bool set_limits(const char *path, long long least, long long most)
{
    long long now;
    bool up = read_count(path, "scaling_max_freq", &now) && least > now;
    const char *first = up ? "scaling_max_freq" : "scaling_min_freq";
    const char *second = up ? "scaling_min_freq" : "scaling_max_freq";
    return write_count(path, first, up ? most : least) && write_count(path, second, up ? least : most);
}

static bool set_domain(dfrt__frequency_domain *domain, long long khz)
{
    long long least, most, can_least, can_most;
    if (!read_count(domain->path, "cpuinfo_min_freq", &can_least) ||
        !read_count(domain->path, "cpuinfo_max_freq", &can_most) ||
        !read_count(domain->path, "scaling_min_freq", &least) || !read_count(domain->path, "scaling_max_freq", &most)) {
        return false;
    }
    khz = khz < can_least ? can_least : khz > can_most ? can_most : khz;
    if (domain->before_most == 0) {
        domain->before_least = least;
        domain->before_most = most;
    }
    char governor[64];
    bool by_hand = read_word(domain->path, "scaling_governor", governor, sizeof governor) &&
                   strcmp(governor, "userspace") == 0;
    return set_limits(domain->path, khz, khz) && (!by_hand || write_count(domain->path, "scaling_setspeed", khz));
}

dfrt_status dfrt__frequency_set(dfrt__frequency *frequency, double hertz, dfrt_error *error)
{
    if (frequency->domain_count == 0) {
        return dfrt_fail(error, DFRT_MISSING, "there is no cpufreq");
    }
    if (!(hertz > 0 && hertz < 1e15)) {
        return dfrt_fail(error, DFRT_USAGE, "no frequency: %g", hertz);
    }
    for (unsigned i = 0; i < frequency->domain_count; i++) {
        if (!set_domain(&frequency->domains[i], (long long)(hertz / 1e3))) {
            return dfrt_fail(error, DFRT_IO, "cannot set the frequency in '%s': %s", frequency->domains[i].path,
                             strerror(errno));
        }
    }
    return DFRT_OK;
}

double dfrt__frequency_now(const dfrt__frequency *frequency)
{
    double sum = 0;
    unsigned known = 0;
    for (unsigned i = 0; i < frequency->domain_count; i++) {
        long long khz;
        if (read_count(frequency->domains[i].path, "scaling_cur_freq", &khz)) {
            sum += (double)khz * 1e3;
            known++;
        }
    }
    return known == 0 ? NAN : sum / known;
}

void dfrt__frequency_close(dfrt__frequency *frequency)
{
    for (unsigned i = 0; i < frequency->domain_count; i++) {
        const dfrt__frequency_domain *domain = &frequency->domains[i];
        if (domain->before_most != 0) {
            (void)set_limits(domain->path, domain->before_least, domain->before_most); /* nobody is left to tell */
        }
    }
    frequency->domain_count = frequency->meter_count = 0;
}

/* --- energy -------------------------------------------------------------------------------------------- */

static bool read_meter(dfrt__energy_meter *meter)
{
    long long number;
    if (!read_count(meter->path, "energy_uj", &number)) {
        return false;
    }
    double used = (double)number - meter->last_uj;
    if (used < 0) { /* it begins again at 0 behind its range */
        used = meter->range_uj > 0 ? fmax(used + meter->range_uj, 0) : (double)number;
    }
    meter->joules += used / 1e6;
    meter->last_uj = (double)number;
    return true;
}

double dfrt__frequency_joules(dfrt__frequency *frequency)
{
    double sum = 0;
    for (unsigned i = 0; i < frequency->meter_count; i++) {
        if (!read_meter(&frequency->meters[i])) {
            return NAN;
        }
        sum += frequency->meters[i].joules;
    }
    return frequency->meter_count == 0 ? NAN : sum;
}

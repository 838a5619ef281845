#define _GNU_SOURCE
#include "dfrt/dealing.h"

#include <stdlib.h>
#include <string.h>

#include "dfrt/stage.h"
#include "dfrt/store.h"

static void begin(dfrt_dealing *dealing, unsigned most)
{
    if (dealing->most == most) {
        return;
    }
    void *done = NULL;
    if (posix_memalign(&done, _Alignof(dfrt_done), most * sizeof(dfrt_done)) != 0) {
        dfrt_out_of_memory();
    }
    dealing->done = memset(done, 0, most * sizeof(dfrt_done));
    dealing->sent = dfrt_allocate(most * sizeof *dealing->sent);
    dealing->most = most; /* the same for the whole run */
}

dfrt_done *dfrt_dealing_send(dfrt_dealing *dealing, unsigned most, unsigned workers, unsigned worker)
{
    begin(dealing, most);
    dealing->handed++;
    dealing->sent[worker % workers]++;
    return &dealing->done[worker % workers];
}

unsigned dfrt_dealing_least(dfrt_dealing *dealing, unsigned most, unsigned workers, uint64_t batch)
{
    begin(dealing, most);
    if (dealing->handed % batch != 0 && dealing->chosen < workers) {
        return dealing->chosen;
    }
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < workers; i++) {
        unsigned worker = (unsigned)((dealing->handed + i) % workers);
        uint64_t open = dealing->sent[worker] - atomic_load_explicit(&dealing->done[worker].count, memory_order_relaxed);
        if (open < least) {
            dealing->chosen = worker;
            least = open;
        }
    }
    return dealing->chosen;
}

void dfrt_dealing_close(dfrt_dealing *dealing)
{
    free(dealing->done);
    free(dealing->sent);
    *dealing = (dfrt_dealing){0};
}

#define _GNU_SOURCE
#include "parcel.h"

#include <stdlib.h>

#include "dfrt/program.h"
#include "dfrt/store.h"

dfrt__parcel *dfrt__parcel_make(dfrt_stage *stage)
{
    dfrt__parcel *parcel = dfrt_allocate(sizeof *parcel);
    parcel->segment = dfrt_allocate(stage->segment_type->size);
    dfrt_segment_head *head = parcel->segment;
    *head = *(const dfrt_segment_head *)stage->segment;
    head->counts = dfrt_allocate(stage->program->step_count * sizeof *head->counts);
    dfrt_error error;
    if (stage->segment_type->open(parcel->segment, &error) != DFRT_OK) {
        dfrt_stage_fail(stage, &error);
    }
    return parcel;
}

void dfrt__parcel_send(dfrt_stage *to, dfrt__parcel *parcel)
{
    dfrt__parcel *first = atomic_load_explicit(&to->parcels, memory_order_relaxed);
    do {
        parcel->next = first;
        /* Partner: the acquire in dfrt__parcels_take. */
    } while (!atomic_compare_exchange_weak_explicit(&to->parcels, &first, parcel, memory_order_release,
                                                    memory_order_relaxed));
    dfrt_waiter_wake(&to->waiter);
}

unsigned dfrt__parcels_take(dfrt_stage *stage, dfrt__parcel **list)
{
    if (atomic_load_explicit(&stage->parcels, memory_order_relaxed) == NULL) {
        return 0;
    }
    unsigned count = 0;
    dfrt__parcel *parcel = atomic_exchange_explicit(&stage->parcels, NULL, memory_order_acquire);
    while (parcel != NULL) {
        dfrt__parcel *next = parcel->next;
        parcel->next = *list;
        *list = parcel;
        parcel = next;
        count++;
    }
    return count;
}

void dfrt__parcel_unpack(const dfrt_segment *type, const dfrt_program *program, dfrt__parcel *parcel, void *into)
{
    type->move(parcel->segment, &into, 1, NULL, 0);
    const dfrt_count *more = ((dfrt_segment_head *)parcel->segment)->counts;
    dfrt_count *counts = ((dfrt_segment_head *)into)->counts;
    for (unsigned s = 0; s < program->step_count; s++) {
        counts[s].out += more[s].out;
        counts[s].faults += more[s].faults;
        counts[s].late += more[s].late;
    }
    type->close(parcel->segment);
    free(((dfrt_segment_head *)parcel->segment)->counts);
    free(parcel->segment);
    free(parcel);
}

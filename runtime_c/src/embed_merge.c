/* Several sources whose tuples are all there: taken in the order in which reader.c takes them from files, so that an
 * embedded program gives what the binary gives. */
#define _GNU_SOURCE
#include "embed_state.h"

static bool used_up(const dfrt_embed_input *input)
{
    return input->at == input->count;
}

/* An input that has ended and is used up ends its source the moment it is looked at, as the reader does. */
static bool ready(dfrt_embed *embed, dfrt_embed_input *inputs, unsigned i)
{
    if (!used_up(&inputs[i])) {
        return !embed->ended[i];
    }
    dfrt__embed_end_source(embed, i);
    return false;
}

static void take_one(dfrt_embed *embed, dfrt_embed_input *inputs, unsigned i)
{
    size_t size = embed->program->sources[i].record->size;
    const unsigned char *records = inputs[i].records;
    dfrt__embed_feed(embed, i, records + inputs[i].at++ * size, 1);
}

static int furthest_behind(dfrt_embed *embed, dfrt_embed_input *inputs)
{
    int chosen = -1;
    int64_t smallest = 0;
    for (unsigned i = 0; i < embed->program->source_count; i++) {
        if (embed->program->sources[i].time_field < 0 || !ready(embed, inputs, i)) {
            continue;
        }
        int64_t watermark = embed->program->source_watermark(embed->layout.stages[0]->segment, i);
        if (chosen < 0 || watermark < smallest) {
            chosen = (int)i;
            smallest = watermark;
        }
    }
    return chosen;
}

static void take_turn(dfrt_embed *embed, dfrt_embed_input *inputs)
{
    for (unsigned i = 0; i < embed->program->source_count; i++) {
        if (embed->program->sources[i].time_field < 0 && ready(embed, inputs, i)) {
            take_one(embed, inputs, i);
        }
    }
    int timed = furthest_behind(embed, inputs);
    if (timed >= 0) {
        take_one(embed, inputs, (unsigned)timed);
    }
}

/* A turn looks at each source once, so it is enough to look before it: DFRT_AGAIN, DFRT_END, or DFRT_OK to go on. */
static dfrt_status look(const dfrt_embed *embed, const dfrt_embed_input *inputs)
{
    bool open = false;
    for (unsigned i = 0; i < embed->program->source_count; i++) {
        if (!embed->ended[i] && used_up(&inputs[i]) && !inputs[i].ended) {
            return DFRT_AGAIN;
        }
        open |= !embed->ended[i];
    }
    return open ? DFRT_OK : DFRT_END;
}

static dfrt_status take_only(dfrt_embed *embed, dfrt_embed_input *input)
{
    const unsigned char *records = input->records;
    if (!used_up(input)) {
        size_t size = embed->program->sources[0].record->size;
        dfrt__embed_feed(embed, 0, records + input->at * size, input->count - input->at);
        input->at = input->count;
    }
    if (!input->ended) {
        return DFRT_AGAIN;
    }
    dfrt__embed_end_source(embed, 0);
    return DFRT_END;
}

dfrt_status dfrt_embed_merge(dfrt_embed *embed, dfrt_embed_input *inputs)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status != DFRT_OK) {
        return status;
    }
    if (embed->program->source_count == 1 && !embed->ended[0]) {
        status = take_only(embed, &inputs[0]);
    } else {
        while ((status = look(embed, inputs)) == DFRT_OK && !dfrt_run_failed(&embed->run)) {
            take_turn(embed, inputs);
        }
    }
    dfrt_status failed = dfrt__embed_status(embed);
    return failed != DFRT_OK ? failed : status;
}

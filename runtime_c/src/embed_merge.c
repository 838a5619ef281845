/* Several sources whose tuples are all there: taken in the order in which reader.c takes them from files, so that an
 * embedded program gives what the binary gives. */
#define _GNU_SOURCE
#include "embed_state.h"
#include "merge.h"

/* What one call merges. */
typedef struct merging {
    dfrt_embed *embed;
    dfrt_embed_input *inputs;
} merging;

static bool used_up(const dfrt_embed_input *input)
{
    return input->at == input->count;
}

/* An input that has ended and is used up ends its source the moment it is looked at, as the reader does. */
static bool is_ready(void *owner, unsigned i)
{
    merging *all = owner;
    if (!used_up(&all->inputs[i])) {
        return !all->embed->ended[i];
    }
    dfrt__embed_end_source(all->embed, i);
    return false;
}

static size_t take_tuples(void *owner, unsigned i, size_t most, int64_t until)
{
    merging *all = owner;
    dfrt_embed_input *input = &all->inputs[i];
    const unsigned char *records = input->records;
    size_t size = all->embed->program->sources[i].record->size, left = input->count - input->at;
    size_t taken = dfrt__embed_feed(all->embed, i, records + input->at * size, left < most ? left : most, until);
    input->at += taken;
    return taken;
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
    if (!used_up(input)) {
        (void)take_tuples(&(merging){embed, input}, 0, SIZE_MAX, INT64_MAX);
    }
    if (!input->ended) {
        return DFRT_AGAIN;
    }
    dfrt__embed_end_source(embed, 0);
    return DFRT_END;
}

static dfrt_status take_several(dfrt_embed *embed, dfrt_embed_input *inputs)
{
    merging all = {embed, inputs};
    dfrt__merge merge = {.program = embed->program,
                         .segment = embed->layout.stages[0]->segment,
                         .owner = &all,
                         .ready = is_ready,
                         .take = take_tuples};
    dfrt_status status;
    while ((status = look(embed, inputs)) == DFRT_OK && !dfrt_run_failed(&embed->run)) {
        (void)dfrt__merge_turn(&merge, SIZE_MAX); /* nothing taken: sources have ended */
    }
    return status;
}

dfrt_status dfrt_embed_merge(dfrt_embed *embed, dfrt_embed_input *inputs)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status != DFRT_OK) {
        return status;
    }
    bool only = embed->program->source_count == 1 && !embed->ended[0];
    status = only ? take_only(embed, &inputs[0]) : take_several(embed, inputs);
    dfrt_status failed = dfrt__embed_status(embed);
    return failed != DFRT_OK ? failed : status;
}

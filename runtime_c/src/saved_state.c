#include "saved_state.h"

#include <dfrt/archive.h>
#include <dfrt/hash.h>

enum { MAGIC_SIZE = 8, SAVED_HEADER = MAGIC_SIZE + 4 + 4 + 8 + 8 + 8, STATE_VERSION = 1 };

static const unsigned char magic[MAGIC_SIZE] = {'d', 'f', 'c', 's', 't', 'a', 't', 'e'};

/* What stands before the state itself. */
typedef struct saved_header {
    uint32_t version, abi;
    uint64_t identity, size, check;
} saved_header;

static void write_header(unsigned char *to, const saved_header *header)
{
    memcpy(to, magic, MAGIC_SIZE);
    dfrt_pack(to + 8, &header->version, 4);
    dfrt_pack(to + 12, &header->abi, 4);
    dfrt_pack(to + 16, &header->identity, 8);
    dfrt_pack(to + 24, &header->size, 8);
    dfrt_pack(to + 32, &header->check, 8);
}

static saved_header read_header(const uint8_t *from)
{
    saved_header header;
    dfrt_unpack(&header.version, from + 8, 4);
    dfrt_unpack(&header.abi, from + 12, 4);
    dfrt_unpack(&header.identity, from + 16, 8);
    dfrt_unpack(&header.size, from + 24, 8);
    dfrt_unpack(&header.check, from + 32, 8);
    return header;
}

static dfrt_status can_save(const dfrt_embed *embed, dfrt_error *error)
{
    if (embed->program->identity == 0) {
        return dfrt_fail(error, DFRT_USAGE, "%s was built without the functions that save its state",
                         embed->program->name);
    }
    return embed->fused ? DFRT_OK
                        : dfrt_fail(error, DFRT_USAGE, "%s runs in several threads: its state can't be saved",
                                    embed->program->name);
}

static void archive_all(dfrt_embed *embed, dfrt_archive *archive)
{
    const dfrt_program *program = embed->program;
    for (unsigned i = 0; i < program->source_count; i++) {
        dfrt_archive_bool(archive, &embed->ended[i]);
    }
    for (unsigned i = 0; i < program->segment_count; i++) {
        if (program->segments[i].archive != NULL) {
            program->segments[i].archive(embed->layout.stages[embed->layout.first_stage[i]]->segment, archive);
        }
    }
}

dfrt_status dfrt__state_save(dfrt_embed *embed, dfrt_bytes *bytes, dfrt_error *error)
{
    dfrt_status status = can_save(embed, error);
    if (status != DFRT_OK) {
        return status;
    }
    size_t begin = bytes->size;
    (void)dfrt_bytes_add(bytes, SAVED_HEADER);
    dfrt_archive archive = {.saved = bytes};
    archive_all(embed, &archive);
    if (archive.status != DFRT_OK) { /* what could not be loaded again is not saved either */
        return dfrt_fail(error, archive.status, "the state of %s can't be saved", embed->program->name);
    }
    const unsigned char *state = bytes->data + begin + SAVED_HEADER;
    size_t size = bytes->size - begin - SAVED_HEADER;
    write_header(bytes->data + begin,
                 &(saved_header){.version = STATE_VERSION, .abi = DFRT_ABI_VERSION,
                                 .identity = embed->program->identity, .size = size,
                                 .check = dfrt_hash_bytes(state, size)});
    return DFRT_OK;
}

static dfrt_status check_header(const dfrt_embed *embed, const uint8_t *bytes, size_t size, dfrt_error *error)
{
    const char *name = embed->program->name;
    if (size < SAVED_HEADER || memcmp(bytes, magic, MAGIC_SIZE) != 0) {
        return dfrt_fail(error, DFRT_MALFORMED, "these %zu bytes are no saved state of %s", size, name);
    }
    saved_header header = read_header(bytes);
    if (header.version != STATE_VERSION || header.abi != DFRT_ABI_VERSION) {
        return dfrt_fail(error, DFRT_USAGE, "the saved state of %s is of version %u.%u, this is %u.%u", name,
                         header.version, header.abi, STATE_VERSION, DFRT_ABI_VERSION);
    }
    if (header.identity != embed->program->identity) {
        return dfrt_fail(error, DFRT_USAGE, "the saved state is of another program than this %s: its text, or the "
                                            "version of dfc, has changed since",
                         name);
    }
    if (header.size != size - SAVED_HEADER || header.check != dfrt_hash_bytes(bytes + SAVED_HEADER, header.size)) {
        return dfrt_fail(error, DFRT_MALFORMED, "the saved state of %s is damaged", name);
    }
    return DFRT_OK;
}

dfrt_status dfrt__state_load(dfrt_embed *embed, const uint8_t *bytes, size_t size, dfrt_error *error)
{
    dfrt_status status = can_save(embed, error);
    if (status == DFRT_OK) {
        status = check_header(embed, bytes, size, error);
    }
    if (status != DFRT_OK) {
        return status;
    }
    dfrt_archive archive = {.loads = true, .at = bytes + SAVED_HEADER, .left = size - SAVED_HEADER};
    archive_all(embed, &archive);
    if (archive.status == DFRT_OK && archive.left > 0) {
        dfrt_archive_refuse(&archive);
    }
    return archive.status == DFRT_OK ? DFRT_OK
                                     : dfrt_fail(error, archive.status, "the saved state of %s can't be state of it",
                                                 embed->program->name);
}

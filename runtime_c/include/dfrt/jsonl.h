/* One JSON object a line (RFC 8259, strictly): a line taken apart into one slice a field, and a record as a line.
 *
 * Keys are matched with the record's fields by name, in any order; others are checked and left out. A number is what
 * the field's parser takes, and a string for text and symbols. JSON has no nan and no infinities: floats are also the
 * strings "nan", "inf" and "-inf". A field twice, a field that is missing and null are malformed.
 *
 * Threads:   one thread at a time uses a reader or a writer.
 * Ownership: slices point into the line or into the reader, and are valid until its next line; a reader and a writer
 *            borrow the dfrt_record.
 * Progress:  nothing waits; work is linear in the line, and no line allocates once the reader has seen a longer one.
 */
#ifndef DFRT_JSONL_H
#define DFRT_JSONL_H

#include <dfrt/output.h>
#include <dfrt/record.h>

/* Objects and arrays in a line may lie this deep in each other, the line's own object counted. */
enum { DFRT_JSONL_DEPTH = 64 };

typedef struct dfrt_jsonl_reader dfrt_jsonl_reader;

dfrt_status dfrt_jsonl_open(dfrt_jsonl_reader **out, const dfrt_record *record, dfrt_error *error);

/* One slice a field of the record, as its `parse` wants them. DFRT_MALFORMED: dfrt_jsonl_reason says why.
 * DFRT_AGAIN: the line is blank, there is no object in it. DFRT_MEMORY. */
dfrt_status dfrt_jsonl_split(dfrt_jsonl_reader *reader, dfrt_slice line, dfrt_slice *row);
const char *dfrt_jsonl_reason(const dfrt_jsonl_reader *reader);
void dfrt_jsonl_close(dfrt_jsonl_reader *reader);

typedef struct dfrt_jsonl_writer dfrt_jsonl_writer;

dfrt_status dfrt_jsonl_writer_open(dfrt_jsonl_writer **out, const dfrt_record *record, dfrt_error *error);
/* One line with its newline: fields in record order, floats in their shortest form, no blanks. */
void dfrt_jsonl_write(const dfrt_jsonl_writer *writer, dfrt_output *out, const void *record);
void dfrt_jsonl_writer_close(dfrt_jsonl_writer *writer);

#endif

"""What random programs declare and call: aggregates in the language and in C, functions in C."""

APP = "random_program"
DEFINITIONS = """\
aggregate digits(d: i64) -> i64 associative {
  state { value: i64, weight: i64 }
  lift { value: d, weight: 31 }
  combine { value: left.value * right.weight + right.value, weight: left.weight * right.weight }
  lower value
}
aggregate spread(x: f64) -> f64 associative commutative {
  state { low: f64, high: f64 }
  lift { low: x, high: x }
  combine { low: least(left.low, right.low), high: greatest(left.high, right.high) }
  lower high - low
}
aggregate weighted(x: f64, w: i64) -> f64 associative commutative {
  state { total: f64, w: i64 }
  lift { total: x * w, w: w }
  combine { total: left.total + right.total, w: left.w + right.w }
  lower if w == 0 then 0.0 else total / w
}
aggregate longest(t: text<12>) -> text<12> associative {
  state { t: text<12> }
  lift { t: t }
  combine { t: if length(right.t) > length(left.t) then right.t else left.t }
  lower t
}
aggregate woven(a: i64, t: text<12>) -> i64 associative = c("own.c", "woven") state 16
aggregate mixed(a: i64) -> i64 associative commutative = c("own.c", "mixed")
fn c_whole(a: i64, b: i64) -> i64 = c("own.c", "c_whole")
fn c_tail(t: text<12>) -> text<12> = c("own.c", "c_tail")
"""
OWN_C = """\
#include <string.h>
#include "random_program.h"

struct woven { int64_t value, weight; };

void woven_add(void *state, int64_t a, dfrt_slice t)
{
    struct woven *now = state;
    uint64_t weight = now->weight ? (uint64_t)now->weight : 1;
    now->value = (int64_t)((uint64_t)now->value * 31 + (uint64_t)a + t.size);
    now->weight = (int64_t)(weight * 31);
}

void woven_combine(void *left, const void *right)
{
    struct woven *now = left;
    const struct woven *later = right;
    uint64_t weight = now->weight ? (uint64_t)now->weight : 1, factor = later->weight ? (uint64_t)later->weight : 1;
    now->value = (int64_t)((uint64_t)now->value * factor + (uint64_t)later->value);
    now->weight = (int64_t)(weight * factor);
}

int64_t woven_lower(const void *state) { return ((const struct woven *)state)->value; }

void mixed_add(void *state, int64_t a)
{
    uint64_t now;
    memcpy(&now, state, sizeof now);
    now ^= (uint64_t)a * 0x9E3779B97F4A7C15u;
    memcpy(state, &now, sizeof now);
}

void mixed_combine(void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a ^= b;
    memcpy(left, &a, sizeof a);
}

int64_t mixed_lower(const void *state)
{
    uint64_t now;
    memcpy(&now, state, sizeof now);
    return (int64_t)(now >> 1);
}

int64_t c_whole(int64_t a, int64_t b) { return a < b ? a : b; }
dfrt_slice c_tail(dfrt_slice t)
{
    bool plain = t.size && (unsigned char)t.data[0] < 128;
    return plain ? (dfrt_slice){t.data + 1, t.size - 1} : t;
}
"""

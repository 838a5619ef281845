/* Calendar parts of a moment, in UTC: seconds since 1970 in the Gregorian calendar, also long before it.
 *
 * Threads:   pure functions.
 * Ownership: values only.
 * Progress:  nothing waits.
 */
#ifndef DFRT_CALENDAR_H
#define DFRT_CALENDAR_H

#include "dfrt/arith.h"

typedef struct dfrt_date {
    int64_t year, month, day; /* month and day from 1 */
} dfrt_date;

dfrt_date dfrt_date_of(int64_t days_since_1970);

static inline int64_t dfrt__day_of(int64_t seconds) { return dfrt_floor_div(seconds, 86400); }
static inline int64_t dfrt__second_of_day(int64_t seconds) { return seconds - dfrt__day_of(seconds) * 86400; }

static inline int64_t dfrt_time_year(int64_t seconds) { return dfrt_date_of(dfrt__day_of(seconds)).year; }
static inline int64_t dfrt_time_month(int64_t seconds) { return dfrt_date_of(dfrt__day_of(seconds)).month; }
static inline int64_t dfrt_time_day(int64_t seconds) { return dfrt_date_of(dfrt__day_of(seconds)).day; }
static inline int64_t dfrt_time_hour(int64_t seconds) { return dfrt__second_of_day(seconds) / 3600; }
static inline int64_t dfrt_time_minute(int64_t seconds) { return dfrt__second_of_day(seconds) / 60 % 60; }
static inline int64_t dfrt_time_second(int64_t seconds) { return dfrt__second_of_day(seconds) % 60; }

/* 1 is Monday, 7 Sunday; the first of January 1970 was a Thursday. */
static inline int64_t dfrt_time_weekday(int64_t seconds)
{
    int64_t day = dfrt__day_of(seconds) % 7;
    return (day + 10) % 7 + 1;
}

int64_t dfrt_time_day_of_year(int64_t seconds);

#endif

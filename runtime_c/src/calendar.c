#define _GNU_SOURCE
#include "dfrt/calendar.h"

#include <stdbool.h>

/* Days are counted in years that begin in March, so that the leap day is the last of its year; 400 such years
 * repeat exactly. */
enum { DAYS_OF_400_YEARS = 146097, DAYS_OF_100_YEARS = 36524, DAYS_OF_4_YEARS = 1461 };
static const int64_t MARCH_OF_YEAR_0 = 719468; /* days from there to 1970 */

static int64_t clamp(int64_t value, int64_t most) { return value < most ? value : most; }

dfrt_date dfrt_date_of(int64_t days_since_1970)
{
    int64_t days = dfrt_add_i64(days_since_1970, MARCH_OF_YEAR_0);
    int64_t era = dfrt_floor_div(days, DAYS_OF_400_YEARS);
    int64_t rest = days - era * DAYS_OF_400_YEARS;
    int64_t century = clamp(rest / DAYS_OF_100_YEARS, 3);
    rest -= century * DAYS_OF_100_YEARS;
    int64_t fours = rest / DAYS_OF_4_YEARS;
    rest -= fours * DAYS_OF_4_YEARS;
    int64_t year = clamp(rest / 365, 3);
    rest -= year * 365;
    int64_t from_march = (5 * rest + 2) / 153; /* months of 31, 30, 31, 30, 31 days repeat from March on */
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (dfrt_date){era * 400 + century * 100 + fours * 4 + year + (month <= 2), month,
                       rest - (153 * from_march + 2) / 5 + 1};
}

int64_t dfrt_time_day_of_year(int64_t seconds)
{
    static const int64_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    dfrt_date date = dfrt_date_of(dfrt__day_of(seconds));
    bool leap = (date.year % 4 == 0 && date.year % 100 != 0) || date.year % 400 == 0;
    return before[date.month - 1] + date.day + (leap && date.month > 2);
}

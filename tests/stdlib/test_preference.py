"""std.preference beside the definitions, over points with ties, duplicates, infinities and NaN."""

import csv
import math
import random
import subprocess
from pathlib import Path

import pytest
from dfc.compiler.build.folder import runtime_folder
from dfc.compiler.build.toolchain import LINK_FLAGS

from tests.differential.native import call, flags, runtime

PROGRAM = """
app app
record Point { id: i64, p0: f64, p1: f64, p2: f64, p3: f64, p4: f64, p5: f64, p6: f64, p7: f64 }
record Best { best: i64[64], count: i64, top: i64[64], tops: i64, k: i64 }
source points: Point = csv("points.csv")
operator best on points window count SIZE slide SLIDE -> Best {
  alternate a columns id, p0, p1, p2, p3, p4, p5, p6, p7 = c("best.c", "best_pane", "best_merge")
}
sink out = best to csv("out.csv")
"""
BEST_C = """
#include "app.h"
#include "stdlib/preference.h"

bool best_pane(const app_best_a_columns *pane, dfrt_bytes *result)
{
    std_points points = {{pane->p0, pane->p1, pane->p2, pane->p3, pane->p4, pane->p5, pane->p6, pane->p7}, pane->id,
                         pane->count};
    static _Thread_local uint32_t places[64];
    std_points_append(result, &points, places, std_skyline(&points, places));
    return true;
}

bool best_merge(const app_best_panes *panes, app_Best *result)
{
    dfrt_bytes room = {0};
    std_points points = std_points_of(panes->panes, panes->count, &room);
    uint32_t places[64];
    int k;
    result->count = (int64_t)std_skyline(&points, places);
    for (int64_t i = 0; i < result->count; i++) {
        result->best[i] = points.ids[places[i]];
    }
    result->tops = (int64_t)std_top_delta(&points, 3, places, &k);
    result->k = k;
    for (int64_t i = 0; i < result->tops; i++) {
        result->top[i] = points.ids[places[i]];
    }
    dfrt_bytes_free(&room);
    return true;
}
"""
Point = tuple[float, ...]


def dominates(p: Point, q: Point) -> bool:
    return all(a <= b for a, b in zip(p, q, strict=True)) and any(a < b for a, b in zip(p, q, strict=True))


def k_dominates(p: Point, q: Point, k: int) -> bool:
    """In k dimensions no worse, in one of these better."""
    no_worse = sum(a <= b for a, b in zip(p, q, strict=True))
    return no_worse >= k and any(a < b for a, b in zip(p, q, strict=True))


def skyline(points: dict[int, Point]) -> list[int]:
    return [i for i, q in points.items() if not any(dominates(p, q) for p in points.values())]


def top_delta(points: dict[int, Point], delta: int) -> tuple[int, list[int]]:
    for k in range(1, 9):
        found = [i for i, q in points.items() if not any(k_dominates(p, q, k) for p in points.values())]
        if len(found) > delta:
            return k, found
    return 8, skyline(points)


def uniform(chance: random.Random) -> float:
    return chance.random()


def few_values(chance: random.Random) -> float:
    return float(chance.randrange(3))


def strange(chance: random.Random) -> float:
    return chance.choice([0.0, -0.0, 1.0, 2.0, math.inf, -math.inf, 5e-324] * 4 + [math.nan])


def correlated(chance: random.Random) -> float:
    return chance.gauss(0, 1) ** 3


@pytest.mark.parametrize("values", [uniform, few_values, strange, correlated], ids=lambda one: one.__name__)
@pytest.mark.parametrize(("size", "slide"), [(60, 25), (40, 40)])
def test_against_the_definitions(dfc, tmp_path: Path, values, size, slide):
    chance = random.Random(f"{values.__name__} {size}")
    points = {i: tuple(values(chance) for _ in range(8)) for i in range(400)}
    for i in range(10, 400, 7):  # duplicates, near and far
        points[i] = points[chance.randrange(max(0, i - 30), i)]
    for i in range(13, 400, 11):  # nearly dominated
        points[i] = tuple(v + chance.choice([0.0, 0.0, 1e-12]) for v in points[i - 2])
    (tmp_path / "app.dfl").write_text(PROGRAM.replace("SIZE", str(size)).replace("SLIDE", str(slide)))
    (tmp_path / "best.c").write_text(BEST_C)
    head = "id," + ",".join(f"p{d}" for d in range(8))
    lines = (f"{i}," + ",".join(map(repr, p)) for i, p in points.items())
    (tmp_path / "points.csv").write_text("\n".join([head, *lines]))
    answer = dfc("run", "app.dfl")
    assert answer.returncode == 0, answer.stderr
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (400 - size) // slide + 1
    for number, row in enumerate(rows):
        window = {i: points[i] for i in range(number * slide, number * slide + size)}
        assert chosen(row, "best", "count") == skyline(window)
        assert (int(row["k"]), chosen(row, "top", "tops")) == top_delta(window, 3)


def chosen(row: dict[str, str], name: str, count: str) -> list[int]:
    return [int(row[f"{name}[{i}]"]) for i in range(int(row[count]))]


def test_dominates(dfc, tmp_path: Path):
    (tmp_path / "app.dfl").write_text("""
app app
use std.preference
record Pair { p: f64[8], q: f64[8] }
source pairs: Pair = csv("pairs.csv")
stream found = pairs |> map { d: dominates(p, q) }
sink out = found to csv("out.csv")
""")
    one = (1.0,) * 8
    pairs = [(one, one), (one, (*one[1:], 2.0)), ((*one[1:], 2.0), one), ((0.0, *one[1:]), (*one[1:], 0.5)),
             (one, (math.nan, *one[2:], 2.0)), ((0.0,) * 8, one)]
    head = ",".join(f"{name}[{d}]" for name in "pq" for d in range(8))
    (tmp_path / "pairs.csv").write_text("\n".join([head, *(",".join(map(repr, p + q)) for p, q in pairs)]))
    answer = dfc("run", "app.dfl")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "out.csv").read_text().split()[1:] == [str(dominates(p, q)).lower() for p, q in pairs]


KERNELS_C = """
#include "stdlib/preference.h"
#include <stdio.h>
#include <stdlib.h>

typedef void filter(const std_points *points, std__candidates *all);

static void print(const char *name, filter *with, const std_points *points)
{
    dfrt_bytes room = {0};
    std__candidates all = std__candidates_in(&room, points->count);
    with(points, &all);
    unsigned char *chosen = calloc(points->count, 1);
    for (size_t i = 0; chosen != NULL && i < all.count; i++) chosen[all.places[i]]++;
    printf("%s", name);
    for (size_t i = 0; chosen != NULL && i < points->count; i++) {
        for (int times = chosen[i]; times > 0; times--) printf(" %zu", i);
    }
    printf("\\n");
    free(chosen);
    dfrt_bytes_free(&room);
}

int main(void)
{
    static double columns[8][5000];
    std_points points = {.count = 0};
    for (int d = 0; d < 8; d++) points.of[d] = columns[d];
    for (int got = 8; got == 8; points.count += got == 8) {
        got = 0;
        for (int d = 0; d < 8; d++) got += scanf("%lf", &columns[d][points.count]) == 1;
    }
    print("anywhere", std__filter_anywhere, &points);
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) print("avx2", std__filter_avx2, &points);
    if (__builtin_cpu_supports("avx512f")) print("avx512", std__filter_avx512, &points);
#endif
    return 0;
}
"""


@pytest.mark.parametrize("values", [uniform, few_values, strange, correlated], ids=lambda one: one.__name__)
def test_every_kernel_of_this_processor(tmp_path: Path, values):
    """They give the same skyline, whatever the order in which their candidates come to lie."""
    chance = random.Random(values.__name__)
    points = {i: tuple(values(chance) for _ in range(8)) for i in range(700)}
    for i in range(10, 700, 7):
        points[i] = points[chance.randrange(i)]
    (tmp_path / "kernels.c").write_text(KERNELS_C)
    call(*flags(), f"-I{runtime_folder() / 'include'}", f"-I{runtime_folder().parent}", "-o", "kernels", "kernels.c",
         runtime(0), *LINK_FLAGS, folder=tmp_path)
    given = "\n".join(" ".join(map(repr, p)) for p in points.values())
    answer = subprocess.run([tmp_path / "kernels"], input=given, capture_output=True, text=True, check=True).stdout
    expected = " ".join(map(str, skyline(points)))
    lines = answer.splitlines()
    assert lines
    for line in lines:
        name, _, found = line.partition(" ")
        assert found == expected, name

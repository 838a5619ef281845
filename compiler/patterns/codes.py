"""The diagnostics about forced patterns and profiles."""

from __future__ import annotations

from ...dsl.codes import Code

PATTERN_CODES: dict[str, Code] = {
    "E0500": Code(
        "the pattern does not apply",
        "Which patterns apply follows from the function: whether it has a window, keys, and whether windows can be "
        "composed from panes or partitions. `dfc explain` lists the ones that apply, and why the others do not.",
        "operator a on s window count 10 pattern key_partitioning -> R { … }",
        "operator a on s by symbol window count 10 pattern key_partitioning -> R { … }"),
    "E0501": Code(
        "panes of one tuple",
        "Pane farming shares panes between the windows that overlap. They are cut where a window begins or ends: with "
        "a slide of one tuple, or of two and an odd size, every pane holds one tuple, and merging costs as much as the "
        "window itself.",
        "operator a on s window count 10 slide 1 pattern pane_farming -> R { … }",
        "operator a on s window count 10 slide 5 pattern pane_farming -> R { … }"),
    "E0502": Code(
        "--pattern can't be followed",
        "It is OPERATOR=PATTERN, or the name of a stream's step as `dfc explain` has it, with degrees behind a colon: "
        "`predict=window_farming:4`, `predict=pane_farming:3,2` (pane workers, merge workers), `predict=nesting:2,3` "
        "(outer, inner), and further settings by name: `predict=window_farming:4,batch=8,schedule=on_demand`. A degree "
        "is from 1 to 256.",
        "dfc compile app.dfl --pattern predict=pane_farming:0",
        "dfc compile app.dfl --pattern predict=pane_farming:3,2"),
    "E0510": Code(
        "the profile can't be read",
        "A profile is the JSON file that `dfc calibrate` writes. The message says what is wrong with this one.",
        "dfc explain app.dfl --profile notes.txt", "dfc explain app.dfl --profile app.profile.json"),
    "E0511": Code(
        "the profile has another schema version",
        "It was written by another version of dfc. Calibrate anew.",
        '{"schema": 99, …}', '{"schema": 2, …}'),
    "E0512": Code(
        "a value of the profile can't be",
        "Costs are nanoseconds of at least 0, shares and frequencies are between 0 and 1, counts are whole numbers.",
        '{"operators": {"predict": {"costs": {"regression": {"window": -3}}}}}',
        '{"operators": {"predict": {"costs": {"regression": {"window": 3}}}}}'),
    "E0513": Code(
        "the profile is of another program",
        "The name of the program in the profile is not that of this one, or it has steps that this one does not have, "
        "so its costs mean nothing here.",
        "dfc explain a.dfl --profile b.profile.json", "dfc explain a.dfl --profile a.profile.json"),
    "E0514": Code(
        "there is nothing to calibrate with",
        "The sources gave no tuple. `dfc calibrate` runs the program on its own input; words behind `--` go to the "
        "program, and can give it another one.",
        "dfc calibrate app.dfl",
        "dfc calibrate app.dfl -- --source quotes=csv:quotes.csv"),
    "W0515": Code(
        "too little input to calibrate with",
        "A program that has just started runs slower: memory is used and code is run for the first time. In a run that "
        "is not many times as long as the program takes to start, and of windows that gave a few results only, costs "
        "can't be measured. They are left out, and the defaults are taken for them; how many tuples, results and keys "
        "there are is in the profile all the same. Give more input.",
        "dfc calibrate app.dfl -- --source quotes=csv:first_rows.csv",
        "dfc calibrate app.dfl -- --source quotes=csv:quotes.csv"),
    "E0520": Code(
        "the plan can't be read",
        "A plan is the JSON file that `dfc optimize` writes. The message says what is wrong with this one.",
        "dfc compile app.dfl --plan notes.txt", "dfc compile app.dfl --plan app.plan.json"),
    "E0521": Code(
        "the plan has another schema version",
        "It was written by another version of dfc. Search again.",
        '{"schema": 99, …}', '{"schema": 1, …}'),
    "E0522": Code(
        "a value of the plan can't be",
        "Degrees are from 1 to 256, patterns and policies and their settings those of the language.",
        '{"operators": {"predict": {"pattern": {"name": "key_partitioning", "workers": 0}}}}',
        '{"operators": {"predict": {"pattern": {"name": "key_partitioning", "workers": 4}}}}'),
    "E0523": Code(
        "the plan is of another program",
        "It is of a program with another name, or with other operators or alternates, so it means nothing here.",
        "dfc compile a.dfl --plan b.plan.json", "dfc compile a.dfl --plan a.plan.json"),
}

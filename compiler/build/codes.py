"""The diagnostics that only a build can give."""

from __future__ import annotations

from dfc.dsl.codes import Code

BUILD_CODES: dict[str, Code] = {
    "E0901": Code(
        "the C compiler refuses a C function of the program",
        "A function that the program names with `c(…)`, or an expression of the program, does not compile. "
        "The message is the C compiler's own. The generated header APP.h declares every function with the type "
        "it must have: include it, and the compiler compares the two.",
        'alternate fast value 1.0 = c("fit.c", "fti")    // fit.c defines `fit`',
        'alternate fast value 1.0 = c("fit.c", "fit")',
    ),
    "E0902": Code(
        "a C file of the program is not there",
        "The file that `c(…)` names is looked for beside the .dfl file that names it.",
        'alternate fast value 1.0 = c("fti.c", "fit")    // the file is called fit.c',
        'alternate fast value 1.0 = c("fit.c", "fit")',
    ),
    "E0903": Code(
        "a C function would need two types",
        "The generated header declares a function for each alternate in C, with the window and the record of its "
        "operator. Operators with different windows or records can't name the same function; let each have its own, "
        "and let those call what they share.",
        'alternate a value 1.0 = c("fit.c", "fit")    // in two operators',
        'alternate a value 1.0 = c("fit.c", "fit_minutes")',
    ),
    "E0904": Code(
        "the name of a C function is taken",
        "The program is linked with the user's C, the C library and dfc's runtime; a name stands for one function in "
        "all of them. `main` is the program's own, and `abs` is the C library's. Choose another name; what only its "
        "own file calls can be `static`.",
        'fn distance(x: i64) -> i64 = c("own.c", "abs")',
        'fn distance(x: i64) -> i64 = c("own.c", "own_distance")',
    ),
    "E0999": Code(
        "the generated C does not compile",
        "The program passed every check, so this is a mistake in dfc and not in the program. Please report it together "
        "with the program; `dfc compile --emit c` shows the C.",
        "", "",
    ),
}

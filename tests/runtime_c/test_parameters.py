"""The settings that a program's text can give a policy are the parameters that the policy has in C.

Policies are built here without the rest of the runtime: they need none of it.
"""

from __future__ import annotations

import subprocess

import pytest
from dfc.compiler.build.folder import runtime_tree
from dfc.compiler.build.program import Job
from dfc.compiler.build.toolchain import INCLUDES, LINK_FLAGS, find_toolchain, flags
from dfc.dsl.settings import POLICIES, Setting

PRINTER = """
#include "dfrt/control/policy.h"
#include <stdio.h>
int main(void)
{
    for (unsigned n = 0; dfrt_policy_at(n) != NULL; n++)
        for (const dfrt_parameter *p = dfrt_policy_at(n)->parameters; p->name != NULL; p++) {
            printf("%s %s %.17g %.17g", dfrt_policy_at(n)->name, p->name, p->least, p->most);
            for (int word = 0; p->choices != NULL && p->choices[word] != NULL; word++)
                printf(" %s", p->choices[word]);
            printf("\\n");
        }
    return 0;
}
"""


@pytest.fixture(scope="module")
def parameters(tmp_path_factory) -> list[list[str]]:
    folder = tmp_path_factory.mktemp("parameters")
    tree = runtime_tree()
    for name, data in {**tree, "printer.c": PRINTER.encode()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    policies = [name for name in tree if name.startswith("dfrt/control/") and name.endswith(".c")]
    job = Job(find_toolchain(), flags("portable"), folder)
    job.call(*INCLUDES, "printer.c", *policies, "-o", "printer", *LINK_FLAGS)
    said = subprocess.run([folder / "printer"], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in said.splitlines()]


def setting_of(policy: str, parameter: str) -> Setting | None:
    """A range of the text is two parameters in C."""
    settings = POLICIES[policy]
    for end in ("_low", "_high"):
        name = parameter.removesuffix(end)
        if name != parameter and name in settings and settings[name].span:
            return settings[name]
    return settings.get(parameter)


def test_every_parameter_is_a_setting(parameters):
    assert ["mpc", "horizon", "1", "16"] in parameters
    unknown = [f"{policy} {name}" for policy, name, *_ in parameters if setting_of(policy, name) is None]
    assert not unknown


def test_words_are_the_same_in_the_same_order(parameters):
    for policy, name, _, _, *words in parameters:
        setting = setting_of(policy, name)
        if words and setting:
            assert (policy, name, setting.choices) == (policy, name, tuple(words))


def test_no_setting_is_allowed_more_than_the_policy_takes(parameters):
    for policy, name, least, most, *words in parameters:
        setting = setting_of(policy, name)
        if setting and setting.kind == "int" and not words:
            assert setting.least >= float(least), f"{policy} {name}"
            assert setting.most is None or setting.most <= float(most), f"{policy} {name}"

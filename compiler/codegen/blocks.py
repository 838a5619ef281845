"""Which steps after a source take its tuples by the block.

Where no watermark comes between the tuples of a source and all steps run in one thread, a chain of filters and maps
goes over a whole block before what follows sees the first of its tuples: loops stay short, sums stay in registers, and
a window can look up the keys of many tuples before it needs the first of them. Large tuples go one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl import typed
from ...dsl.typed_walk import walk
from ...dsl.types import Bool, Duration, Float, Int, Symbol, Timestamp
from ..graph.walk import expressions_of, has_time
from .c_types import record_bytes
from .step_views import Context

_PLAIN = (typed.Literal, typed.FieldRef, typed.Unary, typed.Binary, typed.Cast)
_NUMBERS = (Int, Float, Bool, Timestamp, Duration)
_WIDEST = 2048  # bytes of a record of which a block of 256 is kept on the stack
_CHEAP = 24  # nodes of expressions that may be evaluated in vain


@dataclass(frozen=True)
class BlockStep:
    c: str
    number: int
    segment: str  # the variable that points to it
    filter: bool
    filter_number: int  # among the filters
    name: str
    output: str
    takes: str
    gives: str
    in_place: bool


@dataclass(frozen=True)
class Block:
    segments: tuple[int, ...]
    steps: tuple[BlockStep, ...]
    record: str  # what comes out of the steps
    copies: bool  # no map makes a new tuple
    branchless: bool
    most: str  # tuples at once; '' for all there are
    last: str  # the statement that hands the block on


def takes_blocks(step: typed.Step) -> bool:
    """Steps with a function for a block of tuples."""
    return isinstance(step.body, typed.Operator) and isinstance(step.body.window, typed.CountWindow) \
        and not step.body.expire_after and record_bytes(step.record) <= _WIDEST


def gets_blocks(context: Context, step: typed.Step) -> bool:
    """Whether a source's blocks come as far as this step."""
    sources = [s for s in context.graph.steps if isinstance(s.body, typed.Source) and not has_time(context.graph, s)]
    return not context.timed and takes_blocks(step) and any(_chain(context, source)[1] is step for source in sources)


def straight(context: Context, step: typed.Step) -> bool:
    """Whether a step's blocks are those of the source, with nothing between them."""
    return isinstance(context.graph.step(step.inputs[0]).body, typed.Source)


def block_of(context: Context, source: typed.Step) -> Block | None:
    """None when tuples go one by one."""
    chain, last = _chain(context, source)
    if not chain and not (last and takes_blocks(last)):
        return None
    steps = _steps(context, chain)
    involved = [*chain, last] if last and takes_blocks(last) else chain
    numbers = {context.plan.segment_of(step.name).number for step in involved}
    record = context.record((chain[-1] if chain else source).record)
    most = "" if not chain and last.body.keys else "DFRT_BLOCK"
    return Block(tuple(sorted(numbers)), steps, record, all(step.filter for step in steps), _branchless(chain), most,
                 _hand_on(context, chain, last))


def _chain(context: Context, source: typed.Step) -> tuple[list[typed.Step], typed.Step | None]:
    """The filters and maps that each read nothing but the one before, and the only step that reads the last."""
    chain: list[typed.Step] = []
    while True:
        after = [c for c in context.takers(context.graph.consumers((chain or [source])[-1].name))
                 if not isinstance(c.body, typed.Late)]
        if len(after) != 1 or len(after[0].inputs) != 1:
            return chain, None
        if not isinstance(after[0].body, typed.Filter | typed.Map):
            return chain, after[0]
        if record_bytes(after[0].record) > _WIDEST:
            return chain, None
        chain.append(after[0])


def _steps(context: Context, chain: list[typed.Step]) -> tuple[BlockStep, ...]:
    maps = [step for step in chain if isinstance(step.body, typed.Map)]
    found, takes, filters = [], "&tuples[i]", 0
    for place, step in enumerate(chain):
        is_filter = isinstance(step.body, typed.Filter)
        in_place = bool(maps) and step is maps[-1]
        gives = "&block[kept]" if in_place else f"&made_{place}"
        found.append(BlockStep(context.names.step(step.name), context.number(step.name), _segment(context, step),
                               is_filter, filters, f"made_{place}", context.record(step.record), takes, gives,
                               in_place))
        filters += is_filter
        takes = takes if is_filter else gives
    return tuple(found)


def _segment(context: Context, step: typed.Step) -> str:
    return f"s_{context.plan.segment_of(step.name).number}"


def _branchless(chain: list[typed.Step]) -> bool:
    """Whether what follows the first filter may be computed for tuples that do not pass: no faults, little work."""
    kinds = [isinstance(step.body, typed.Filter) for step in chain]
    if True not in kinds:
        return False
    nodes = [node for step in chain[kinds.index(True) + 1:] for e in expressions_of(step.body) for node in walk(e)]
    return len(nodes) <= _CHEAP and all(_harmless(node) for node in nodes)


def _harmless(node: typed.Expr) -> bool:
    divides = isinstance(node, typed.Binary) and node.op in ("/", "%") and not isinstance(node.type, Float)
    copied = isinstance(node, typed.FieldRef) and isinstance(node.type, Symbol)
    return isinstance(node, _PLAIN) and (copied or isinstance(node.type, _NUMBERS)) and not divides


def _hand_on(context: Context, chain: list[typed.Step], last: typed.Step | None) -> str:
    tuples, count = ("block", "kept") if chain else ("tuples", "count")
    if last and takes_blocks(last):
        return f"{context.store(last.name)}_push_block({_segment(context, last)}, {tuples}, {count});"
    emit = f"{context.names.step(chain[-1].name)}_emit({_segment(context, chain[-1])}, &block[i], 0);"
    return f"for (size_t i = 0; i < kept; i++) {{ {emit} }}"

"""A failing program without the instructions that the failure does not need."""
from model import Program, Region
from run import differences


def without(items, begin, end):
    return items[:begin] + items[end:]


def candidates(items, size):
    """Lists of items that lack `size` neighbours, or some of a region's, or the jump around a region."""
    for begin in range(0, len(items), size):
        yield without(items, begin, begin + size)
    for i, item in enumerate(items):
        if isinstance(item, Region):
            if size == 1:
                yield items[:i] + item.items + items[i + 1:]
            for inner in candidates(item.items, size):
                yield items[:i] + [Region(item.guard, inner, item.label)] + items[i + 1:]


def failing(runner, target, programs):
    for program, found in zip(programs, differences(runner, target, programs)):
        if found:
            return program
    return None


def shrink(runner, target, program: Program):
    """Chunks of halving size, all candidates of one size in one module, until nothing can go."""
    size = max(len(program.items) // 2, 1)
    while True:
        tried = [program.with_items(items) for items in candidates(program.items, size)]
        smaller = None
        for begin in range(0, len(tried), 40):
            smaller = failing(runner, target, tried[begin:begin + 40])
            if smaller:
                break
        if smaller:
            program = smaller
            size = min(size, max(len(program.items), 1))
        elif size == 1:
            return program
        else:
            size //= 2

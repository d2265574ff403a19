"""All instruction forms that have a reference, for generate.py and for the differential fuzzer."""
import types

import generate_float
import generate_forms
import generate_half
import generate_integer
import generate_packed
import vectors

SEED = 20


def describe_all(receive):
    """Calls `receive` with every Form. The order decides the random operands."""
    vectors.receive = receive
    vectors.RNG.seed(SEED)
    generate_integer.integers()
    generate_integer.bit_operations()
    generate_float.floats()
    generate_float.nans()
    generate_float.approximations()
    generate_float.comparisons()
    generate_float.conversions()
    generate_integer.integer_specials()
    generate_packed.warp_operations()
    generate_packed.packed_and_marked()
    vectors.RNG.seed(SEED)
    generate_half.halves()
    generate_forms.forms()
    generate_half.outside_tensors()


def bound(fn):
    """A copy of a reference that keeps today's values of the loop variables it closes over."""
    if not isinstance(fn, types.FunctionType) or fn.__closure__ is None:
        return fn
    cells = tuple(types.CellType(bound(c.cell_contents)) for c in fn.__closure__)
    return types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)


def all_forms():
    forms = []
    describe_all(lambda f: forms.append(f._replace(fn=bound(f.fn), warp=bound(f.warp))))
    return forms

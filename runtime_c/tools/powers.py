"""Prints src/number_powers.c: the upper 128 bits of every power of ten that number.c and number_format.c need.

Run: python3 runtime_c/tools/powers.py > runtime_c/src/number_powers.c
"""

LOW, HIGH = -342, 324  # parsing needs -342..308, printing -292..324


def upper_bits(exponent: int) -> int:
    """10**exponent times the power of two that puts it into [2**127, 2**128), rounded down."""
    if exponent >= 0:
        power = 10**exponent
        shift = power.bit_length() - 128
        return power >> shift if shift >= 0 else power << -shift
    power = 10**-exponent
    bits = power.bit_length() + 127
    quotient = (1 << bits) // power
    return quotient if quotient < 1 << 128 else quotient >> 1


def main() -> None:
    print("/* Made by runtime_c/tools/powers.py: do not edit. The upper 128 bits of 10**k, rounded down. */")
    print('#include "number_wide.h"\n')
    print("const uint64_t dfrt__powers[DFRT__POWER_HIGH - DFRT__POWER_LOW + 1][2] = {")
    entries = []
    for exponent in range(LOW, HIGH + 1):
        bits = upper_bits(exponent)
        assert 1 << 127 <= bits < 1 << 128
        entries.append(f"{{0x{bits >> 64:016x}u, 0x{bits & (1 << 64) - 1:016x}u}},")
    for at in range(0, len(entries), 2):
        print("    " + " ".join(entries[at : at + 2]))
    print("};")


main()

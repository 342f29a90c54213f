"""A seeded source of choices, with the numbers, names and sizes that programs get wrong."""
import random

INTS = [0, 1, -1, 2, -2, 3, -3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 255, 256, 1000, -5, -128, -129]
HUGE = [65535, 65536, 1 << 20, (1 << 31) - 1, 1 << 31, -(1 << 31), -(1 << 31) - 1, 1 << 32, (1 << 32) + 1, 1 << 40, 1 << 62,
        (1 << 63) - 1, -(1 << 63), -(1 << 63) + 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 1e-30, 1e30, 3.4e38, float("inf"), float("-inf"), float("nan"), 0.1, -7.25]
SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33]
NAMES = ["", "x", "y", "X", "output", "a\nb", "\x1b[2Jclear", "tab\tname", "quote\"'", "\\", "<b>&", "☃", "../../etc/passwd",
         "very" * 100, "with space", "%s%n", "{0}", "-q", "--json", "BAD8BAD8", "null", "0"]


class Chance(random.Random):
    recorded = {}  # arrays that are known to fit the seed's inputs, by name

    def one_in(self, n):
        return self.randrange(n) == 0

    def integer(self):
        return self.choice(HUGE) if self.one_in(6) else self.choice(INTS)

    def size(self):
        return self.choice(SIZES)

    def declared_size(self):
        return self.integer() if self.one_in(4) else self.size()

    def real(self):
        return self.choice(FLOATS)

    def name(self):
        return self.choice(NAMES)

    def few(self, most=4):
        """1 most often, seldom more."""
        n = 1
        while n < most and self.one_in(2):
            n += 1
        return n


def damage_bytes(data, rng):
    """Bytes flipped, cut, doubled or moved: for readers; structure-aware mutators go deeper."""
    data = bytearray(data)
    for _ in range(rng.few(6)):
        if not data:
            return bytes(data)
        at = rng.randrange(len(data))
        kind = rng.randrange(7)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif kind == 2:
            del data[at:at + rng.choice([1, 2, 4, 8, 64])]
        elif kind == 3:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 2, 8])))
        elif kind == 4:
            data[at:at] = data[at:at + rng.choice([4, 16, 64])]
        elif kind == 5 and rng.one_in(4):
            del data[at:]
        else:
            data[at:at + 4] = rng.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000]).to_bytes(4, "little")
    return bytes(data)


INVALID_UTF8 = [b"\xff\xfe\x80\x81\xff\xc0\xc1\xf5", b"\xed\xa0\x80\xed\xbf\xbf\xc3\x28", b"\xc3\xc3\xc3\xc3\xe2\x82\xf0\x9f"]


def spoil_marked_names(data, rng):
    """Names with the mark BAD8BAD8 (protobuf's Python takes valid text only) become invalid UTF-8 of the same length."""
    return data.replace(b"BAD8BAD8", rng.choice(INVALID_UTF8)) if b"BAD8BAD8" in data else data

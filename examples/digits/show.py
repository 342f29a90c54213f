"""Prints sample images, what a network says they are, and how far two sets of outputs lie apart.

  python3 examples/digits/show.py samples.npz labels.npy expected.npz [outputs.npz]

Needs only Python's standard library.
"""
import ast
import math
import struct
import sys
import zipfile

HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def parse_npy(data):
    """(shape, flat tuple of numbers) of a little-endian, C-ordered .npy file."""
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not an .npy file")
    length_size = 2 if data[6] == 1 else 4
    start = 8 + length_size
    end = start + int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:end].decode("latin1"))
    if header["fortran_order"]:
        raise ValueError("Fortran order is not read here")
    code = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i"}[header["descr"]]
    count = math.prod(header["shape"])
    return header["shape"], struct.unpack_from(f"<{count}{code}", data, end)


def read_array(path):
    if path.endswith(".npy"):
        with open(path, "rb") as file:
            return parse_npy(file.read())
    with zipfile.ZipFile(path) as archive:
        return parse_npy(archive.read(archive.namelist()[0]))


def rows_of(array):
    (count, *_), flat = array
    size = len(flat) // count
    return [flat[i * size:(i + 1) * size] for i in range(count)]


def picture(pixels):
    """Four lines of eight characters, two pixels above one another in each."""
    ink = [p > 0.45 for p in pixels]
    return ["".join(HALVES[ink[r * 8 + c], ink[(r + 1) * 8 + c]] for c in range(8)) for r in range(0, 8, 2)]


def print_pictures(images, answers, labels):
    for start in range(0, len(images), 8):
        chunk = range(start, min(start + 8, len(images)))
        pictures = [picture(images[i]) for i in chunk]
        for line in zip(*pictures):
            print("  " + "  ".join(line))
        print("  " + "  ".join(f"{answers[i]}{'' if answers[i] == labels[i] else f' (not {labels[i]})'}".center(8)
                               for i in chunk) + "\n")


def main():
    samples, labels, expected = sys.argv[1:4]
    outputs = sys.argv[4] if len(sys.argv) > 4 else expected
    labels = read_array(labels)[1]
    wanted, got = read_array(expected), read_array(outputs)
    answers = [max(range(10), key=row.__getitem__) for row in rows_of(got)]
    print_pictures(rows_of(read_array(samples)), answers, labels)
    right = sum(a == b for a, b in zip(answers, labels))
    print(f"  {right} of {len(labels)} digits right")
    if outputs != expected:
        error = max(abs(a - b) for a, b in zip(got[1], wanted[1]))
        print(f"  largest difference from PyTorch's recorded outputs: {error:.3g} "
              f"(outputs up to {max(map(abs, wanted[1])):.3g})")


if __name__ == "__main__":
    main()

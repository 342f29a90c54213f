#!/usr/bin/env python3
"""One definition of everything in namespace cameo. A class or an inline function that two objects define differently is
undefined behaviour, and no linker tells.

Three checks, which together take a few seconds and need no debug information:
- sources: no type, function or template has two definitions in the tree (tools/layers.py reads them);
- macros: no header asks for a macro that is defined for some of a build's files only, so one text is one definition;
- objects: variables, vtables and type names that several objects of one program hold are equally large in all of them, and
  no strong symbol has two objects, which a static library could hide.

usage: tests/repository/one_definition.py [BUILD]
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import layers  # noqa: E402

OURS = "5cameo"  # in a mangled name


def in_sources(files=None):
    """`files`: pairs of path and text, in place of the tree's own."""
    if files is None:
        folders = [f"src/{layer}" for layer in layers.layers()] + ["include/cameo", "cli", "python/src"]
        files = [(str(f), (ROOT / f).read_text(encoding="utf-8")) for folder in folders for f in layers.sources(folder)]
    for (_, name), places in layers.twice([layers.Reader(*file).whole() for file in files]).items():
        yield f"{name} is defined in " + " and ".join(f"{d.file}:{d.line}" for d in places)


def units(build):
    """The build's translation units: object, target's folder, macros of the command line, source."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        output = re.search(r"-o (\S+\.o)\b", entry["command"])
        if output and (found := re.match(r"(.*/CMakeFiles/|CMakeFiles/)([\w-]+)\.dir/", output.group(1))):
            macros = set(re.findall(r"-D\s*(\w+(?:=\S*)?)", entry["command"]))
            yield pathlib.Path(entry["directory"]) / output.group(1), found.group(2), macros, entry["file"]


def partial_macros(all_units, texts):
    """Macros that some units have and others lack, or that a source file defines for itself."""
    sets = [macros for _, _, macros, _ in all_units]
    partial = set.union(*sets) - set.intersection(*sets) if sets else set()
    names = {macro.split("=")[0] for macro in partial}
    return names.union(*(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE) for text in texts))


def in_headers(headers, partial):
    for path, text in headers:
        for line in re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)", text, re.MULTILINE):
            for macro in sorted(partial & set(re.findall(r"\w+", line))):
                if f"#define {macro}\n" not in text:  # an include guard
                    yield f"{path} depends on {macro}, which not all files of a build define alike"


def symbols(objects):
    """Each symbol of ours with its object, kind and size."""
    for start in range(0, len(objects), 200):
        listed = subprocess.run(["nm", "-A", "-S", "--defined-only", *objects[start:start + 200]], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            file, _, rest = line.rpartition(":")
            words = rest.split()
            if len(words) == 4 and OURS in words[3]:
                yield words[3], file, words[2], int(words[1], 16)


def demangled(names):
    return dict(zip(names, subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout.splitlines()))


def in_objects(target_of):
    """`target_of`: each object's target. All programs link the layers, so those count as part of each of them."""
    places = collections.defaultdict(list)
    for name, file, kind, size in symbols([str(o) for o in target_of]):
        if kind in "VuTDBRGS":  # weak or unique data; strong symbols. Weak code differs with inlining
            places[name].append((kind, size, file))
    found = {}
    for name, all_places in places.items():
        programs = collections.defaultdict(list)
        for kind, size, file in all_places:
            target = target_of[pathlib.Path(file)]
            programs["" if is_layer(target) else target].append((kind, size, file))
        for target, here in programs.items():
            together = here + (programs.get("", []) if target else [])
            strong = [file for kind, _, file in together if kind not in "Vu"]
            sizes = {size: file for kind, size, file in together}
            if len(strong) > 1:
                found[name] = "has a definition in " + " and in ".join(map(short, strong))
            elif len(sizes) > 1:
                found[name] = "has " + ", ".join(f"{size} bytes in {short(file)}" for size, file in sorted(sizes.items()))
    names = demangled(list(found))
    for name, what in sorted(found.items()):
        yield f"{names[name]} {what}"


def is_layer(target):
    return target.removeprefix("cameo_") in layers.layers()


def short(file):
    return re.sub(r"^.*\.dir/", "", file).removesuffix(".o")


def in_build(build):
    """Of a finished build; None where there is none."""
    if not (build / "compile_commands.json").is_file():
        return None
    all_units = [u for u in units(build) if pathlib.Path(u[3]).is_relative_to(ROOT)]
    made = {obj: target for obj, target, _, source in all_units if obj.is_file() and obj.stat().st_mtime >= pathlib.Path(source).stat().st_mtime}
    if not made or len(made) < len(all_units) / 2:
        return None
    sources = [pathlib.Path(u[3]) for u in all_units]
    headers = [(str(f), (ROOT / f).read_text()) for folder in ("src", "include", "cli") for f in layers.sources(folder) if f.suffix == ".h"]
    partial = partial_macros(all_units, [s.read_text() for s in sources if s.is_file()])
    return [*in_headers(headers, partial), *in_objects(made)]


# Pairs of files that break the rule, each in its own way, and what has to be found.
VIOLATIONS = [
    ("struct", "namespace cameo { struct Twice { int a; }; }", "namespace cameo { struct Twice { long a; }; }", "cameo::Twice"),
    ("inline function", "namespace cameo { inline int twice(int a) { return a; } }", "namespace cameo { inline int twice(int b) { return b + 1; } }", "cameo::twice(int)"),
    ("template", "namespace cameo { template <class T> struct Box { T t; }; }", "namespace cameo { template <class U> struct Box { U* t; }; }", "cameo::Box"),
]
OBJECTS = [
    ("vtable", "namespace cameo { struct V { virtual void f() {} }; void a(V& v) { V w; v.f(); w.f(); } V* a2() { return new V; } }",
     "namespace cameo { struct V { virtual void f() {} virtual void g() {} }; V* b() { return new V; } }", "vtable for cameo::V"),
    ("inline variable", "namespace cameo { inline int table[3] = {1, 2, 3}; int* a() { return table; } }",
     "namespace cameo { inline int table[4] = {1, 2, 3, 4}; int* b() { return table; } }", "cameo::table"),
    ("function", "namespace cameo { int strong() { return 1; } }", "namespace cameo { int strong() { return 2; } }", "cameo::strong()"),
]


def finds_violations(folder):
    """What is wrong with the checks themselves."""
    for what, one, other, wanted in VIOLATIONS:
        found = list(in_sources([("one.h", one), ("other.cpp", other)]))
        if not any(line.startswith(f"{wanted} is defined in one.h:1 and other.cpp:1") for line in found):
            yield f"a {what} with two definitions is not found: {found}"
    if list(in_sources([("one.cpp", "namespace cameo { namespace { struct A {}; } }"), ("two.cpp", "namespace cameo { namespace { struct A {}; } }")])):
        yield "names of one file each are taken for one name"
    if not list(in_headers([("one.h", "#ifdef HARD\nint a;\n#endif\n")], {"HARD"})):
        yield "a header that depends on a macro of some files is not found"
    for i, (what, one, other, wanted) in enumerate(OBJECTS):
        paths = [pathlib.Path(folder) / f"{i}{name}.cpp" for name in "ab"]
        for path, text in zip(paths, (one, other)):
            path.write_text(text + "\n")
            subprocess.run(["c++", "-std=c++20", "-c", path, "-o", path.with_suffix(".o")], check=True)
        found = list(in_objects({path.with_suffix(".o"): "cameo_ir" for path in paths}))
        if not any(line.startswith(wanted) for line in found):
            yield f"a {what} with two definitions is not found: {found}"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()
    findings = [*in_sources(), *(in_build(build) or [])]
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

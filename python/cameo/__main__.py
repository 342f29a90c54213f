"""`python -m cameo VERB ...` is the command that came with the package."""
import pathlib
import shutil
import subprocess
import sys
import sysconfig


def main():
    name = "cameo" + (sysconfig.get_config_var("EXE") or "")
    places = [pathlib.Path(sys.executable).with_name(name), pathlib.Path(sysconfig.get_path("scripts")) / name]
    found = next((str(p) for p in places if p.is_file()), None) or shutil.which(name)
    if not found:
        sys.exit("the command `cameo` is not installed beside this package; `make build` makes it")
    return subprocess.call([found, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""The flags of a verb as its --help lists them, and arguments for each: right ones, and others."""
import functools
import re
from dataclasses import dataclass

NEVER = {"--metric"}  # runs a command of the user's through the shell
SAMPLES = ["inputs.npz", "inputs.npy", "model.onnx", ".", "missing.npz", "picture.png", "", "/dev/null"]
WHOLE = ["0", "1", "2", "7", "21", "-1", "1000000", "99999999999999999999", "x", ""]
REAL = ["0", "1e-6", "0.5", "10", "-1", "nan", "inf", "1e400", "x"]
FORMS = {  # of an argument, as help shows it
    "N": WHOLE, "SEED": WHOLE, "X": REAL, "SECONDS": REAL, "DATA": SAMPLES,
    "WORDS": ["size=8", "size=8,mean=0.5,std=0", "score=0.3,max=2", "boxes=x,scores=y", "format=xyxy,classes=0", "form=topk", "form=padded,max=0", "iou=nan", "picture=rgb,picture-size=any",
              "size=100000x1,fit=pad"],
    "RULE,…": ["gelu", "*", "fold,gelu", ""], "NAME:1,3,224,224": ["{value}:1,2,3", "1,2,3", "{value}:0", "{value}:-1,N"], "NAME=DTYPE[DIMS]": ["{value}=f32[2,3]", "{value}=f32[n]", "{value}="],
}


@dataclass(frozen=True)
class Flag:
    name: str
    form: str        # of its argument; "" where it takes none
    optional: bool   # --flag[=form]

    @property
    def is_file(self):
        return self.form.startswith(("FILE", "OUT"))


@functools.cache
def flags_in_help(text):
    """What a verb takes; what every verb takes comes after the word everywhere."""
    own, _, common = text.partition("everywhere:")
    rows = re.findall(r"^  (?:-\w, | {4})(--[\w-]+)(?:\[=(\S+)\])?(?: (\S+(?: \S+)*?))?(?: {2,}|$)", own, re.M)
    flags = [Flag(name, optional or form, bool(optional)) for name, optional, form in rows]
    return tuple(flags), frozenset(re.findall(r"--[a-z-]+", text)) - frozenset(f.name for f in flags) | frozenset(re.findall(r"--[a-z-]+", common))


def stray(rng, flags, value, outputs):
    """One more flag with an argument; names of files that it may write join `outputs`."""
    flag = rng.choice(flags)
    if flag.name in NEVER:
        return []
    if not flag.form:
        return [flag.name]
    if flag.is_file:
        outputs.append("out.more")
        argument = "out.more"
    elif "|" in flag.form and "=" not in flag.form:
        argument = rng.choice([*re.split(r"[|,]", flag.form), "x"])
    else:
        words = FORMS.get(flag.form) or [re.sub(r"[A-Z]+", "{value}", flag.form), "{value}", "{value}=1", "{value}={value}", rng.name()]
        argument = rng.choice(words).replace("{value}", value)
    return [f"{flag.name}={argument}"] if flag.optional else [flag.name, argument]

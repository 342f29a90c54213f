"""Findings that the Python side makes, and what it does with all of them."""
import os
import sys

from ._cameo import Diagnostic, Error


def finding(severity, code, *texts):
    """Names in the texts may be any str, also one that UTF-8 does not have."""
    return Diagnostic(severity, code, *(t.encode("utf-8", "backslashreplace").decode() for t in texts))


def note(code, what, because="", hint=""):
    return finding("note", code, what, because, hint)


def warning(code, what, because="", hint=""):
    return finding("warning", code, what, because, hint)


def failure(code, what, because="", hint="", more=()):
    """An Error of one finding and those that led to it."""
    return error_of([finding("error", code, what, because, hint), *more])


def error_of(findings):
    """An Error of these, the first of which is its reason."""
    error = Error("\n".join(str(d).rstrip() for d in findings))
    error.diagnostics, error.code = findings, findings[0].code
    return error


def tell(findings, verbose):
    """Warnings go to standard error, notes too when asked for."""
    if os.environ.get("CAMEO_QUIET"):
        return
    for d in findings:
        if d.severity != "note" or verbose:
            print(str(d).rstrip(), file=sys.stderr)

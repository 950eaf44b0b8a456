"""Which names say how much work a program does, and which say how it does it.

A tuner may choose the second kind only: with half the repetitions everything is twice as fast.
"""

import re
from typing import Literal

Role = Literal["work", "quality", "report", "tuning", "unclear"]

_WORDS: tuple[tuple[Role, str, str], ...] = (
    (
        "tuning",
        "how the work is done",
        r"block|blk|tile|tiling|unroll|chunk|buf|buffer|batch|cache|vec|vector|vlen|simd|width|"
        r"thread|threads|stride|pad|padding|align|alignment|worker|workers|job|jobs|prefetch|pf|"
        r"distance|threshold|cutoff|bi|bj|bk|bx|by|bz|mc|nc|kc|mr|nr|kr|ti|tj|tk|ts|bs|nb|grain|"
        r"leaf|fanout|radix|schedule|layout|strategy|algorithm|algo|variant|method|impl|kernel|"
        r"factor|lanes|ways|depth|group|workgroup|wg|panel|strip|segment|slice|bsize|blocksize|"
        r"tilesize|unrolling|nthreads|fuse|collapse|inner|outer|split|queue|pipeline|stages",
    ),
    (
        "work",
        "repeat count",
        r"rep|reps|repeat|repeats|repetition|repetitions|iter|iters|iteration|iterations|niter|"
        r"niters|nit|itmax|maxiter|maxit|ntimes|times|nrep|nreps|loops|loop|runs|nruns|trials|"
        r"trial|warmup|warmups|rounds|samples|steps|step|nstep|nsteps|nt|tmax|tend|generations|"
        r"epochs|epoch|cycles|passes|duration|seconds|tests|ntests|frames",
    ),
    (
        "work",
        "problem size",
        r"n|m|k|nx|ny|nz|ni|nj|nk|nl|nm|size|sizes|array|length|len|dim|dims|ndim|dimension|rows|"
        r"cols|columns|nrow|nrows|ncol|ncols|height|points|npoints|cells|elements|elems|nelem|"
        r"count|num|number|total|particles|bodies|nbody|atoms|grid|mesh|order|degree|problem|"
        r"class|scale|resolution|domain|nodes|vertices|edges|queries|requests|limit|max|maximum|"
        r"xsize|ysize|zsize|lx|ly|lz|l|amount|bytes|mb|kb|gb|mib|kib|gib|kilobytes|megabytes|gigabytes|dataset|mini|small|medium|large|huge",
    ),
    (
        "quality",
        "it changes the result",
        r"seed|eps|epsilon|tol|tolerance|accuracy|precision|level|quality|cfl|dt|dx|alpha|beta|"
        r"fixed|gamma|omega|tau|lambda|sigma|mu|nu|rho|pi|version|major|minor|real|double|float|"
        r"type|rate|error|bits|probability|prob|density|ratio|format|mode",
    ),
    (
        "report",
        "it changes what is printed or checked, not the work",
        r"verbose|debug|quiet|silent|verbosity|print|log|trace|json|csv|output|out|file|help|"
        r"profile|timing|stats|check|verify|validate|test|assert|plot|save|dump|color|colour|"
        r"progress|report|info|port|host|name|path|dir|input",
    ),
    (
        "report",
        "it says what is installed or how the library is linked",
        r"have|has|build|shared|static|dll|export|exports|abi|api|win32|windows|msvc|cplusplus",
    ),
)
_KINDS = tuple((role, why, re.compile(words, re.IGNORECASE)) for role, why, words in _WORDS)


_REPEATED = re.compile(
    r"n?(?:reps?|iters?)|repeats?|(?:repeti|itera)tions?|ntimes|trials|runs", re.IGNORECASE
)
"""Words at the end of a name that count what is repeated, whatever stands before them."""

_SURELY_HOW = re.compile(
    r"block(?:s|ing|size)?|bsize|blk|tile(?:s|size)?|tiling|unroll(?:ing)?|chunk|buf|buffer|batch|"
    r"cache|vec|vector|vlen|simd|n?threads?|pad|padding|align|alignment|workers?|jobs?|prefetch|pf|"
    r"bi|bj|bk|bx|by|bz|ti|tj|tk|grain|leaf|radix|panel|strip|lanes|ways|workgroup|wg",
    re.IGNORECASE,
)
"""Words for how work is done that are not used for how much, as NR (rows) or DEPTH may be."""


def surely_how(name: str) -> bool:
    """Whether a name cannot mean an amount of work.

    >>> surely_how("BLOCK_SIZE"), surely_how("nr"), surely_how("zork")
    (True, False, False)
    """
    return role_of(name)[0] == "tuning" and any(map(_SURELY_HOW.fullmatch, _words(name)))


def _words(name: str) -> list[str]:
    """The words of a name: ``BLOCK_SIZE`` and ``blockSize`` have two."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[\W_]+", split) if word]


def role_of(name: str) -> tuple[Role, str]:
    """What a macro, option or argument decides by its name, and the reason in words.

    A word for how work is done goes before words for how much: ``BLOCK_SIZE`` is the size of a
    block, ``ARRAY_SIZE`` is one of the problem. But ``INNER_ITERS`` ends in a repeat count, and is
    one.

    >>> role_of("BLOCK_SIZE"), role_of("NTIMES"), role_of("zork")
    (('tuning', 'how the work is done'), ('work', 'repeat count'), ('unclear', ''))
    """
    words = _words(name)
    if words and _REPEATED.fullmatch(words[-1]):
        return "work", "repeat count"
    words += [b for word in words if len(b := re.sub(r"\d+$", "", word)) > 1]
    for role, why, pattern in _KINDS:
        if any(map(pattern.fullmatch, words)):
            return role, why
    return "unclear", ""

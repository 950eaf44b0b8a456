"""Values that no file and no option should have, by what stands in their place."""

TOWER = "(" * 12 + "9" + "**9)" * 12
DEEP = "(" * 3000 + "1" + ")" * 3000
LONG = "x" * 5000

FORMULAS = (
    "log(0-1)", "log(0 - n)", TOWER, DEEP, "-" * 4000 + "1", "9" * 400, "1/0", "1 // 0",
    "1 % 0", "0/0", "1e308*1e308", "10**400", "(0-8)**0.5", "sqrt(0-1)", "2**-1075", "n**n**n",
    "exp(1e9)", "__import__('os').system('id')", "lambda: 1", "n if", "1 if 1 < 2 else", "y[j",
    "y[j+10**30]", "u[k][j][i+99999999]", "u[0][0][0]", "f(x)", "min()", "max(1)", "sin()",
    "abs(1,2)", "1 < 2 < 3", "a.b", "n == 'x", "'a' * 99999999", "not not not 1", "n and or n",
    "1_0", "0x10", "1e", "½", "٣", "\uff11\uff12", "0.0_1", "+".join(["1"] * 5000),
    "*".join(["n"] * 500), "[1][9]", "{1: 2}", "n := 3", "", " ", ";", "1\n2", "N*N*N*N*N",
    "0*N", "n - n", "-N", "N**0.5", "N / 3", "nan", "inf", "-0.0",
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2, -0.0, 0.5, 1e308, -1e308, 5e-324, 1e-300, float("nan"), float("inf"),
    float("-inf"), 2**31 - 1, 2**31, 2**63, 2**64, -(2**64), 10**30, 10**400,
    3.9999999999999996, 1e9, 100_000_000, True, False, None,
)  # fmt: skip
QUANTITIES = (
    "0 s", "-1 s", "1e308 s", "1e-320 s", "nan s", "inf GB/s", "2.3 Hz", "1e30 GHz", "1 parsec",
    "5", "5 5 s", "1e20 GB/s", "1 B", "1e30 B", "64 KB/KB", "0 B", "-8 KiB", "0.5 B", "1 s s",
    "1e999 s", "\uff11 s", "0.0_1 s", "1,5 s", "50 %", "-50 %", "1e9 %", "nan %", "%", "s",
    "1 cy", "9" * 400 + " s", "1 GB/s/s", "3 us B",
)  # fmt: skip
NAMES = (
    "int", "main", "printf", "double", "for", "return", "y", "n", "j", "t", "h", "N", "u", "v",
    "I", "sin", "pow", "NULL", "EOF", "errno", "signal", "__asm__", "_Bool",
    "omp_get_thread_num", "2x", "a b", "a;b", "a\nb", "ä", "名前", LONG, "-", "--help", "../..",
    "../../../etc/passwd", "/", ".", "", " ", "\x1b[2J\x1b]0;x\x07", "a\u202eb", "\u0085",
    "null", "~", "true", "1e3", "{output}", "{0}", "{", "}", "{n!r:>99999999}", "$(id)", "`id`",
    "%n%n%s", "%99999999d", "'; drop table runs", "=", "a=b", "a,b", "*", "<b>", "&amp;",
    "__class__", "lambda", "None", "self", "con", "x.yaml",
)  # fmt: skip
PATHS = (
    "pipe", "folder", "loop", "dangling", "full", "zero", "empty", "binary", "bomb.gz", "nul",
    "no-such-file", "../..", ".", "/", "null", "/proc/self/mem", "pipe.yaml", "folder.yaml",
    "loop.yaml", "empty.yaml", "binary.yaml", "bomb.yaml", "zero.yaml", "~no-such-user/x",
    "study.db", "osu.txt", "runs.csv", "program.yaml", "ivp.yaml", "machine.yaml", LONG,
    "a" * 300 + "/x",
)  # fmt: skip
OUTPUTS = (
    "full", "folder", "loop", "dangling", "no-such-folder/x", "pipe", "empty/x", "/proc/x",
    LONG, "a" * 300, ".", "", " ", "\x1b[2J", "x" * 200 + ".html", "out\n", "runs.csv",
    "program.yaml",
)  # fmt: skip
"""Places to write to. None lies outside the folder of the case; ``full`` is a device node in it."""
WORDS = (
    "-1", "0", "1", "-0", "1e308", "-1e308", "nan", "inf", "-inf", str(2**31), str(2**63),
    str(2**64), "9" * 400, "1e-320", "\uff11\uff12", "0.0_1", "1_0", "0x10", "", " ", ",", ",,",
    "1,,2", "1,1,1", "a=b", "=", "a=", "=1", "n=", "a=1,b", "1..", "..1", "2..1", "1..2:0",
    "1..1e18:1000000000", "64..1024:9", "1..4:999999999", "8 B:8 TB", "0 B:0 B", "1 s", "-5 %",
    "0 %", "100 %", "1e30 %", "nan %", "50", "all", "none", "null", "*", "P:", ":1", "0:0",
    "1:-1", "a:b", "1@", "@", "a@b", "postgresql://u:x@127.0.0.1:bad/d", "postgresql://[::",
    "sqlite:///x", "http://x", "://",
)  # fmt: skip

"""Hostile files through rnnc, with what they cost.

usage: hostile.py default|raised RNNC FOLDER

default: each file gets one located error and exit status 1, within 2 s of processor time and 1 GB of
address space. A file that takes longer is tried twice more: other work makes processor time longer too.
raised: with the limits raised an error or a success, whatever the verb; never a crash or a hang.
RNN_SANITIZED=1 in the environment: without the limit of memory, and with more time.
"""
import os
import re
import resource
import signal
import subprocess
import sys
import time

MILLION = 1_000_000
GIB = 1 << 30
SANITIZED = os.environ.get("RNN_SANITIZED") == "1"
TRIES = 3
RAISED = ["--limit", "source=64MiB", "--limit", "nesting=2000000", "--limit", "operations=4000000"]


def cell(value, before="", inside=""):
    return before + "cell C {\n  input x : []\n  state h : [] = 0\n" + inside + "  h[t] = 0.5 * h[t-1] + " + value + "\n}\n"


def doubling(calls):
    lines = ["fn f0(u) = u * u"]
    lines += [f"fn f{i}(u) = f{i - 1}(f{i - 1}(u))" for i in range(1, calls)]
    return "\n".join(lines) + "\n"


def nested(opening, count, middle="x[t]", closing=None):
    closing = ")" * opening.count("(") if closing is None else closing
    return opening * count + middle + closing * count


def default_files():
    yield "parentheses", cell(nested("(", MILLION))
    yield "parentheses-open", cell(nested("(", MILLION // 2, "", ""))
    yield "signs", cell(nested("-", MILLION // 2 + MILLION // 3))
    yield "nots", cell("where(" + nested("not ", MILLION // 5, "x[t] > 0") + ", 1, 2)")
    yield "calls", cell(nested("tanh(", MILLION // 8))
    yield "powers", cell(nested("2^", MILLION // 3))
    yield "terms", cell("x[t]" + "+1" * (MILLION // 2 - 100))
    yield "terms-of-a-million", cell("x[t]" + "+x[t]" * MILLION)
    yield "recursive", cell("f(x[t])", "fn f(u) = g(u)\nfn g(u) = f(u)\n")
    yield "exponential", cell("f59(x[t])", doubling(60))
    yield "exponential-constant", cell("c * x[t]", "const c = " + "2^" * 250 + "2 * f(3)\n" + doubling(60))
    yield "start-of-a-million", cell("x[t]", inside="  state s : [] = 1" + "+1" * (MILLION // 3) + "\n")
    for name, text in (
        ("cell", "cell C {"),
        ("function", "fn f(u) = "),
        ("block", "fn f(u) {"),
        ("shape", "cell C { input x : ["),
        ("call", cell("tanh(")),
        ("index", cell("x[")),
        ("comment", "/* cell C {"),
        ("text", 'import "common.rnn'),
        ("solve", cell("x[t]").replace("}\n", "  solve {")),
        ("braces", "{" * MILLION),
        ("brackets", "[" * MILLION),
        ("closing", "}" * MILLION),
    ):
        yield "unclosed-" + name, text
    yield "nul", cell("x[t] \0 + 1")
    yield "all-nul", "\0" * MILLION
    yield "utf8", cell("x[t]").encode()[:-1] + b"\xff\xfe\xc0\x80"
    yield "surrogates", b"\xed\xa0\x80" * (MILLION // 3)
    yield "name", cell("n" * (MILLION - 200))
    yield "digits", cell("9" * (MILLION - 200))
    yield "line", cell("x[t] //" + "x" * MILLION + "x" * (MILLION // 10))


def check(condition, name, text):
    if not condition:
        sys.exit(f"{name}: {text}")


def limited(memory, seconds):
    if SANITIZED:
        seconds *= 20

    def apply():
        if not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return apply


def run(command, memory, seconds):
    """Exit status, stderr, CPU seconds and the largest resident size in bytes."""
    with open(os.devnull, "wb") as nothing:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=nothing, stderr=subprocess.PIPE, preexec_fn=limited(memory, seconds))
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
    return child.returncode, said.decode(errors="replace"), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def write(folder, name, text):
    path = os.path.join(folder, name + ".rnn")
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def run_default(rnnc, folder):
    files = [(name, write(folder, name, text)) for name, text in default_files()]
    gigabyte = write(folder, "gigabyte", "x")
    os.truncate(gigabyte, GIB)  # a line of a gigabyte that takes no room on the disk
    files.append(("gigabyte", gigabyte))
    for name, path in files:
        for _ in range(TRIES):
            status, said, seconds, memory = run([rnnc, "run", path], GIB, 2)
            if status != -signal.SIGXCPU:
                break
        check(status == 1, name, f"exit status {status}, {said[:500]}")
        errors = re.findall(r"^.*: error: .*$", said, re.MULTILINE)
        check(len(errors) == 1, name, f"{len(errors)} errors: {said[:1000]}")
        check(re.match(re.escape(path) + r":\d+:\d+: error: .* \[RNN\d{4}\]$", errors[0]), name, errors[0][:500])
        check(len(said) < 2000, name, f"{len(said)} bytes of messages")
        print(f"{name}: {seconds:.2f} s, {memory / 1e6:.0f} MB")


def raised_files(count):
    yield "parentheses", cell(nested("(", count))
    yield "parentheses-open", cell(nested("(", count, "", ""))
    yield "signs", cell(nested("-", count))
    yield "calls", cell(nested("tanh(", count // 8))
    yield "powers", cell(nested("x[t]^", count // 8))
    yield "choices", cell(nested("where(x[t]>0,1,", count // 8))
    yield "terms", cell("x[t]" + "+x[t]" * count)
    yield "products", cell("x[t]" + "*h[t-1]" * (count // 8))
    yield "equations", cell("v%d" % (count // 16 - 1), inside="  v0 = x[t]\n" + "".join(f"  v{i} = v{i - 1} + x[t]\n" for i in range(1, count // 16)))
    yield "functions", cell("f59(x[t])", doubling(60))
    yield "inputs", cell("x[t]", inside="  input " + ", ".join(f"y{i}" for i in range(count // 16)) + " : []\n")
    yield "states", "cell C {\n" + "".join(f"  state s{i} : []\n  s{i}[t] = s{i}[t-1] * 0.5 + 1\n" for i in range(count // 64)) + "}\n"
    yield "lines", cell("x[t]") + "\n" * count
    yield "delays", cell("+".join(f"x[t-{i}]" for i in range(1, count // 64)))


def run_raised(rnnc, folder, count, seconds):
    for name, text in raised_files(count):
        path = write(folder, name, text)
        for verb in (["build", "--emit=rnn"], ["build", "--emit=newton"], ["build", "--emit=cuda"], ["explain"], ["run", "--batch", "1", "--time", "4"]):
            status, said, took, memory = run([rnnc, *verb, path, *RAISED], 16 * GIB, seconds)
            print(f"{name}, {' '.join(verb)}: exit {status}, {took:.2f} s, {memory / 1e6:.0f} MB", flush=True)
            check(status in (0, 1), name, f"{verb}: exit status {status}, {said[-500:]}")
            check(status == 0 or re.search(r"\[RNN\d{4}\]$", said, re.MULTILINE) or "rnnc: error:" in said, name, f"{verb}: {said[:500]}")


if __name__ == "__main__":
    what, rnnc, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    if what == "default":
        run_default(rnnc, folder)
    else:
        run_raised(rnnc, folder, int(sys.argv[4]), int(sys.argv[5]))

"""Runs the tests of one or more build folders and counts them: one line at the end.

A test program is whatever ctest knows. GoogleTest programs are counted by their cases (they write
XML where GTEST_OUTPUT says); any other program counts as one test, exit status 77 meaning skipped.
Lit tests are counted by file.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LLVM = Path("/usr/lib/llvm-22/bin")
SOAK = os.environ.get("RNN_SOAK") == "1"
PROGRAM_TIMEOUT = 6 * 3600 if SOAK else 1800
LIT_TIMEOUT = 3600 if SOAK else 1200
LINES_SHOWN = 80
SKIPPED_STATUS = 77
# Functions of one number that read and write nothing else: under a sanitizer all bit patterns tell no
# more than the usual part of them.
SOAKED_ONCE = {"vectormath_test", "device_math_test", "device_math_cpu_test"}


@dataclass
class Results:
    passed: int = 0
    failed: list = field(default_factory=list)  # (test, what to show)
    skipped: list = field(default_factory=list)  # (test, reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def skip(self, test, reason):
        """A skip for want of something that RNN_REQUIRE names is a failure."""
        reason = " ".join(reason.split()) or "no reason given"
        required = [name for name in os.environ.get("RNN_REQUIRE", "").split(",") if name]
        if any(name.lower() in reason.lower() for name in required):
            self.failed.append((test, f"skipped, but RNN_REQUIRE forbids it: {reason}"))
        else:
            self.skipped.append((test, reason))


def build_folder(preset):
    return ROOT / "build" if preset == "default" else ROOT / "build" / preset


def has_compiler(build):
    return "RNN_BUILD_COMPILER:BOOL=ON" in (build / "CMakeCache.txt").read_text()


def environment(preset):
    env = dict(os.environ)
    symbolizer = f"external_symbolizer_path={LLVM / 'llvm-symbolizer'}"
    asan = f"detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:{symbolizer}"
    if preset == "asan-compiler":
        # LLVM's library is not instrumented. Containers that it fills look overflown; and its
        # headers, compiled here, poison the slabs of allocators that the library hands out again.
        asan += ":detect_container_overflow=0:allow_user_poisoning=0"
    env["ASAN_OPTIONS"] = asan
    env["UBSAN_OPTIONS"] = f"print_stacktrace=1:{symbolizer}"
    env["TSAN_OPTIONS"] = (
        f"halt_on_error=1:suppressions={ROOT / 'tools/lib/tsan.supp'}:{symbolizer}")
    return env


def last_lines(text):
    lines = text.splitlines()
    left_out = len(lines) - LINES_SHOWN
    head = [f"... {left_out} lines left out ..."] if left_out > 0 else []
    return "\n".join(head + lines[-LINES_SHOWN:])


def run(command, cwd, env, timeout):
    """Status and output of a command; its whole process group ends at the timeout."""
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nended after {timeout} s\n".encode()
        status = 124
    return status, output.decode(errors="replace")


def gtest_results(label, report, status, output):
    results = Results()
    for case in xml.parse(report).getroot().iter("testcase"):
        name = f"{label} {case.get('classname')}.{case.get('name')}"
        failures = case.findall("failure")
        skipped = case.find("skipped")
        if failures:
            results.failed.append((name, "\n".join(f.get("message", "") for f in failures)))
        elif case.get("status") == "notrun":
            results.skip(name, "disabled in the source")
        elif skipped is not None:
            # "file:line\ntext"
            results.skip(name, skipped.get("message", "").split("\n", 1)[-1])
        else:
            results.passed += 1
    if status and not results.failed:
        results.failed.append((label, f"exit status {status}\n{last_lines(output)}"))
    return results


def run_program(preset, build, test, env):
    label = f"{preset}/{test['name']}"
    if "command" not in test:
        return Results(failed=[(label, "the program was not built")])
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    report = build / "test-results" / f"{re.sub('[^A-Za-z0-9_.-]', '_', test['name'])}.xml"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    env = dict(env, GTEST_OUTPUT=f"xml:{report}")
    env.update(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
    if preset != "default" and test["name"] in SOAKED_ONCE:
        env.pop("RNN_SOAK", None)

    start = time.monotonic()
    status, output = run(test["command"], properties.get("WORKING_DIRECTORY", build), env,
                         min(PROGRAM_TIMEOUT, properties.get("TIMEOUT", PROGRAM_TIMEOUT)))
    if report.exists():
        results = gtest_results(label, report, status, output)
    elif status == properties.get("SKIP_RETURN_CODE", SKIPPED_STATUS):
        results = Results()
        results.skip(label, (output.strip().splitlines() or [""])[-1])
    elif status:
        results = Results(failed=[(label, f"exit status {status}\n{last_lines(output)}")])
    else:
        results = Results(passed=1)
    print(f"{'FAIL' if results.failed else 'ok  '} {label}: {results.passed} passed, "
          f"{len(results.failed)} failed, {len(results.skipped)} skipped "
          f"({time.monotonic() - start:.1f} s)", flush=True)
    return results


def programs_of(build):
    listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True,
                             capture_output=True, text=True)
    return json.loads(listing.stdout)["tests"]


def run_programs(preset, build, env, name_filter, done):
    """`done`: names that another preset runs better."""
    tests = [t for t in programs_of(build)
             if t["name"] not in done and (not name_filter or re.search(name_filter, t["name"]))]
    results = Results()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(lambda test: run_program(preset, build, test, env), tests):
            results.add(part)
    return results


def run_lit(preset, build, env, name_filter):
    report = build / "test-results" / "lit.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    command = [sys.executable, str(LLVM / "lit"), "--diagnostic-level", "warning",
               "--print-result-after", "failed", "--test-output", "failed",
               "--timeout", str(LIT_TIMEOUT), "--output", str(report)]
    if name_filter:
        command += ["--filter", name_filter, "--allow-empty-runs"]
    status = subprocess.run(command + [str(build / "test")], env=env).returncode
    results = Results()
    tests = json.loads(report.read_text())["tests"] if report.exists() else []
    for test in tests:
        name = f"{preset}/lit {test['name'].split(' :: ', 1)[-1]}"
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            results.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED"):
            results.skip(name, test.get("output", ""))
        elif test["code"] != "EXCLUDED":
            results.failed.append((name, f"{test['code']} (its output is above)"))
    if status and not results.failed:
        results.failed.append((f"{preset}/lit", f"lit ended with exit status {status}"))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter")
    parser.add_argument("presets", nargs="+")
    arguments = parser.parse_args()

    total = Results()
    for preset in arguments.presets:
        build, env = build_folder(preset), environment(preset)
        # The runtime's own programs run under the whole of ASan: not again with the options that an
        # instrumented compiler needs, under which poisoned memory goes unseen.
        done = set()
        if preset == "asan-compiler" and "asan" in arguments.presets:
            done = {test["name"] for test in programs_of(build_folder("asan"))}
        total.add(run_programs(preset, build, env, arguments.filter, done))
        if has_compiler(build):
            total.add(run_lit(preset, build, env, arguments.filter))

    for test, reason in total.skipped:
        print(f"SKIP {test}: {reason}")
    for test, shown in total.failed:
        print(f"FAIL {test}: {shown}")
    if not total.passed and not total.failed:
        total.failed.append("no test ran")
        print("FAIL: no test ran")
    print(f"{total.passed} passed, {len(total.failed)} failed, {len(total.skipped)} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())

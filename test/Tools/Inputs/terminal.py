"""Runs a command with stderr on a terminal of its own, checks what was painted, and prints stdout.

usage: terminal.py WHAT COMMAND...

WHAT: the word that the progress bar begins with. What the bar says must lie between 0 and 100 %,
never fall, and be gone at the end. Work of which nobody knows how far it is may show before it.
"""
import os
import pty
import re
import subprocess
import sys

what, command = sys.argv[1], sys.argv[2:]
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stderr=theirs)
os.close(theirs)
painted = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # how Linux says that nobody has the other end open any more
        break
    if not part:
        break
    painted += part
status = process.wait()
text = painted.decode()
CLEAR = "\r\x1b[K"
frames = [frame for frame in text.split(CLEAR) if frame]
assert status == 0, (status, text)
assert frames and text.endswith(CLEAR), repr(text)
percents = []
for frame in frames:
    if re.fullmatch(r"compiling kernels \d+\.\d s", frame):
        continue
    match = re.fullmatch(re.escape(what) + r" \[(#*)(\.*)\] (\d+) % \d+\.\d s", frame)
    assert match, repr(frame)
    done, left, percent = len(match[1]), len(match[2]), int(match[3])
    assert done + left == 30 and abs(done - 0.3 * percent) < 1.2, repr(frame)
    percents.append(percent)
# Two seconds went by before the first frame.
assert percents and percents == sorted(percents) and 0 < percents[-1] <= 100, percents
print(f"{what}: {len(percents)} frames, {percents[0]} to {percents[-1]} %", file=sys.stderr)

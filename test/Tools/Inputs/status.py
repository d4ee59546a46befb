"""Runs a command; fails unless it exits with the status given. Its output passes through.

usage: status.py STATUS COMMAND...
"""
import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
found = subprocess.run(command).returncode
if found != expected:
    print(f"status {found}, expected {expected}: {' '.join(command)}", file=sys.stderr)
sys.exit(found != expected)

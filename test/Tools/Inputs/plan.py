"""Plans of one stack, for falling budgets: what each promises, and that a smaller budget never takes
more memory or less time."""

import json
import sys

plans = [json.load(open(path)) for path in sys.argv[1:]]
free = plans[0]
assert [group["level"] for group in free["keeps"]] == ["L1"], free["keeps"]
# 6 layers of 2 x 5000 x 64 states of 4 bytes.
assert free["reserve_bytes"] == 6 * 2 * 5000 * 64 * 4, free["reserve_bytes"]
assert free["caller_bytes"] == 6 * 8 * 2 * 5000 * 64 * 4, free["caller_bytes"]
last_bytes, last_seconds = free["peak_bytes"] + 1, 0
for plan in plans:
    assert sum(group["layers"] for group in plan["keeps"]) == plan["layers"] == 6
    reserve = sum(group["layers"] * group["reserve_bytes"] for group in plan["keeps"])
    workspace = max(group["workspace_bytes"] for group in plan["keeps"])
    assert plan["reserve_bytes"] == reserve and plan["workspace_bytes"] == workspace
    assert plan["peak_bytes"] == reserve + workspace
    assert plan["peak_bytes"] <= plan.get("memory_budget", plan["peak_bytes"])
    seconds = sum(group["layers"] * group["estimated_seconds"] for group in plan["keeps"])
    assert plan["peak_bytes"] < last_bytes and seconds >= last_seconds
    last_bytes, last_seconds = plan["peak_bytes"], seconds

"""Judges histories of clients of a lock, without anything of Doorway's own: check_history.py FILE...

Each line of a file is one event as JSON: at (microseconds on one clock), client, section, event, and
  entered fence | wrote fence began taken | left fence until | lost fence until | asked | refused | killed
Right means: nobody is inside a section before everybody who was inside has left, died or passed its deadline; the fence
of every entry is larger than that of the one before; the resource never takes a write with a fence that is
smaller than one it took before that write began. Exits 0 if all is right, else 1 with a line for each fault.
"""

import json
import sys


def read(paths):
    events = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            events += [json.loads(line) for line in file if line.endswith("\n")]
    return sorted(events, key=lambda event: event["at"])


def faults_of(section, history):
    events = [event for event in history if event["section"] == section or event["event"] == "killed"]
    inside = set()  # those whose end has not been seen yet
    fence = -1  # of the latest entry
    for event in events:
        client, kind, at = event["client"], event["event"], event["at"]
        if kind == "entered":
            # Whoever lost may find out late: it counts until its deadline, which its last line tells.
            for other in inside:
                end = end_of(other, at, events)
                if end > at:
                    yield f"{client} enters {section} at {at} while {other} is inside until {end}"
            if event["fence"] <= fence:
                yield f"{client} enters {section} with fence {event['fence']} after {fence}"
            fence = event["fence"]
            inside = {client}
        elif kind in ("left", "lost", "killed"):
            inside.discard(client)
    writes = [event for event in events if event["event"] == "wrote" and event["taken"]]
    for late in writes:
        newer = [w for w in writes if w["at"] < late["began"] and w["fence"] > late["fence"]]
        if newer:
            yield f"the resource of {section} took fence {late['fence']} after {newer[0]['fence']}"


def end_of(client, entered, events):
    for event in events:
        if event["client"] == client and event["at"] >= entered and event["event"] in ("left", "lost", "killed"):
            return min(event["at"], event.get("until", event["at"]))
    return float("inf")


if __name__ == "__main__":
    history = read(sys.argv[1:])
    sections = sorted({event["section"] for event in history})
    found = [fault for section in sections for fault in faults_of(section, history)]
    print("\n".join(found) or f"{len(history)} events of {len(sections)} sections, nothing wrong")
    sys.exit(1 if found else 0)

"""Writes a profile in which all calls have one of the measured tiles, by its place: choose_tiles.py FROM TO PLACE
[CALL]; only in calls whose text begins with CALL. Says how many candidates there are at most."""

import json
import sys

source, destination, place, *of = sys.argv[1:]
with open(source) as file:
    profile = json.load(file)
for call in profile["tiles"]:
    if of and not call["call"].startswith(of[0]):
        continue
    call["chosen"] = min(int(place), len(call["candidates"]) - 1)
with open(destination, "w") as file:
    json.dump(profile, file)
print(max(len(call["candidates"]) for call in profile["tiles"]))

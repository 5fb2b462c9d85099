"""A GTP engine for tests: plays a fixed list of legal moves, then passes, and misbehaves on request.

    python fake_engine.py [stones=N] [at=N] [does=WHAT] [once=FILE]

Black fills every second row from the top, White from the bottom, `stones` each; then both pass. At its genmove number
`at` (from 1) it does WHAT: hang, crash, flood (a line without end), chatter (lines without end), noise (standard error
without end), junk (no GTP), stale (another command's number), refuse (`?`), illegal (an occupied point), nonsense (no
move), resign, or child (starts a process that outlives it, then crashes). With `once` only the first process does: it
makes FILE. Standard library alone: it is started often.
"""

import os
import subprocess
import sys
import time

given = dict(word.split("=", 1) for word in sys.argv[1:])
stones, at, does = int(given.get("stones", 5)), int(given.get("at", 0)), given.get("does", "")
if "once" in given:
    if os.path.exists(given["once"]):
        at = 0
    else:
        open(given["once"], "w").close()
LETTERS = "ABCDEFGHJKLMNOPQRST"
LISTS = {
    "black": [f"{c}{r}" for r in (19, 17, 15, 13, 11) for c in LETTERS],
    "white": [f"{c}{r}" for r in (1, 3, 5, 7, 9) for c in LETTERS],
}
asked, taken = 0, set()


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def misbehave(number):
    if does == "hang":
        time.sleep(1000)
    elif does == "crash":
        sys.stderr.write("fake: out of ideas\n")
        sys.exit(3)
    elif does == "flood":
        while True:
            write("=" * 65536)
    elif does == "chatter":
        while True:
            write("= x\n" if not number else f"={number} x\n" + "line\n" * 20000)
    elif does == "noise":
        while True:
            os.write(2, b"noise " * 10000)
    elif does == "junk":
        write("I think Q16 is big\n\n")
    elif does == "stale":
        write("=99999 D4\n\n")
    elif does == "child":
        subprocess.Popen(["sleep", "1000"])
        sys.exit(3)
    return {"refuse": "?", "illegal": "occupied", "nonsense": "Z77", "resign": "resign"}.get(does)


for line in sys.stdin:
    number, _, command = line.strip().partition(" ")
    words = command.lower().split()
    answer, good = "", True
    if words[0] == "name":
        answer = "Fake"
    elif words[0] == "version":
        answer = "1"
    elif words[0] == "clear_board":
        taken = set()
    elif words[0] == "play":
        taken.add(words[2].upper())
    elif words[0] == "genmove":
        asked += 1
        wish = misbehave(number) if asked == at else None
        if wish == "?":
            good, answer = False, "no move for you"
        elif wish == "occupied":
            answer = min(taken)
        elif wish:
            answer = wish
        else:
            free = [point for point in LISTS[words[1]][:stones] if point not in taken]
            answer = free[0] if free else "pass"
            taken.add(answer)
    elif words[0] == "final_score":
        answer = "B+12.5"
    elif words[0] == "echo":
        answer = command[5:]
    elif words[0] not in ("boardsize", "komi", "undo", "final_status_list", "quit", "known_command"):
        good, answer = False, "unknown command"
    write(f"{'=' if good else '?'}{number} {answer}\n\n")
    if words[0] == "quit" and does != "stays":
        break
if does == "stays":
    time.sleep(1000)

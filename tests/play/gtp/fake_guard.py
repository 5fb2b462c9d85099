"""A GTP engine for tests of a guard: keeps the moves it was told, passes when asked to, tells what is on its board.

    python fake_guard.py [passes=N] [resigns=N] [mumbles=N] [crashes=FILE] [hangs=FILE]

With N moves on its board it passes, resigns or says what is no move; with `crashes` its first process dies at its
second genmove and makes FILE; with `hangs` it makes FILE and answers no more when first asked for the score. Standard
library alone.
"""

import os
import sys
import time

given = dict(word.split("=", 1) for word in sys.argv[1:])
moves, asked = [], 0
for line in sys.stdin:
    number, name, *words = line.split()
    answer, good = "", True
    if name == "name":
        answer = "Guard"
    elif name == "clear_board":
        moves = []
    elif name == "play":
        good, answer = (False, "illegal move") if words[1] == "T19" else (True, "")
        if good:
            moves.append(f"{words[0][0]} {words[1]}")
    elif name == "undo":
        moves.pop()
    elif name in ("genmove", "kgs-genmove_cleanup"):
        asked += 1
        if asked == 2 and "crashes" in given and not os.path.exists(given["crashes"]):
            open(given["crashes"], "w").close()
            sys.exit(1)
        taken = {move.split()[1] for move in moves}
        row = "1" if name == "genmove" else "19"
        answer = next(c + row for c in "ABCDEFGH" if c + row not in taken)
        wishes = {int(given.get(word, -1)): word for word in ("passes", "resigns", "mumbles")}
        answer = {"passes": "pass", "resigns": "resign", "mumbles": "somewhere"}.get(wishes.get(len(moves)), answer)
        if answer not in ("resign", "somewhere"):
            moves.append(f"{words[0][0]} {answer}")
    elif name == "final_status_list":
        answer = "Q16 D4\nK10" if words[0] == "dead" else ""
    elif name == "final_score":
        if "hangs" in given and not os.path.exists(given["hangs"]):
            open(given["hangs"], "w").close()
            time.sleep(1000)
        answer = f"B+{len(moves)}"
    elif name == "moves":
        answer = "\n".join(moves)
    elif name not in ("boardsize", "komi", "quit"):
        good, answer = False, "unknown command"
    print(f"{'=' if good else '?'}{number} {answer}\n", flush=True)
    if name == "quit":
        break

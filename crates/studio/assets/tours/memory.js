// The tours over shared memory: their runs are written here, as whose turn it is.

/** A script over shared memory in which each process makes so many steps: `[[2, 4], [3, 8], "loop"]`. */
function memory(heading, turns, at) {
  const lines = turns.flatMap((
    turn,
  ) => (turn === "loop" ? ["loop"] : Array.from({ length: turn[1] }, () => `step ${turn[0]}`)));
  return `#/memory?${new URLSearchParams({ script: `${heading}\n\n${lines.join("\n")}\n`, at })}`;
}

const BAKERY = "algorithm bakery/maximum-by-position\nnodes 3\ntickets 4";
const TURNS = [[2, 4], [3, 8], [2, 6], [1, 3], [2, 1], [1, 7], [3, 2]];
/** The bakery with a wrong maximum. */
export const MAXIMUM = {
  name: "bakery-maximum",
  title: "The bakery with a wrong maximum",
  about:
    "To take a ticket one needs the largest number. Remembering where it stood and reading it again there is not the same as remembering it.",
  steps: [
    {
      to: memory(BAKERY, TURNS, 0),
      says: [
        "In the bakery a process takes a number larger than all that it sees. This one remembers where the largest number was (k), and reads it again there when it takes its own.",
      ],
      look: "Lines 3 and 4 of the program.",
    },
    {
      to: memory(BAKERY, TURNS, 12),
      says: [
        "Processes 2 and 3 choose together. 3 takes the number 1, is past its doorway, and has already seen that 1 neither chooses nor has a number.",
      ],
      look: "number[3] = 1, and process 3 waits at process 2.",
    },
    {
      to: memory(BAKERY, TURNS, 18),
      says: ["2 takes the number 1 as well. Equal numbers are ordered by the process: 2 goes before 3, and enters."],
      look: "number[2] = number[3] = 1; process 2 is inside.",
    },
    {
      to: memory(BAKERY, TURNS, 21),
      says: ["Now 1 chooses. It finds the largest number, 1, first at 2, and remembers the position: k = 2."],
      look: "Process 1 at line 4.",
    },
    {
      to: memory(BAKERY, TURNS, 24),
      says: [
        "2 leaves and sets its number to 0. 1 reads there again, finds 0, and takes 0 + 1 = 1 – no more than what 3 has had all along.",
      ],
      look: "number[1] = number[3] = 1.",
    },
    {
      to: memory(BAKERY, TURNS, 31),
      says: [
        "1 goes before 3 and enters. 3 looked at 1 long ago and now waits for nobody: it enters, too. Processes 1 and 3 are inside together.",
        "With the number remembered instead of its position, 1 would have taken 2.",
      ],
      look: "Two processes inside. Two processes alone would be safe: it takes three.",
    },
  ],
};

const FAST = "algorithm lamport-fast\nnodes 3";
const LASSO = [[1, 2], "loop", [1, 1], [2, 3], [3, 3], [1, 4], [3, 4], [2, 7], [1, 3], [2, 2], [1, 3]];
/** The lasso of Lamport's fast algorithm. */
export const STARVATION = {
  name: "starvation-lasso",
  title: "Starvation in Lamport's fast algorithm",
  about: "Seven accesses when alone. But a process can be overtaken for ever, however fair the scheduler is.",
  steps: [
    {
      to: memory(FAST, LASSO, 2),
      says: [
        "Lamport's fast algorithm needs only seven accesses when nobody else wants in. Process 1 has raised its flag and written its name into x.",
        "From here on the run will repeat itself: a stem and a loop, which is called a lasso.",
      ],
      look: "Process 1 is at line 4; x = 1.",
    },
    {
      to: memory(FAST, LASSO, 9),
      says: ["1 sees that y is free. Then 2 and 3 come, each writes its name into x and sees that y is free, too."],
      look: "x = 3: the last to write there will take the fast path.",
    },
    {
      to: memory(FAST, LASSO, 17),
      says: [
        "1 finds another name in x and must take the slow path: it lowers its flag and looks at those of the others. Meanwhile 3 takes the fast path, enters and leaves.",
      ],
      look: "Process 1 at line 11, process 3 back in its remainder.",
    },
    {
      to: memory(FAST, LASSO, 24),
      says: ["2 is on the slow path as well, but it wrote its name into y last, and so it enters."],
      look: "y = 2.",
    },
    {
      to: memory(FAST, LASSO, 32),
      says: [
        "1 finds the name of 2 in y, waits until y is free, and begins again at line 1. Everything is as it was when the loop began: it can go on so for ever, and every process makes steps again and again.",
        "The algorithm never deadlocks, but it does not promise that everybody gets in.",
      ],
      look: "The state is that of step 2: the loop is closed, and process 1 starves.",
    },
  ],
};

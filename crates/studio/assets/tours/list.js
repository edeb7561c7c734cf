// The tours: each is a list of steps, and a step is an address, some sentences, and what to look at.

const run = (script, at) => `#/run?script=example:${script}&at=${at}`;

/** A script over shared memory in which each process makes so many steps: `[[2, 4], [3, 8], "loop"]`. */
function memory(heading, turns, at) {
  const lines = turns.flatMap((turn) => (turn === "loop" ? ["loop"] : Array.from({ length: turn[1] }, () => `step ${turn[0]}`)));
  return `#/memory?${new URLSearchParams({ script: `${heading}\n\n${lines.join("\n")}\n`, at })}`;
}

const DEADLOCK = "thirteen-nodes-deadlock";
const RESOLVED = "thirteen-nodes-resolved";
const THIRTEEN = {
  name: "thirteen-nodes", title: "Thirteen nodes: a deadlock and its resolution",
  about: "Maekawa's algorithm asks only a quorum. Three nodes can each get two of three votes and wait for each other in a ring, until somebody gives a vote back.",
  steps: [
    { to: run(DEADLOCK, 13), says: ["Thirteen nodes form a projective plane: every node has a quorum of four, itself among them, and any two quorums meet in exactly one node. Whoever has the votes of its whole quorum may enter, so two can never be inside together."], look: "Nobody has asked yet: all lanes are thin, and no vote is given." },
    { to: run(DEADLOCK, 25), says: ["Nodes 7, 8 and 11 ask at the same time. Each votes for itself, which costs no message, and asks the three others of its quorum.", "The quorums of 7 and 8 meet in 10, those of 8 and 11 in 1, those of 11 and 7 in 13."], look: "Three hatched lanes: three nodes wait. The arrows are still under way." },
    { to: run(DEADLOCK, 43), says: ["The requests arrive in an unlucky order. 7 gets the votes of 2 and 13, node 8 those of 9 and 10, node 11 those of 12 and 1. Everybody lacks exactly one vote."], look: "The ribbons below 10, 1 and 13: the node where two quorums meet has given its vote to one of the two." },
    { to: run(DEADLOCK, 46), says: ["The last three requests arrive and are put into queues. 7 needs the vote of 10, which 8 has; 8 needs that of 1, which 11 has; 11 needs that of 13, which 7 has.", "Nothing is under way any more: 7, 8 and 11 wait for each other for ever. This is a deadlock."], look: "The wait-for graph: cycle 7 → 8 → 11 → 7, each edge labelled with the arbiter at which it waits." },
    { to: run(RESOLVED, 49), says: ["The same first steps, now with the remedies. An arbiter that has voted for a younger request INQUIREs whether it may have its vote back. One that has voted for an older one says FAILED.", "10 and 1 would like their votes back; 13 tells 11 that it failed."], look: "Two dotted arrows, INQUIRE, and a dashed one, FAILED." },
    { to: run(RESOLVED, 53), says: ["8 has not failed anywhere, so it keeps the vote of 10: it may still succeed. 11 has failed at 13, cannot enter before 7, and so gives the vote of 1 back: RELINQUISH."], look: "The rule “yield”, and in the table the field “failed” of node 11." },
    { to: run(RESOLVED, 57), says: ["1 now votes for 8, which has all votes and enters. The ring is broken."], look: "Node 8 is inside; the wait-for graph has no cycle any more." },
    { to: run(RESOLVED, 76), says: ["8 leaves and frees the vote of 10, so 7 enters. 7 leaves and frees that of 13, so 11 enters."], look: "Three dark blocks, one after the other: 8, 7, 11." },
    { to: run(RESOLVED, 86), says: ["The entries came in the order 8, 7, 11. That is not the order of the requests' stamps, in which 7 is the oldest: Maekawa's algorithm lets nobody wait for ever, but it is not first come, first served."], look: "“Order of entries” among the numbers below: 8, 7, 11; 32 messages for three entries." },
  ],
};

const FIFO = {
  name: "lamport-fifo", title: "Why Lamport's algorithm needs FIFO channels",
  about: "A REPLY that overtakes a REQUEST makes a node believe that nothing older can come. Then two are inside.",
  steps: [
    { to: run("lamport-without-fifo", 12), says: ["Three nodes ask at once, each with a stamp; equal counters are ordered by the node's number, so the request of 1 is the oldest.", "The rule: enter when your own request is the oldest in your queue and you have heard something younger from everybody. Then nothing older can still come – if channels keep their order."], look: "All six REQUESTs are under way." },
    { to: run("lamport-without-fifo", 14), says: ["3 receives the request of 1 and replies. But its own REQUEST to 1, sent before, is still under way: the REPLY overtakes it."], look: "The channel from 3 to 1 has two messages now, and the later one is about to arrive first." },
    { to: run("lamport-without-fifo", 18), says: ["1 has heard from 2 and 3 and enters. It is the oldest, so that does no harm yet."], look: "Node 1 is inside." },
    { to: run("lamport-without-fifo", 20), says: ["1 has replied to 2, too, and this REPLY overtakes the REQUEST of 1 to 2, which is the oldest of all. 2 does not know of it."], look: "In the table: the queue of node 2 has no request of 1." },
    { to: run("lamport-without-fifo", 24), says: ["2 has heard something younger from everybody, and its own request is the oldest that it knows of. It enters, while 1 is inside.", "On FIFO channels the REQUEST of 1 would have come before the REPLY."], look: "The red mark: two are inside together. Drag the head of the REQUEST from 1 to 2 to the left of that REPLY, and the violation is gone." },
  ],
};

const REENTRY = {
  name: "free-re-entry", title: "Carvalho–Roucairol: entering again for nothing",
  about: "Who has somebody's permission may keep it until it is asked back. It costs no message to enter again, and it costs the order of requests.",
  steps: [
    { to: run("carvalho-roucairol-told", 8), says: ["Node 1 asks node 2, which replies, and 1 enters: two messages, as in Ricart–Agrawala's algorithm."], look: "REQUEST and REPLY." },
    { to: run("carvalho-roucairol-told", 9), says: ["1 leaves. In Ricart–Agrawala's algorithm it would have to ask again next time. Here a REPLY is a permission that stays until the other one asks for it."], look: "In the table, “without permission of”: nobody for node 1, node 1 for node 2. The permission stays with 1." },
    { to: run("carvalho-roucairol-told", 11), says: ["Now 2 asks. Its REQUEST is under way, and 1 knows nothing of it."], look: "One arrow under way." },
    { to: run("carvalho-roucairol-told", 14), says: ["1 wants in again, and has all permissions: it enters at once, without a single message. That is what the algorithm is for: where one node enters often, entries are free.", "It even heard from elsewhere that 2 had asked before (the clock event). Requests that happened one before the other are served in the other order: this is the price."], look: "Node 1 is inside again, and no arrow has been sent for it." },
    { to: run("carvalho-roucairol-told", 20), says: ["When the REQUEST of 2 arrives, 1 gives the permission away, and 2 enters. Four messages for three entries."], look: "Messages per entry below: 1.333 of at most 2." },
  ],
};

const SINGHAL = {
  name: "singhal-as-printed", title: "Singhal's algorithm as printed: a lost request",
  about: "The heuristic asks only those who seem to want the token. As printed, a request can be taken for an old one, and its node waits for ever.",
  steps: [
    { to: run("specimens/singhal-no-chase", 8), says: ["Singhal's nodes guess who might have the token and ask only those: at first node i asks 1 … i−1. So 2 asks 1, and 3 asks 1 and 2. The token is at 1."], look: "Keep an eye on the REQUEST from 3 to 2: it will be under way until the end." },
    { to: run("specimens/singhal-no-chase", 14), says: ["1 gives the token to 3, and asks for it itself straight away. 3 enters."], look: "The ribbon “token” moves from 1 to 3." },
    { to: run("specimens/singhal-no-chase", 19), says: ["3 has left and given the token to 1. Then 3 asks a second time. By what it knows now, it asks 1 alone."], look: "The second REQUEST of 3 goes to 1 only; its first one to 2 is still under way." },
    { to: run("specimens/singhal-no-chase", 24), says: ["1 enters and leaves, hears of 2 and sends it the token, before the second request of 3 arrives. In the token's arrays 3's first request is known to be served."], look: "The token is under way to 2." },
    { to: run("specimens/singhal-no-chase", 29), says: ["The second request of 3 reaches 1, which has no token any more and does not pass it on. Then the first one reaches 2, which knows it from the token, takes it for old, and keeps the token. 3 waits for ever.", "The repaired algorithm lets a copy of each request chase the token: it goes to where its sender last passed the token, and from there along the track that the token took."], look: "Node 3 waits, the token rests at 2, nothing is under way." },
  ],
};

const BAKERY = "algorithm bakery/maximum-by-position\nnodes 3\ntickets 4";
const TURNS = [[2, 4], [3, 8], [2, 6], [1, 3], [2, 1], [1, 7], [3, 2]];
const MAXIMUM = {
  name: "bakery-maximum", title: "The bakery with a wrong maximum",
  about: "To take a ticket one needs the largest number. Remembering where it stood and reading it again there is not the same as remembering it.",
  steps: [
    { to: memory(BAKERY, TURNS, 0), says: ["In the bakery a process takes a number larger than all that it sees. This one remembers where the largest number was (k), and reads it again there when it takes its own."], look: "Lines 3 and 4 of the program." },
    { to: memory(BAKERY, TURNS, 12), says: ["Processes 2 and 3 choose together. 3 takes the number 1, is past its doorway, and has already seen that 1 neither chooses nor has a number."], look: "number[3] = 1, and process 3 waits at process 2." },
    { to: memory(BAKERY, TURNS, 18), says: ["2 takes the number 1 as well. Equal numbers are ordered by the process: 2 goes before 3, and enters."], look: "number[2] = number[3] = 1; process 2 is inside." },
    { to: memory(BAKERY, TURNS, 21), says: ["Now 1 chooses. It finds the largest number, 1, first at 2, and remembers the position: k = 2."], look: "Process 1 at line 4." },
    { to: memory(BAKERY, TURNS, 24), says: ["2 leaves and sets its number to 0. 1 reads there again, finds 0, and takes 0 + 1 = 1 – no more than what 3 has had all along."], look: "number[1] = number[3] = 1." },
    { to: memory(BAKERY, TURNS, 31), says: ["1 goes before 3 and enters. 3 looked at 1 long ago and now waits for nobody: it enters, too. Processes 1 and 3 are inside together.", "With the number remembered instead of its position, 1 would have taken 2."], look: "Two processes inside. Two processes alone would be safe: it takes three." },
  ],
};

const FAST = "algorithm lamport-fast\nnodes 3";
const LASSO = [[1, 2], "loop", [1, 1], [2, 3], [3, 3], [1, 4], [3, 4], [2, 7], [1, 3], [2, 2], [1, 3]];
const STARVATION = {
  name: "starvation-lasso", title: "Starvation in Lamport's fast algorithm",
  about: "Seven accesses when alone. But a process can be overtaken for ever, however fair the scheduler is.",
  steps: [
    { to: memory(FAST, LASSO, 2), says: ["Lamport's fast algorithm needs only seven accesses when nobody else wants in. Process 1 has raised its flag and written its name into x.", "From here on the run will repeat itself: a stem and a loop, which is called a lasso."], look: "Process 1 is at line 4; x = 1." },
    { to: memory(FAST, LASSO, 9), says: ["1 sees that y is free. Then 2 and 3 come, each writes its name into x and sees that y is free, too."], look: "x = 3: the last to write there will take the fast path." },
    { to: memory(FAST, LASSO, 17), says: ["1 finds another name in x and must take the slow path: it lowers its flag and looks at those of the others. Meanwhile 3 takes the fast path, enters and leaves."], look: "Process 1 at line 11, process 3 back in its remainder." },
    { to: memory(FAST, LASSO, 24), says: ["2 is on the slow path as well, but it wrote its name into y last, and so it enters."], look: "y = 2." },
    { to: memory(FAST, LASSO, 32), says: ["1 finds the name of 2 in y, waits until y is free, and begins again at line 1. Everything is as it was when the loop began: it can go on so for ever, and every process makes steps again and again.", "The algorithm never deadlocks, but it does not promise that everybody gets in."], look: "The state is that of step 2: the loop is closed, and process 1 starves." },
  ],
};

/** All tours. */
export const TOURS = [THIRTEEN, FIFO, REENTRY, SINGHAL, MAXIMUM, STARVATION];

/** The address of a step, counted from 1, with the tour in it. */
export function stepAddress(tour, number) {
  return `${tour.steps[number - 1].to}&tour=${tour.name}&step=${number}`;
}

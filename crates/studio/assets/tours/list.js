// The tours: each is a list of steps, and a step is an address, some sentences, and what to look at.

import { MAXIMUM, STARVATION } from "./memory.js";

const run = (script, at) => `#/run?script=example:${script}&at=${at}`;

const DEADLOCK = "thirteen-nodes-deadlock";
const RESOLVED = "thirteen-nodes-resolved";
const THIRTEEN = {
  name: "thirteen-nodes",
  title: "Thirteen nodes: a deadlock and its resolution",
  about:
    "Maekawa's algorithm asks only a quorum. Three nodes can each get two of three votes and wait for each other in a ring, until somebody gives a vote back.",
  steps: [
    {
      to: run(DEADLOCK, 13),
      says: [
        "Thirteen nodes form a projective plane: every node has a quorum of four, itself among them, and any two quorums meet in exactly one node. Whoever has the votes of its whole quorum may enter, so two can never be inside together.",
      ],
      look: "Nobody has asked yet: all lanes are thin, and no vote is given.",
    },
    {
      to: run(DEADLOCK, 25),
      says: [
        "Nodes 7, 8 and 11 ask at the same time. Each votes for itself, which costs no message, and asks the three others of its quorum.",
        "The quorums of 7 and 8 meet in 10, those of 8 and 11 in 1, those of 11 and 7 in 13.",
      ],
      look: "Three hatched lanes: three nodes wait. The arrows are still under way.",
    },
    {
      to: run(DEADLOCK, 43),
      says: [
        "The requests arrive in an unlucky order. 7 gets the votes of 2 and 13, node 8 those of 9 and 10, node 11 those of 12 and 1. Everybody lacks exactly one vote.",
      ],
      look: "The ribbons below 10, 1 and 13: the node where two quorums meet has given its vote to one of the two.",
    },
    {
      to: run(DEADLOCK, 46),
      says: [
        "The last three requests arrive and are put into queues. 7 needs the vote of 10, which 8 has; 8 needs that of 1, which 11 has; 11 needs that of 13, which 7 has.",
        "Nothing is under way any more: 7, 8 and 11 wait for each other for ever. This is a deadlock.",
      ],
      look: "The wait-for graph: cycle 7 → 8 → 11 → 7, each edge labelled with the arbiter at which it waits.",
    },
    {
      to: run(RESOLVED, 49),
      says: [
        "The same first steps, now with the remedies. An arbiter that has voted for a younger request INQUIREs whether it may have its vote back. One that has voted for an older one says FAILED.",
        "10 and 1 would like their votes back; 13 tells 11 that it failed.",
      ],
      look: "Two dotted arrows, INQUIRE, and a dashed one, FAILED.",
    },
    {
      to: run(RESOLVED, 53),
      says: [
        "8 has not failed anywhere, so it keeps the vote of 10: it may still succeed. 11 has failed at 13, cannot enter before 7, and so gives the vote of 1 back: RELINQUISH.",
      ],
      look: "The rule “yield”, and in the table the field “failed” of node 11.",
    },
    {
      to: run(RESOLVED, 57),
      says: ["1 now votes for 8, which has all votes and enters. The ring is broken."],
      look: "Node 8 is inside; the wait-for graph has no cycle any more.",
    },
    {
      to: run(RESOLVED, 76),
      says: ["8 leaves and frees the vote of 10, so 7 enters. 7 leaves and frees that of 13, so 11 enters."],
      look: "Three dark blocks, one after the other: 8, 7, 11.",
    },
    {
      to: run(RESOLVED, 86),
      says: [
        "The entries came in the order 8, 7, 11. That is not the order of the requests' stamps, in which 7 is the oldest: Maekawa's algorithm lets nobody wait for ever, but it is not first come, first served.",
      ],
      look: "“Order of entries” among the numbers below: 8, 7, 11; 32 messages for three entries.",
    },
  ],
};

const FIFO = {
  name: "lamport-fifo",
  title: "Why Lamport's algorithm needs FIFO channels",
  about: "A REPLY that overtakes a REQUEST makes a node believe that nothing older can come. Then two are inside.",
  steps: [
    {
      to: run("lamport-without-fifo", 12),
      says: [
        "Three nodes ask at once, each with a stamp; equal counters are ordered by the node's number, so the request of 1 is the oldest.",
        "The rule: enter when your own request is the oldest in your queue and you have heard something younger from everybody. Then nothing older can still come – if channels keep their order.",
      ],
      look: "All six REQUESTs are under way.",
    },
    {
      to: run("lamport-without-fifo", 14),
      says: [
        "3 receives the request of 1 and replies. But its own REQUEST to 1, sent before, is still under way: the REPLY overtakes it.",
      ],
      look: "The channel from 3 to 1 has two messages now, and the later one is about to arrive first.",
    },
    {
      to: run("lamport-without-fifo", 18),
      says: ["1 has heard from 2 and 3 and enters. It is the oldest, so that does no harm yet."],
      look: "Node 1 is inside.",
    },
    {
      to: run("lamport-without-fifo", 20),
      says: [
        "1 has replied to 2, too, and this REPLY overtakes the REQUEST of 1 to 2, which is the oldest of all. 2 does not know of it.",
      ],
      look: "In the table: the queue of node 2 has no request of 1.",
    },
    {
      to: run("lamport-without-fifo", 24),
      says: [
        "2 has heard something younger from everybody, and its own request is the oldest that it knows of. It enters, while 1 is inside.",
        "On FIFO channels the REQUEST of 1 would have come before the REPLY.",
      ],
      look:
        "The red mark: two are inside together. Drag the head of the REQUEST from 1 to 2 to the left of that REPLY, and the violation is gone.",
    },
  ],
};

const REENTRY = {
  name: "free-re-entry",
  title: "Carvalho–Roucairol: entering again for nothing",
  about:
    "Who has somebody's permission may keep it until it is asked back. It costs no message to enter again, and it costs the order of requests.",
  steps: [
    {
      to: run("carvalho-roucairol-told", 8),
      says: ["Node 1 asks node 2, which replies, and 1 enters: two messages, as in Ricart–Agrawala's algorithm."],
      look: "REQUEST and REPLY.",
    },
    {
      to: run("carvalho-roucairol-told", 9),
      says: [
        "1 leaves. In Ricart–Agrawala's algorithm it would have to ask again next time. Here a REPLY is a permission that stays until the other one asks for it.",
      ],
      look: "In the table, “without permission of”: nobody for node 1, node 1 for node 2. The permission stays with 1.",
    },
    {
      to: run("carvalho-roucairol-told", 11),
      says: ["Now 2 asks. Its REQUEST is under way, and 1 knows nothing of it."],
      look: "One arrow under way.",
    },
    {
      to: run("carvalho-roucairol-told", 14),
      says: [
        "1 wants in again, and has all permissions: it enters at once, without a single message. That is what the algorithm is for: where one node enters often, entries are free.",
        "It even heard from elsewhere that 2 had asked before (the clock event). Requests that happened one before the other are served in the other order: this is the price.",
      ],
      look: "Node 1 is inside again, and no arrow has been sent for it.",
    },
    {
      to: run("carvalho-roucairol-told", 20),
      says: [
        "When the REQUEST of 2 arrives, 1 gives the permission away, and 2 enters. Four messages for three entries.",
      ],
      look: "Messages per entry below: 1.333 of at most 2.",
    },
  ],
};

const SINGHAL = {
  name: "singhal-as-printed",
  title: "Singhal's algorithm as printed: a lost request",
  about:
    "The heuristic asks only those who seem to want the token. As printed, a request can be taken for an old one, and its node waits for ever.",
  steps: [
    {
      to: run("specimens/singhal-no-chase", 8),
      says: [
        "Singhal's nodes guess who might have the token and ask only those: at first node i asks 1 … i−1. So 2 asks 1, and 3 asks 1 and 2. The token is at 1.",
      ],
      look: "Keep an eye on the REQUEST from 3 to 2: it will be under way until the end.",
    },
    {
      to: run("specimens/singhal-no-chase", 14),
      says: ["1 gives the token to 3, and asks for it itself straight away. 3 enters."],
      look: "The ribbon “token” moves from 1 to 3.",
    },
    {
      to: run("specimens/singhal-no-chase", 19),
      says: ["3 has left and given the token to 1. Then 3 asks a second time. By what it knows now, it asks 1 alone."],
      look: "The second REQUEST of 3 goes to 1 only; its first one to 2 is still under way.",
    },
    {
      to: run("specimens/singhal-no-chase", 24),
      says: [
        "1 enters and leaves, hears of 2 and sends it the token, before the second request of 3 arrives. In the token's arrays 3's first request is known to be served.",
      ],
      look: "The token is under way to 2.",
    },
    {
      to: run("specimens/singhal-no-chase", 29),
      says: [
        "The second request of 3 reaches 1, which has no token any more and does not pass it on. Then the first one reaches 2, which knows it from the token, takes it for old, and keeps the token. 3 waits for ever.",
        "The repaired algorithm lets a copy of each request chase the token: it goes to where its sender last passed the token, and from there along the track that the token took.",
      ],
      look: "Node 3 waits, the token rests at 2, nothing is under way.",
    },
  ],
};

/** All tours. */
export const TOURS = [THIRTEEN, FIFO, REENTRY, SINGHAL, MAXIMUM, STARVATION];

/** The address of a step, counted from 1, with the tour in it. */
export function stepAddress(tour, number) {
  return `${tour.steps[number - 1].to}&tour=${tour.name}&step=${number}`;
}

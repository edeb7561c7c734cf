// What to look for in each exercise: which promise the specimen breaks, and a hint that does not give away how.

/** Hints by specimen: where to look, not what is wrong. */
const HINTS = {
  "lamport/any-order": "A node enters when it has heard from everybody after its request. Which message would it have to miss?",
  "lamport/stamp-per-copy": "One node is enough to ask. Compare the stamp of its own request with those of the replies.",
  "lamport/stamped-early": "The message from a node to itself is how the application tells its node. What may come before it?",
  "lamport/double-stamps": "Let node 1 enter and leave once, and look at the hundredths in the clocks. Then let both ask.",
  "lamport/stamp-before-tick": "Look at the last event of the node that answers: when did it receive, and when did it reply?",
  "lamport/equal-stamps": "Let both ask before either hears of the other, and look at the two stamps.",
  "ricart-agrawala/deferred-not-cleared":
    "Somebody is kept waiting once. Count the replies at each later release; it takes three entries and more.",
  "ricart-agrawala/stamped-early":
    "The message from a node to itself is how the application tells its node. What does the node answer before it comes?",
  "ricart-agrawala/double-stamps": "Let node 2 hear of node 1 before it asks, and look at the hundredths in the clocks. Then let node 1 ask again.",
  "ricart-agrawala/equal-stamps": "Let both ask before either hears of the other, and look at the two stamps.",
  "carvalho-roucairol/no-asking-back": "Somebody asks again with a permission still in hand, and only then an older request arrives.",
  "carvalho-roucairol/permission-kept": "Somebody asks again with a permission still in hand, and only then an older request arrives.",
  "maekawa/basic": "Everybody needs two votes, and has one at once.",
  "maekawa/no-failed-when-overtaken":
    "Node 1 never asks. Make a request wait as the oldest at an arbiter, then let a still older one arrive there.",
  "maekawa/failed-remembered": "Node 2 asks while node 1 is inside, and enters later. What does it still believe then?",
  "maekawa/inquire-answered-inside": "Let the younger request win first, and the older one arrive when its node is inside.",
  "maekawa/inquire-before-locked": "Channels deliver in any order: which two messages of an arbiter to one node could change places?",
  "maekawa/unnamed-requests":
    "Node 3 decides alone. Let a message about somebody's first request arrive when that node waits with its second.",
  "maekawa/never-free": "Let somebody leave when nobody waits for its vote, and another one ask after that.",
  "maekawa/one-inquire-answered": "A node has two votes, and both are wanted back before it knows that it will not get the third.",
  "maekawa/inquired-for-ever": "Let every arbiter want its vote back once. Then do it all again.",
  "maekawa/node-first": "Nodes 1 and 2 can take turns. Let each ask again before the other leaves, and see what node 3 gets.",
  "sanders/no-remedy": "Two nodes, two votes.",
  "sanders/own-request-travels": "Which message of a node should it not have to wait for? Deliver it last.",
  "sanders/clocks-not-merged": "Let a node say yes to a request first and ask itself after that. Whose request is older?",
  "sanders/unchecked-structure": "Look at whom each node asks, in its fields.",
  "suzuki-kasami/own-entry": "Let the node with the token be served more often than the other one.",
  "singhal/idle-while-inside": "The node with the token enters without a message. What state does it say it is in?",
  "singhal/no-chase": "Keep the first REQUEST from 3 to 2 under way, and let the token go round without it.",
  "raymond/token-away-while-inside": "Let somebody ask the node that is inside.",
  "peterson/no-turn": "Both raise their flags. Then step each of them and see whether anything changes.",
  "tournament/leaf-first": "Stop a process halfway through leaving, and bring its neighbour up the same side.",
  "tournament/missing-barrier": "Writes wait in a process's buffer until they reach memory. Who reads too early?",
  "simple-bakery/two-steps": "Stop a process between its reads and its write.",
  "simple-bakery/maximum-first": "Stop a process between the maximum and its ticket.",
  "bakery/maxpos-loop": "Let two choose together. A third one looks for the position of the largest number while its holder leaves.",
  "bakery/maximum-by-position": "Let two choose together. A third one looks for the largest number while its holder leaves.",
  "black-white/two-registers":
    "Stop a process between the two reads of a ticket, and change the ticket meanwhile. No ticket may exceed the number of processes.",
  "black-white/number-first":
    "Stop a process between the two reads of a ticket, and change the ticket meanwhile. No ticket may exceed the number of processes.",
};

/** The kinds of goals: what should hold, what to find, what is said when it is found. */
const GOALS = {
  exclusion: {
    should: "At most one may be inside at any time.",
    find: "Find a run in which two are inside together.",
    property: "mutual-exclusion",
  },
  deadlock: {
    should: "If somebody waits, somebody enters in the end.",
    find: "Find a run after which nobody can go on: nothing is in flight, nobody is inside, and somebody waits.",
    property: "deadlock-freedom",
  },
  starvation: {
    should: "Everybody who waits enters in the end.",
    find: "Find a run in which the others enter again and again, and one that asked long before them does not.",
    property: "starvation-freedom",
  },
  stamps: {
    should: "Every event has a larger stamp than the event before it at its node.",
    find: "Find a run in which one has not.",
    property: "invariants",
  },
  bound: {
    should: "No ticket is ever larger than the number of processes.",
    find: "Find a run in which one is.",
    property: "invariants",
  },
};

/** Which goal a specimen's verdict names. */
export function goalOf(specimen) {
  const { verdict } = specimen.specimen;
  if (/starve/.test(verdict)) return GOALS.starvation;
  if (/have the stamp/.test(verdict)) return GOALS.stamps;
  if (/bound on tickets/.test(verdict)) return GOALS.bound;
  return /exclusion/.test(verdict) ? GOALS.exclusion : GOALS.deadlock;
}

/** The goal for a program: there is always a next step over shared memory, so a deadlock is a round in which nobody enters. */
export function programGoal(specimen) {
  const goal = goalOf(specimen);
  if (goal !== GOALS.deadlock) return goal;
  return { ...goal, find: "Find a run that comes back to where it was although everybody made steps, and nobody entered meanwhile." };
}

export function hintOf(name) {
  return HINTS[name] ?? "Try the smallest number of steps first.";
}

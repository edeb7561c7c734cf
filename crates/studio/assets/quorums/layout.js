// Where the nodes of a quorum system stand in its picture: a grid is a grid, a wall has bricks, a tree has edges, the plane
// of seven points is G. Fano's figure of 1892, and all other systems are a ring. Nodes are counted from 1; places are in
// pixels around wherever they fall, and the picture moves them into its box.

/** The figure of a system: `places[node]`, what a node looks like, and the lines that join nodes. */
export function figure(system) {
  const kind = system.layout?.kind ?? "sets";
  const rows = system.layout?.rows;
  if (kind === "grid" && rows) return { shape: "cell", reach: 22, places: gridPlaces(rows), lines: [] };
  if (kind === "wall" && rows) return { shape: "brick", reach: 20, places: wallPlaces(rows), lines: [] };
  if (kind === "tree") return treeFigure(system.n);
  if (kind === "plane" && system.layout.fano) return fanoFigure(system.layout.fano);
  return { shape: "circle", reach: ringReach(system.n), places: ringPlaces(system.n), lines: [], isRing: true };
}

function gridPlaces(rows) {
  const places = new Map();
  rows.forEach((row, down) => row.forEach((node, across) => places.set(node, { x: across * 56, y: down * 56 })));
  return places;
}

/** Rows in the middle of each other. */
function wallPlaces(rows) {
  const places = new Map();
  rows.forEach((row, down) =>
    row.forEach((node, across) => places.set(node, { x: (across - (row.length - 1) / 2) * 72, y: down * 46 })),
  );
  return places;
}

/** Each node between its left and its right subtree. */
function treeFigure(n) {
  const places = new Map();
  const lines = [];
  const visit = (node) => {
    if (node > n) return;
    visit(2 * node);
    places.set(node, { x: places.size * 30, y: Math.floor(Math.log2(node)) * 66 });
    visit(2 * node + 1);
    if (node > 1) lines.push({ nodes: [Math.floor(node / 2), node], shape: "edge" });
  };
  visit(1);
  return { shape: "circle", reach: 17, places, lines };
}

function ringReach(n) {
  return n <= 40 ? 17 : 13;
}

/** The first node on top, the others clockwise. */
function ringPlaces(n) {
  const radius = n === 1 ? 0 : Math.max(110, (n * (2 * ringReach(n) + 8)) / (2 * Math.PI));
  const place = (index) => {
    const angle = 2 * Math.PI * (index / n - 0.25);
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  };
  return new Map(Array.from({ length: n }, (_, index) => [index + 1, place(index)]));
}

/** Three sides and three medians of a triangle, each with its ends first and what is between them last, and the circle inside. */
function fanoFigure(lines) {
  const corner = (angle) => ({ x: 165 * Math.cos(2 * Math.PI * angle), y: 165 * Math.sin(2 * Math.PI * angle) });
  const halfway = (one, other) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  const [top, right, left] = [corner(-0.25), corner(1 / 12), corner(5 / 12)];
  const [[a, b, below], [, c, west], [, , east], [, , middle]] = lines;
  const places = new Map([
    [a, left],
    [b, right],
    [c, top],
    [below, halfway(left, right)],
    [west, halfway(left, top)],
    [east, halfway(right, top)],
    [middle, { x: 0, y: 0 }],
  ]);
  const shapes = lines.map((nodes, index) => ({ nodes, shape: index < 6 ? "straight" : "round" }));
  return { shape: "circle", reach: 19, places, lines: shapes };
}

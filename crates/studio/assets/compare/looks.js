// What the series of an algorithm looks like: a colour that is its own on every visit, and a marker. The colours are those of Okabe and
// Ito, which the colour-blind tell apart; the markers tell series apart without any colour.

const COLOURS = 8;

/** The marks of a chart around the point (0, 0), as outlines of about the same area. */
const MARKERS = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (r) => polygon([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], r),
  (r) => polygon([[0, -1.25], [1.15, 0.8], [-1.15, 0.8]], r),
  (r) => polygon([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]], r),
  (r) => polygon([[0, 1.25], [1.15, -0.8], [-1.15, -0.8]], r),
  (r) => polygon(plus(), r),
  (r) => polygon(star(), r),
];

/** The looks of all algorithms by their names: `{colour, marker}`. The chosen ones get the first markers, so that few differ in all. */
export function looks(names, chosen) {
  const places = new Map([...names].sort((one, other) => chosen.has(other) - chosen.has(one)).map((name, place) => [name, place]));
  return new Map(names.map((name, place) => [name, { colour: `series-${place % COLOURS}`, marker: MARKERS[places.get(name) % MARKERS.length] }]));
}

function polygon(corners, r) {
  const words = corners.map(([x, y]) => `${(x * r).toFixed(2)} ${(y * r).toFixed(2)}`);
  return `M${words.join("L")}Z`;
}

function plus() {
  const [thin, far] = [0.42, 1.25];
  return [
    [-thin, -far], [thin, -far], [thin, -thin], [far, -thin], [far, thin], [thin, thin],
    [thin, far], [-thin, far], [-thin, thin], [-far, thin], [-far, -thin], [-thin, -thin],
  ];
}

function star() {
  const corner = (index) => {
    const [angle, reach] = [(Math.PI * index) / 5 - Math.PI / 2, index % 2 === 0 ? 1.4 : 0.62];
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  };
  return Array.from({ length: 10 }, (_, index) => corner(index));
}

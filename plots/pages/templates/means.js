// Means of the rows that are shown, by the settings that are chosen: listed, and drawn along one of these.

const MOST_GROUPS = 1000, MOST_LINES = 32;
let groups = [], grouped = [];

function groupRows(columns, numbers) {
  const ids = new Uint32Array(shown.length), cells = [[]], n = [];
  let found = [[]];
  for (const column of columns) {
    const known = new Map(), next = [];
    shown.forEach((row, i) => {
      const pair = ids[i] * column.distinct.length + column.codes[row];
      if (!known.has(pair)) known.set(pair, next.push([...found[ids[i]], column.codes[row]]) - 1);
      ids[i] = known.get(pair);
    });
    found = next;
  }
  const made = found.map((codes) => ({codes, n: 0, without: 0, sum: 0, squares: 0, low: Infinity, high: -Infinity}));
  shown.forEach((row, i) => {
    const group = made[ids[i]], number = numbers[row];
    if (!Number.isFinite(number)) { group.without++; return; }
    group.n++; group.sum += number; group.low = Math.min(group.low, number); group.high = Math.max(group.high, number);
  });
  shown.forEach((row, i) => {
    const group = made[ids[i]], number = numbers[row];
    if (Number.isFinite(number)) group.squares += (number - group.sum / group.n) ** 2;
  });
  for (const group of made) {
    group.mean = group.n ? group.low === group.high ? group.low : group.sum / group.n : NaN;
    const spread = group.low === group.high ? 0 : Math.sqrt(group.squares / (group.n - 1)); // equal values: exactly 0
    group.half = group.n > 1 ? reachOf(group.n - 1) * spread / Math.sqrt(group.n) : NaN;
  }
  return made.sort((one, other) => one.codes.map((code, i) => code - other.codes[i]).find((less) => less) ?? 0);
}

// The quantile of Student's t: of few degrees of freedom from a list, of many by the first term of its expansion.
const reachOf = (degrees) => facts.reach[degrees - 1] ?? facts.farthest * (1 + (facts.farthest ** 2 + 1) / (4 * degrees));

function countValues(column) {
  const isSeen = new Uint8Array(column.distinct.length);
  for (const row of shown) isSeen[column.codes[row]] = 1;
  return isSeen.reduce((n, one) => n + one, 0);
}

// A box for each setting that varies; metrics are no numbers of one kind, so that their box is ticked for good.
function makeBoxes() {
  for (const column of facts.columns.filter(({name, distinct}) => facts.settings.includes(name) && distinct?.length > 1)) {
    const label = make("label");
    column.box = make("input", {type: "checkbox", value: column.name});
    if (column.distinct.length <= 50) column.box.setAttribute("checked", "");
    if (column.name === "metric") column.box.disabled = true;
    label.append(column.box, ` ${column.name}`);
    part("by").append(label);
  }
  part("measure").append(...facts.measures.map((name) => make("option", {}, name)));
}

function showGroups() {
  const settings = facts.columns.filter((column) => column.box);
  grouped = settings.filter((column) => column.box.checked);
  const measure = facts.columns.find((column) => column.name === part("measure").value);
  groups = shown.length ? groupRows(grouped, numbersOf(measure)) : [];
  const mixed = settings.filter((column) => !column.box.checked).map((column) => [column.name, countValues(column)]);
  const several = mixed.filter(([, n]) => n > 1).map(([name, n]) => `${name} (${n.toLocaleString("en")})`);
  part("mixed").textContent = several.length ? `A mean is over several values of: ${several.join(", ")}.` : "";
  const table = part("groups"), head = make("tr"), names = grouped.map((column) => column.name);
  head.append(...[...names, "n", "without", "mean", "±"].map((name, i) => make("th", i < names.length ? {} : {class: "n"}, name)));
  table.replaceChildren();
  table.createTHead().append(head);
  table.createTBody();
  for (const line of listGroups().slice(0, MOST_GROUPS)) {
    const row = table.tBodies[0].insertRow();
    row.append(...line.map((cell, i) => i < names.length ? make("td", {}, textOf(cell)) : make("td", {class: "n"}, shorten(cell))));
  }
  makeSortable(table);
  const nMore = groups.length - MOST_GROUPS;
  part("rest").textContent = nMore > 0 ? `${nMore.toLocaleString("en")} more are in the download.` : "";
  drawGroups();
}

const shorten = (number) => Number.isNaN(number) ? MISSING : Number.isInteger(number) ? String(number) : number.toPrecision(5);
const listGroups = () => groups.map(({codes, n, without, mean, half}) =>
  [...codes.map((code, i) => grouped[i].distinct[code]), n, without, mean, half]);

function chooseAlong() {
  const before = part("along").value, names = facts.columns.filter((column) => column.box?.checked).map(({name}) => name);
  part("along").replaceChildren(...names.map((name) => make("option", {}, name)));
  part("along").value = names.includes(before) ? before : names.includes("epsilon") ? "epsilon" : names[0] ?? "";
  showGroups();
}

function drawGroups() {
  const at = grouped.findIndex((column) => column.name === part("along").value), lines = new Map();
  for (const group of groups.filter((one) => one.n)) {
    const name = group.codes.flatMap((code, i) => i === at ? [] : [textOf(grouped[i].distinct[code])]).join(", ");
    lines.set(name, [...lines.get(name) ?? [], group]);
  }
  part("key").replaceChildren();
  part("picture").replaceChildren();
  if (at < 0 || !lines.size || lines.size > MOST_LINES) {
    part("key").textContent = lines.size > MOST_LINES ? `${lines.size} lines are too many to draw: filter, or group by less.` : "";
    return;
  }
  const all = [...lines.values()].flat(), places = [...new Set(all.map(({codes}) => codes[at]))].sort((a, b) => a - b);
  const low = Math.min(...all.map(({mean, half}) => mean - (half || 0))), high = Math.max(...all.map(({mean, half}) => mean + (half || 0)));
  const span = high - low || Math.abs(high) || 1, y = (value) => 300 - 270 * (value - low) / span, space = "http://www.w3.org/2000/svg";
  const x = (code, i = 0) => 80 + 700 * (places.indexOf(code) + .5) / places.length + 3 * (i - (lines.size - 1) / 2);
  const svg = make("svg", {viewBox: "0 0 800 350", role: "img", "aria-label": `means along ${part("along").value}`}, "", space);
  part("picture").append(svg);
  const draw = (tag, attributes, text) => svg.appendChild(make(tag, attributes, text, space));
  const unit = 10 ** Math.floor(Math.log10(span / 5)), step = unit * [1, 2, 5, 10].find((size) => size * unit >= span / 5);
  for (let value = Math.ceil(low / step) * step; value <= low + span; value += step) {
    draw("line", {x1: 80, x2: 780, y1: y(value), y2: y(value), stroke: "var(--rule)"});
    draw("text", {x: 72, y: y(value) + 4, "text-anchor": "end"}, String(Number(value.toPrecision(6))));
  }
  const every = Math.ceil(places.length / 16);
  places.forEach((code, i) => i % every || draw("text", {x: x(code), y: 322, "text-anchor": "middle"}, textOf(grouped[at].distinct[code])));
  draw("text", {x: 430, y: 344, "text-anchor": "middle"}, part("along").value);
  [...lines].forEach(([name, own], i) => {
    const colour = `var(--q${i % facts.colours.length}, ${facts.colours[i % facts.colours.length]})`;
    const dash = facts.dashes[Math.floor(i / facts.colours.length)].join(" ");
    const look = {stroke: colour, fill: "none", "stroke-width": 1.6, "stroke-dasharray": dash};
    draw("polyline", {points: own.map(({codes, mean}) => `${x(codes[at], i)},${y(mean)}`).join(" "), ...look});
    for (const {codes, mean, half} of own) {
      if (half) draw("line", {x1: x(codes[at], i), x2: x(codes[at], i), y1: y(mean - half), y2: y(mean + half), ...look});
      draw("circle", {cx: x(codes[at], i), cy: y(mean), r: 3, fill: colour});
    }
    part("key").append(make("span", {}));
    const sample = part("key").lastChild.appendChild(make("svg", {width: 32, height: 8, "aria-hidden": true}, "", space));
    sample.append(make("line", {x1: 0, x2: 30, y1: 4, y2: 4, ...look}, "", space));
    part("key").lastChild.append(` ${name || part("measure").value}`);
  });
}

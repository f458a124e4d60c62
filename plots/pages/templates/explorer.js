// The table explorer. A column has the distinct values of its cells in their order, what is missing last, and of each row the
// number of its value: to sort is to count these, and a filter looks at each value once. Columns without are eight bytes a row.

const facts = JSON.parse(document.getElementById("facts").textContent);
const ROW = 28, TALLEST = 8e6; // pixels; a taller page than that is cut by some browsers, so that rows are then scaled to it
const MISSING = "—";
const part = (id) => document.getElementById(id);
const numberOf = (cell) => cell === null || cell === "" ? NaN : cell === "inf" ? Infinity : Number(cell);
const textOf = (cell) => cell === null || Number.isNaN(cell) ? MISSING : String(cell);

function make(tag, attributes = {}, text = "", space = "") {
  const made = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

// ---- columns

async function unpack() {
  const text = atob(part("cells").textContent.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = await new Response(stream).arrayBuffer();
  let start = 0;
  for (const column of facts.columns) {
    const own = all.slice(start, start += column.has), width = column.has / facts.n;
    if (column.distinct) column.codes = new {1: Uint8Array, 2: Uint16Array, 4: Uint32Array}[width](own);
    else column.numbers = new Float64Array(own);
    column.cell = column.distinct ? (row) => column.distinct[column.codes[row]] : (row) => column.numbers[row];
  }
}

// The numbers of a column, and the ranks of its values: each is made once, where it is asked for.
function numbersOf(column) {
  const values = column.distinct && column.distinct.map(numberOf);
  return column.numbers ??= Float64Array.from(column.codes, (code) => values[code]);
}

function ranksOf(column) {
  if (column.distinct) return [column.codes, column.distinct.length - (column.distinct.at(-1) === null)];
  if (column.ranks) return column.ranks;
  const sorted = column.numbers.filter((number) => !Number.isNaN(number)).sort(), n = sorted.length;
  const ranks = Uint32Array.from(column.numbers, (number) => {
    let low = 0, high = n; // the first place whose number is not smaller; n for what is missing
    while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] >= number) high = middle; else low = middle + 1; }
    return low;
  });
  return column.ranks = [ranks, n];
}

// ---- rows: filtered, sorted, shown

function readTest(word) {
  const lowered = word.toLowerCase(), number = Number(word);
  const [, low, high] = word.match(/^(\S+?)\.\.(\S+)$/) ?? [];
  if (low) return (cell) => numberOf(cell) >= numberOf(low) && numberOf(cell) <= numberOf(high);
  const [, sign, bound] = word.match(/^(<=|>=|<|>|=)\s*(.+)$/) ?? [], limit = sign && numberOf(bound);
  if (sign === "=") return (cell) => textOf(cell).toLowerCase() === bound.toLowerCase() || numberOf(cell) === limit;
  if (sign) return {"<": (cell) => numberOf(cell) < limit, "<=": (cell) => numberOf(cell) <= limit,
    ">": (cell) => numberOf(cell) > limit, ">=": (cell) => numberOf(cell) >= limit}[sign];
  if (!Number.isNaN(number)) return (cell) => typeof cell === "number" ? cell === number : textOf(cell).includes(lowered);
  return (cell) => textOf(cell).toLowerCase().includes(lowered);
}

let order = new Uint32Array(0), shown = order;

function filterRows() {
  const isKept = new Uint8Array(facts.n).fill(1);
  for (const column of facts.columns) {
    const tests = column.input.value.split(",").map((word) => word.trim()).filter(Boolean).map(readTest);
    if (!tests.length) continue;
    const passes = (cell) => tests.some((test) => test(cell));
    if (column.distinct) {
      const isWanted = Uint8Array.from(column.distinct, passes), codes = column.codes;
      for (let row = 0; row < facts.n; row++) isKept[row] &= isWanted[codes[row]];
    } else for (let row = 0; row < facts.n; row++) if (isKept[row]) isKept[row] = passes(column.numbers[row]);
  }
  shown = order.filter((row) => isKept[row]);
  part("count").value = `${shown.length.toLocaleString("en")} of ${facts.n.toLocaleString("en")} rows`;
  part("height").style.height = `${Math.min(part("rows").tHead.offsetHeight + ROW * shown.length, TALLEST)}px`;
  fillRows();
}

function sortRows(column, header) {
  const isDescending = header.getAttribute("aria-sort") === "ascending", [ranks, last] = ranksOf(column);
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  const place = (row) => isDescending && ranks[row] < last ? last - 1 - ranks[row] : ranks[row];
  const starts = new Uint32Array(last + 2), sorted = new Uint32Array(facts.n);
  for (let row = 0; row < facts.n; row++) starts[place(row) + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  for (const row of order) sorted[starts[place(row)]++] = row; // rows of one value keep their order
  order = sorted;
  filterRows();
}

function fillRows() {
  const view = part("view"), body = part("rows").tBodies[0];
  const nShown = Math.max(1, Math.floor((view.clientHeight - part("rows").tHead.offsetHeight) / ROW));
  while (body.rows.length < nShown) facts.columns.forEach((_, i, all) => (i ? body.lastChild : body.insertRow()).insertCell());
  const share = view.scrollTop / Math.max(1, view.scrollHeight - view.clientHeight);
  const first = Math.round(share * Math.max(0, shown.length - nShown));
  [...body.rows].forEach((line, i) => {
    line.hidden = i >= nShown || first + i >= shown.length;
    if (line.hidden) return;
    facts.columns.forEach((column, j) => line.cells[j].textContent = line.cells[j].title = textOf(column.cell(shown[first + i])));
  });
}

function makeHead() {
  const head = part("rows").createTHead(), [names, filters] = [head.insertRow(), head.insertRow()];
  part("rows").createTBody();
  for (const column of facts.columns) {
    const longest = (column.distinct ?? ["0.12345678901234567"]).reduce((n, cell) => Math.max(n, textOf(cell).length), 8);
    const header = make("th", {scope: "col", style: `width: ${Math.min(Math.max(longest, column.name.length) + 4, 34)}ch`});
    const button = make("button", {type: "button"}, column.name);
    button.addEventListener("click", () => sortRows(column, header));
    header.append(button);
    names.append(header);
    column.input = make("input", {type: "search", "aria-label": `filter of ${column.name}`, autocomplete: "off"});
    filters.insertCell().append(column.input);
    if (!column.distinct || column.distinct.length > 200) continue;
    const list = make("datalist", {id: `values-of-${column.name}`});
    list.append(...column.distinct.map((cell) => make("option", {value: textOf(cell)})));
    column.input.setAttribute("list", list.id);
    filters.lastChild.append(list);
  }
}

// ---- files, and what starts it all

function save(name, heads, n, lineAt) {
  const quote = (cell) => {
    const text = cell === null || Number.isNaN(cell) ? "" : cell === Infinity ? "inf" : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const parts = [`${heads.map(quote).join(",")}\n`];
  for (let start = 0; start < n; start += 10_000) { // no text of the whole file, which may be longer than texts can be
    const lines = Array.from({length: Math.min(10_000, n - start)}, (_, i) => `${lineAt(start + i).map(quote).join(",")}\n`);
    parts.push(lines.join(""));
  }
  const link = make("a", {href: URL.createObjectURL(new Blob(parts, {type: "text/csv"})), download: name});
  link.click();
  URL.revokeObjectURL(link.href);
}

async function start() {
  await unpack();
  order = new Uint32Array(facts.n).map((_, row) => row);
  makeHead();
  makeBoxes();
  part("explorer").hidden = false;
  filterRows();
  chooseAlong();
}

let waiting; // means of a million rows take longer than a key
part("explorer").addEventListener("input", ({target}) => {
  if (target.type === "checkbox") chooseAlong();
  else if (target.id) showGroups();
  else { filterRows(); clearTimeout(waiting); waiting = setTimeout(showGroups, 200); }
});
part("explorer").addEventListener("reset", () => setTimeout(() => { filterRows(); chooseAlong(); }));
part("explorer").addEventListener("submit", (event) => event.preventDefault());
part("view").addEventListener("scroll", fillRows);
addEventListener("resize", fillRows);
part("save-rows").addEventListener("click", () =>
  save("rows.csv", facts.columns.map(({name}) => name), shown.length, (i) => facts.columns.map((column) => column.cell(shown[i]))));
part("save-groups").addEventListener("click", () => {
  const lines = listGroups(), heads = [...grouped.map(({name}) => name), "n", "without", "mean", "half_of_interval"];
  save("means.csv", heads, lines.length, (i) => lines[i]);
});
start().catch((error) => { part("failed").hidden = false; throw error; });

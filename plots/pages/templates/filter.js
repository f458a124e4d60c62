// The tables show the rows that the form asks for: each choice must be the row's, each word searched for must be in it.
// The address holds what is asked for and how tables are sorted, so that it can be sent: #sign=fails&claims=sign+ascending
const form = document.querySelector(".filter");
const fields = [...form.elements].filter((field) => field.name);
const tables = [...document.querySelectorAll("table.rows")];

function isWanted(row, wanted, words) {
  const text = row.textContent.toLowerCase();
  return wanted.every(([name, value]) => row.dataset[name] === value) && words.every((word) => text.includes(word));
}

function filter() {
  const {text, ...choices} = Object.fromEntries(new FormData(form));
  const wanted = Object.entries(choices).filter(([, value]) => value !== "");
  const words = text.toLowerCase().split(/\s+/);
  const counts = tables.map((table) => {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !isWanted(row, wanted, words);
    return `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${table.dataset.what}`;
  });
  form.querySelector("output").value = counts.join(", ");
}

function writeAddress() {
  const asked = new URLSearchParams(fields.filter((field) => field.value !== "").map((field) => [field.name, field.value]));
  for (const table of tables) {
    const header = table.querySelector("th[aria-sort]");
    if (header) asked.set(table.id, `${header.textContent} ${header.getAttribute("aria-sort")}`);
  }
  history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search);
}

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const field of fields) {
    field.value = asked.get(field.name) ?? "";
    if (field.selectedIndex === -1) field.selectedIndex = 0; // an address of another report
  }
  for (const table of tables) {
    const [, column, order] = (asked.get(table.id) ?? "").match(/^(.+) (ascending|descending)$/) ?? [];
    const header = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === column);
    if (!header) continue;
    header.removeAttribute("aria-sort");
    for (let click = order === "ascending" ? 1 : 2; click > 0; click--) header.querySelector("button").click();
  }
  filter();
}

form.addEventListener("input", () => { filter(); writeAddress(); });
form.addEventListener("submit", (event) => event.preventDefault()); // the Enter key shows nothing else
form.hidden = false;
if (location.hash) readAddress();
else filter(); // a browser that goes back keeps what was chosen
for (const table of tables) table.tHead.addEventListener("click", writeAddress);
window.addEventListener("hashchange", readAddress);

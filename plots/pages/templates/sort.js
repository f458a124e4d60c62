"use strict";
// Every table with a head can be sorted by each of its columns; a page whose script does not run shows the same tables.

const SIGNS = "✓≈◔◐?✗";
const collator = new Intl.Collator("en", {numeric: true});

// What a cell is sorted by, data-key if it has one: [kind, value] with numbers before texts, and nothing where there is none or a dash.
function keyOf(cell) {
  if ("key" in cell.dataset) return cell.dataset.key === "" ? null : [0, Number(cell.dataset.key)];
  const shown = [...cell.childNodes].filter((node) => !["SMALL", "DETAILS"].includes(node.nodeName));
  const text = shown.map((node) => node.textContent).join("").trim();
  if (/^[✓≈◔◐?✗—](\s|$)/.test(text)) return text[0] === "—" ? null : [0, SIGNS.indexOf(text[0])];
  if (text === "") return null;
  if (/^(inf|no noise)/.test(text)) return [0, Infinity];
  const number = text.match(/^[+−-]?[\d,]*\.?\d+(e[+-]?\d+)?(?![\w-])/i);
  return number ? [0, Number(number[0].replaceAll(",", "").replace("−", "-"))] : [1, text];
}

function compare(one, other) {
  if (one[0] !== other[0]) return one[0] - other[0];
  return one[0] ? collator.compare(one[1], other[1]) : one[1] === other[1] ? 0 : one[1] - other[1];
}

function sort(table, column, header) {
  const isDescending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
  rows.sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null); // what is missing stays last
    return isDescending ? compare(other, one) : compare(one, other);
  });
  body.append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(table, column, header));
  });
}

for (const table of document.querySelectorAll("table")) if (table.tHead) makeSortable(table);

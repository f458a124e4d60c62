// The tables show the rows that the form asks for: each choice must be the row's, each word searched for must be in it.
const form = document.querySelector(".filter");
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

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault()); // the Enter key shows nothing else
form.hidden = false;
filter(); // a browser that goes back keeps what was chosen

// The front page's two tables show what its form asks for.
const form = document.querySelector(".filter");

function filter() {
  const wanted = [...new FormData(form)].filter(([, value]) => value !== "");
  for (const output of form.querySelectorAll("output")) {
    const rows = [...document.getElementById(output.dataset.of).tBodies[0].rows];
    for (const row of rows) row.hidden = !wanted.every(([name, value]) => row.dataset[name] === value);
    output.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${output.dataset.what}`;
  }
}

form.addEventListener("change", filter);
form.hidden = false;
filter(); // a browser that goes back keeps what was chosen

// A click on an entry of the legend of a figure hides its line, and the next one shows it again; see plots/style.py, group_line.
for (const drawing of document.querySelectorAll("figure svg")) {
  for (const text of drawing.querySelectorAll('[id*="line-"][id$="-text"]')) {
    const line = text.id.slice(0, -"-text".length);
    const entry = [text, document.getElementById(`${line}-key`)];
    const drawn = [...drawing.querySelectorAll(`[id^="${line}-"]`)].filter((part) => !entry.includes(part));
    const toggle = () => {
      const isShown = text.getAttribute("aria-pressed") === "false";
      text.setAttribute("aria-pressed", isShown);
      for (const part of drawn) part.style.display = isShown ? "" : "none";
      for (const part of entry) part.style.opacity = isShown ? "" : 0.4;
    };
    text.setAttribute("role", "button");
    text.setAttribute("tabindex", "0");
    text.setAttribute("aria-pressed", "true");
    for (const part of entry) {
      part.style.cursor = "pointer";
      part.addEventListener("click", toggle);
    }
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault(); // the blank would scroll
      toggle();
    });
    drawing.setAttribute("role", "group"); // an image has no buttons in it
  }
}

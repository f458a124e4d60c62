// What the address names is opened, and all that it lies in; without a script it is scrolled to.
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = named; part; part = part.parentElement) if (part.nodeName === "DETAILS") part.open = true;
  if (named) named.scrollIntoView();
}

window.addEventListener("hashchange", openNamed);
openNamed();

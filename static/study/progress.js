// The map of progress by arrow keys, as a grid of ARIA: one of its links is reached by Tab, arrows go on from it as
// the map is seen, and Enter opens the link as ever. A row is a question, drawn as a column where there is room.

const grid = (link) => [...link.closest("[role=grid]").querySelectorAll("[role=row]")].map((row) => [...row.children].map((cell) => cell.querySelector("a")));

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function reach(link) {
  for (const cell of link.closest("[role=grid]").querySelectorAll("a")) cell.tabIndex = cell === link ? 0 : -1;
}

function begin() {
  for (const map of document.querySelectorAll(".heat")) {
    const focused = map.querySelector("a:focus");
    map.setAttribute("role", "grid");
    for (const cell of map.querySelectorAll("[role=cell]")) cell.setAttribute("role", "gridcell");
    reach(focused || map.querySelector("a"));
  }
}

document.addEventListener("keydown", (event) => {
  const link = event.target.closest(".heat a");
  if (!link || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = grid(link);
  const at = rows.findIndex((row) => row.includes(link));
  const place = rows[at].indexOf(link);
  const isTurned = getComputedStyle(link.closest(".heat")).display === "flex";
  const isEnd = event.key === "Home" || event.key === "End";
  const [down, right] = STEPS[event.key] ?? (isEnd ? [0, event.key === "Home" ? -1 : 1] : [0, 0]);
  if (!down && !right) return;
  const [byRow, byPlace] = isTurned ? [right, down] : [down, right];
  event.preventDefault();
  let next = link;
  for (let row = at + byRow, cell = place + byPlace; rows[row]?.[cell] !== undefined; row += byRow, cell += byPlace) {
    if (!rows[row][cell]) continue; // not theirs: nothing to open
    next = rows[row][cell];
    if (!isEnd) break;
  }
  reach(next);
  next.focus();
});

document.addEventListener("focusin", ({ target }) => target.closest(".heat a") && reach(target));
document.addEventListener("htmx:after:swap", begin);
begin();

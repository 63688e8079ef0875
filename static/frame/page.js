// What every page does beyond its forms: the theme, explanations, notices, the drop zone.

import { find, findAll } from "./elements.js";
import { recall, remember } from "./memory.js";

const HOVER = 250;

// ---- light or dark ----------------------------------------------------------------------

const themes = find("#theme");
if (themes) {
  themes.hidden = false;
  showTheme(recall("theme") || "auto");
  themes.addEventListener("click", ({ target }) => target.value && showTheme(target.value));
}

function showTheme(theme) {
  remember("theme", theme === "auto" ? "" : theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of findAll("button", themes)) button.setAttribute("aria-pressed", button.value === theme);
}

// ---- menus, kept on the screen, closed by a click elsewhere and by Escape -------------------

const openMenus = (place) => findAll("details.menu[open]").filter((menu) => !menu.contains(place));

document.addEventListener("click", ({ target }) => openMenus(target).forEach((menu) => (menu.open = false)));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus(null)) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

function keepOnScreen(list) {
  list.style.translate = "";
  const { left, right } = list.getBoundingClientRect();
  const fromStart = Math.max(8 - left, 0);
  const fromEnd = Math.min(document.documentElement.clientWidth - 8 - right, 0);
  list.style.translate = `${fromStart || fromEnd}px`;
}

document.addEventListener("toggle", ({ target }) => target.matches("details.menu[open]") && keepOnScreen(target.querySelector(".pop")), true);

// ---- explanations, on hover, focus and tap ----------------------------------------------

let timer = 0;

function explain(trigger) {
  const about = document.getElementById(trigger.getAttribute("popovertarget"));
  if (!about || about.matches(":popover-open")) return;
  about.classList.add("placed");
  about.showPopover();
  const box = trigger.getBoundingClientRect();
  const below = box.bottom + 6;
  const fits = below + about.offsetHeight <= innerHeight;
  const top = fits ? below : Math.max(8, box.top - about.offsetHeight - 6);
  const left = Math.min(box.left, innerWidth - about.offsetWidth - 16);
  Object.assign(about.style, { top: `${top}px`, left: `${Math.max(8, left)}px` });
}

function later(trigger) {
  clearTimeout(timer);
  timer = setTimeout(() => explain(trigger), HOVER);
}

document.addEventListener("pointerover", ({ target, pointerType }) => {
  const trigger = target.closest("[popovertarget]");
  if (pointerType === "mouse" && trigger) later(trigger);
  else if (pointerType === "mouse" && !target.closest("[popover]")) {
    clearTimeout(timer);
    timer = setTimeout(hide, HOVER);
  } else clearTimeout(timer);
});

document.addEventListener("focusin", ({ target }) => {
  if (target.matches("[popovertarget]:focus-visible")) explain(target);
  else if (!target.closest("[popover]")) hide();
});

document.addEventListener("click", (event) => {
  const trigger = event.target.closest("[popovertarget]");
  if (trigger) {
    event.preventDefault();
    clearTimeout(timer);
    explain(trigger);
  }
  if (event.target.closest("[data-dismiss]")) event.target.closest(".notice").remove();
});

function hide() {
  find("[popover]:popover-open")?.hidePopover();
}

// ---- files chosen, or dropped on the page -----------------------------------------------

document.addEventListener("change", ({ target }) => {
  const chosen = target.type === "file" && find(".chosen", target.parentElement);
  if (chosen) nameFiles(chosen, target);
  if (target.type === "file") goOn(target);
});

function nameFiles(chosen, { files }) {
  chosen.dataset.none ??= chosen.textContent;
  const names = Array.from(files, ({ name }) => name);
  chosen.textContent = names.length > 3 ? `${names.slice(0, 3).join(", ")}, …` : names.join(", ") || chosen.dataset.none;
}

function goOn(field) {
  if (field.files.length) field.closest("[data-drop]")?.requestSubmit();
}

document.addEventListener("click", ({ target }) => {
  if (target.matches("[data-drop] input[type=file]")) target.value = ""; // to choose the same again
});

for (const name of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    const drop = event.target.closest?.("[data-drop]");
    if (!drop) return;
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name !== "drop") return;
    const field = find("input[type=file]", drop);
    field.files = event.dataTransfer.files;
    goOn(field);
  });
}

// The keys of the pages on which people judge: verdicts, and the ways through places and pages.

const [FORTH, BACK] = document.dir === "rtl" ? ["arrowleft", "arrowright"] : ["arrowright", "arrowleft"];

export const DECIDED = { y: "1", v: "1", t: "0", x: "0" };
export const REPEATING = ["j", "k", "arrowdown", "arrowup"];

/** Return what each key does that leads on, back or to the next open one, or takes back. */
export function walking({ step, follow, undo }) {
  return {
    j: () => step(1),
    k: () => step(-1),
    arrowdown: () => step(1),
    arrowup: () => step(-1),
    [FORTH]: () => follow('[rel="next"]'),
    [BACK]: () => follow('[rel="prev"]'),
    l: () => follow('[rel="next"]'),
    p: () => follow('[rel="prev"]'),
    g: () => follow("[data-jump]"),
    u: undo,
  };
}

/** Return whether a key is a grade from 0 to 5. */
export const isGrade = (key) => /^[0-5]$/.test(key);

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

/**
 * Return the key that was pressed, by the place of the key where a layout has other signs there: a
 * digit also where it needs Shift, a letter also where the alphabet is not Latin.
 */
export function keyOf({ key, code = "", shiftKey }) {
  const [, digit, letter] = /^(?:(?:Digit|Numpad)([0-6])|Key([A-Z]))$/.exec(code) ?? [];
  if (digit && !/^[a-z?]$/i.test(key) && !(shiftKey && /^[0-9]$/.test(key))) return digit;
  return (letter && !/^(?:[ -~]|\p{Script=Latin})$/u.test(key) ? letter : key).toLowerCase();
}

/** Return whether a key is a grade from 0 to 5. */
export const isGrade = (key) => /^[0-5]$/.test(key);

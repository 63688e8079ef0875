// What this browser keeps for the reader; for as long as the page lives where it keeps nothing.

const memory = new Map();

export function recall(name) {
  try {
    return localStorage.getItem(name) ?? memory.get(name);
  } catch {
    return memory.get(name);
  }
}

export function remember(name, value) {
  memory.set(name, String(value));
  try {
    localStorage.setItem(name, value);
  } catch {
    // a private window: the memory above has it
  }
}

export function forget(name) {
  memory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // there is nothing to forget
  }
}

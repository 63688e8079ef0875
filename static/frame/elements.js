// Elements of the page by their selectors.

/** Return the first element within another; null without any. */
export const find = (selector, within = document) => within.querySelector(selector);

/** Return every element within another. */
export const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

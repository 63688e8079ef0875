// Keys pressed before the module of the page listens: it takes them when it runs, once.
{
  const keys = [];
  const note = (event) => keys.push(event);
  addEventListener("keydown", note);
  window.takeEarlyKeys = () => {
    removeEventListener("keydown", note);
    return keys.splice(0);
  };
}

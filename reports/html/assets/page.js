"use strict";
/* Starts what the page has; a link unfolds where it leads; printing shows what is folded. */
addEventListener("DOMContentLoaded", () => {
  tables.start();
  curves.start(JSON.parse(document.getElementById("data").textContent).curves);
  const unfold = () => {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
});

"use strict";
/* Starts what the page has; printing shows what is folded. */
addEventListener("DOMContentLoaded", () => {
  tables.start();
  curves.start(JSON.parse(document.getElementById("data").textContent).curves);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
});

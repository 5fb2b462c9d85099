"use strict";
/* Starts tables and curves; copies commands, saves pictures; a link unfolds its target; printing unfolds everything. */
/* An inline picture as an address of its own, with the styles that it has here. */
function address(svg) {
  const copy = svg.cloneNode(true), drawn = svg.querySelectorAll("*");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.querySelectorAll("*").forEach((node, index) => {
    const style = getComputedStyle(drawn[index]);
    for (const name of ["fill", "stroke", "stroke-width", "paint-order", "font-size", "font-family", "font-weight", "text-anchor"])
      node.setAttribute(name, style.getPropertyValue(name));
  });
  return "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
}
addEventListener("DOMContentLoaded", () => {
  tables.start();
  curves.start(JSON.parse(document.getElementById("data").textContent).curves);
  for (const code of document.querySelectorAll("code.command")) {
    const button = tables.make("button", { type: "button", class: "copy", title: "copy the command" }, "copy");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    code.after(button);
  }
  for (const picture of document.querySelectorAll("figure svg.forest, figure img")) {
    const button = tables.make("button", { type: "button", class: "save" }, "save picture");
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      const svg = picture.matches("svg");
      link.download = `${picture.dataset.name ?? "forest"}.${svg || picture.src.includes("svg+xml") ? "svg" : "png"}`;
      link.href = svg ? address(picture) : picture.src;
      link.click();
    });
    picture.after(button);
  }
  const unfold = () => {
    const target = location.hash.length > 1 ? document.getElementById(decodeURI(location.hash.slice(1))) : null;
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

"use strict";
/* Tables: a click on a heading sorts, typing filters, a row's name opens its details. */
const tables = (() => {
  const FILTERED_FROM = 8;
  const make = (name, attributes = {}, ...inside) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...inside);
    return node;
  };
  const text = (cell) => (cell.querySelector(".verdict") ?? cell).textContent.trim();

  const rowsOf = (table) => [...table.tBodies[0].rows].filter((row) => !row.classList.contains("detail"));
  const detailOf = (row) => row.nextElementSibling?.classList.contains("detail") ? row.nextElementSibling : null;

  const compare = (one, other) => {
    if (one === "" || other === "") return one === other ? 0 : one === "" ? Infinity : -Infinity;
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), "en", { numeric: true });
  };
  const keyOf = (cell) => {
    const given = cell.dataset.v;
    return given === undefined ? text(cell) : given === "" ? "" : Number(given);
  };

  function sort(table, index, direction) {
    const sign = direction === "descending" ? -1 : 1;
    const keyed = rowsOf(table).map((row) => [keyOf(row.cells[index]), row, detailOf(row)]);
    keyed.sort(([one], [other]) => {
      const order = compare(one, other);
      return Number.isFinite(order) ? sign * order : Math.sign(order);  // missing values are last either way
    });
    table.tBodies[0].append(...keyed.flatMap(([, row, detail]) => (detail ? [row, detail] : [row])));
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (at === index) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    });
  }

  function sortable(table) {
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      const button = make("button", { type: "button", title: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      head.addEventListener("click", () =>
        sort(table, index, head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending"));
    });
  }

  function filterable(table) {
    const rows = rowsOf(table);
    if (rows.length < FILTERED_FROM) return;
    const count = make("output");
    const search = make("input", { type: "search", placeholder: "text in any column" });
    const bar = make("div", { class: "filters" }, make("label", {}, "filter ", search));
    const facets = [facet(rows, ".verdict", "verdict", bar), ...[...table.tHead.querySelectorAll("[data-facet]")].map(
      (title) => facet(rows, `[data-key="${title.dataset.facet}"]`, title.textContent, bar))].filter(Boolean);
    bar.append(count);
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const detail = detailOf(row);
        const visible = row.textContent.toLowerCase();
        const fits = words.every((word) => visible.includes(word)) && facets.every((fitting) => fitting(row));
        row.hidden = !fits;
        if (detail) detail.hidden = !fits || row.querySelector("button.more").ariaExpanded !== "true";
        shown += fits;
      }
      count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
    };
    bar.addEventListener("input", apply);
    apply();
    table.parentElement.before(bar);
  }

  function facet(rows, selector, title, bar) {
    const kind = (row) => (row.querySelector(selector)?.textContent ?? "").split(/[:;]| \(/)[0].trim();
    const kinds = [...new Set(rows.map(kind))].filter(Boolean).sort();
    if (kinds.length < 2 || kinds.length > 40) return null;
    const select = make("select", {}, make("option", { value: "" }, "all"));
    for (const value of kinds) select.append(make("option", { value }, value));
    bar.append(make("label", {}, `${title} `, select));
    return (row) => !select.value || kind(row) === select.value;
  }

  function details(table) {
    for (const row of rowsOf(table)) {
      const detail = detailOf(row), button = row.querySelector("button.more");
      if (!detail || !button) continue;
      const open = (yes) => {
        button.setAttribute("aria-expanded", String(yes));
        detail.hidden = !yes;
      };
      open(false);
      button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
    }
  }

  function start() {
    for (const table of document.querySelectorAll("table.sortable")) {
      details(table);
      if (rowsOf(table).length > 1) sortable(table);
      filterable(table);
    }
  }
  return { start, make };
})();

"use strict";
/* Curves: a thin line a seed, a thick one an arm; drag to zoom, press twice to see all; below them paired differences. */
const curves = (() => {
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "ink", "#8c6d1f"];
  const DASHES = [[], [8, 4], [2, 4], [8, 3, 2, 3]];
  const make = (...all) => tables.make(...all);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (index) => {
    const found = COLOURS[index % COLOURS.length];
    return found === "ink" ? css("--ink") : found;
  };
  const dash = (index) => DASHES[Math.floor(index / COLOURS.length) % DASHES.length];
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4);
  const number = (value) => String(+value.toPrecision(6)).replace("-", "−");
  const samples = (value) => (value >= 1e6 ? `${number(value / 1e6)}M` : value >= 1e3 ? `${number(value / 1e3)}k` : String(value));
  const button = (label, act, attributes = {}) => {
    const node = make("button", { type: "button", ...attributes }, label);
    node.addEventListener("click", act);
    return node;
  };

  function draw(place, study) {
    const differences = study.differences.filter((each) => each.mean.some((value) => value !== null) || each.tested);
    const end = study.total * (differences.length ? 1.02 + 0.03 * differences.length : 1.02);
    const whole = { min: 0, max: end };
    const plots = [], hidden = { arms: new Set(), differences: new Set() };
    const readout = make("p", { class: "readout" });

    const everywhere = (range) => {
      const min = Math.max(0, range.min), max = Math.min(end, range.max);
      for (const plot of plots) plot.setScale("x", { min, max });
      place.dataset.view = `${Math.round(min)} ${Math.round(max)}`;
    };
    const inView = (u) => [u.scales.x.min ?? 0, u.scales.x.max ?? end];
    const zoom = (factor) => {
      const [min, max] = inView(plots[0]), middle = (min + max) / 2, half = ((max - min) / 2) * factor;
      everywhere({ min: middle - half, max: middle + half });
    };
    const move = (share) => {
      const [min, max] = inView(plots[0]);
      const by = Math.max(-min, Math.min(end - max, (max - min) * share));
      everywhere({ min: min + by, max: max + by });
    };

    const axes = (label) => [
      { stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line") },
        filter: (u, ticks) => ticks.map((tick) => (tick > study.total ? null : tick)), values: (u, ticks) => ticks.map((tick) => (tick === null ? "" : samples(tick))), label: "samples", labelSize: 20, size: 34, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" },
      { stroke: () => css("--ink"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line") },
        values: (u, ticks) => ticks.map(number), label, labelSize: 20, size: 56, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" },
    ];
    const options = (label, series, range, paint, bands = []) => ({
      width: 600, height: 300, series, bands, legend: { show: false }, axes: axes(label),
      scales: { x: { time: false, range: (u, min, max) => [min ?? 0, max ?? end] }, y: { range } },
      cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: study.id }, points: { show: false } },
      hooks: {
        draw: [paint],
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          const min = u.posToVal(u.select.left, "x"), max = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          everywhere({ min, max });
        }],
        setCursor: [(u) => read(u.cursor.idx)],
        ready: [(u) => u.over.addEventListener("dblclick", () => everywhere(whole))],
      },
    });

    const read = (index) => {
      if (index === null || index === undefined) return;
      const told = study.arms.flatMap((arm, at) => arm.thin || hidden.arms.has(at) || arm.mean[index] === null ? [] : [`${arm.label} ${arm.mean[index].toFixed(4)}`]);
      const apart = differences.flatMap((each, at) => hidden.differences.has(at) || each.mean[index] === null || each.mean[index] === undefined ? [] : [`Δ ${each.label} ${signed(each.mean[index])}`]);
      readout.textContent = `at ${study.samples[index].toLocaleString("en")} samples: ${[...told, ...apart].join("; ")}`;
    };

    // Loss: seeds, then means above them.
    const lines = [], data = [study.samples];
    study.arms.forEach((arm, at) => {
      if (!arm.thin) for (const seed of arm.seeds) lines.push({ at, width: 0.8, alpha: 0.5, values: seed });
    });
    study.arms.forEach((arm, at) => lines.push({ at, width: arm.thin ? 0.8 : 2.4, alpha: arm.thin ? 0.6 : 1, values: arm.mean }));
    const upper = [{}];
    for (const { at, width, alpha, values } of lines) {
      const thin = study.arms[at].thin;
      upper.push({ stroke: () => (thin ? css("--soft") : colour(at)), width, alpha, dash: thin ? [] : dash(at), spanGaps: true, points: { show: values.filter((value) => value !== null).length === 1, size: 6 } });
      data.push(values);
    }
    const top = (u, low, high) => {
      if (low === null) return [0, 1];
      const most = low < study.uniform ? Math.min(high, study.uniform) : high;
      const room = (most - low || 0.1) * 0.05;
      return [low - room, most + room];
    };
    const marks = (u) => {
      const { ctx } = u, ratio = devicePixelRatio || 1, { left, top: edge, width } = u.bbox;
      const y = u.valToPos(study.uniform, "y", true);
      ctx.save();
      if (y >= edge && y <= edge + u.bbox.height) {
        ctx.strokeStyle = ctx.fillStyle = css("--soft");
        ctx.setLineDash([5 * ratio, 4 * ratio]);
        ctx.beginPath();
        ctx.moveTo(left, y);
        ctx.lineTo(left + width, y);
        ctx.stroke();
        ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        ctx.textAlign = "right";
        ctx.fillText(`uniform ${study.uniform.toFixed(2)}`, left + width - 4 * ratio, y + 13 * ratio);
      }
      const [min, max] = inView(u), most = u.scales.y.max;
      for (const { at, values } of lines) {
        if (hidden.arms.has(at)) continue;
        ctx.fillStyle = study.arms[at].thin ? css("--soft") : colour(at);
        values.forEach((value, index) => {
          const count = study.samples[index];
          if (value === null || value <= most || count < min || count > max) return;
          const x = u.valToPos(count, "x", true);
          ctx.beginPath();
          ctx.moveTo(x, edge);
          ctx.lineTo(x - 4 * ratio, edge + 7 * ratio);
          ctx.lineTo(x + 4 * ratio, edge + 7 * ratio);
          ctx.fill();
        });
      }
      ctx.restore();
    };

    // Differences: a mean with its band each, the tested effect right of the last sample.
    const below = [{}], apart = [study.samples], bands = [];
    differences.forEach((each, at) => {
      const style = { stroke: () => colour(at + 1), dash: dash(at + 1), spanGaps: true, points: { show: false } };
      const empty = study.samples.map(() => null);
      const whole = [each.mean, each.low, each.high].map((values) => (values.length ? values : empty));
      below.push({ ...style, width: 2 }, { ...style, width: 0 }, { ...style, width: 0 });
      const place = below.length - 3;
      bands.push({ series: [place + 2, place + 1], fill: () => faint(colour(at + 1)) });
      apart.push(...whole);
    });
    const faint = (shade) => `${shade}30`;
    const around = (u) => {
      const [min, max] = inView(u), late = min <= 0 && max >= study.total ? study.total / 2 : min;
      const seen = [0];
      differences.forEach((each, at) => {
        if (hidden.differences.has(at)) return;
        study.samples.forEach((count, index) => {
          if (count >= late && count <= max) for (const values of [each.mean, each.low, each.high]) if (values[index] !== null && values[index] !== undefined) seen.push(values[index]);
        });
        if (each.tested && max > study.total) seen.push(...each.tested.filter((value) => value !== null));
      });
      const low = Math.min(...seen), high = Math.max(...seen), room = (high - low || 0.1) * 0.08;
      return [low - room, high + room];
    };
    const tested = (u) => {
      const { ctx } = u, ratio = devicePixelRatio || 1, { left, width } = u.bbox;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, u.bbox.top, width, u.bbox.height);
      ctx.clip();
      ctx.strokeStyle = css("--soft");
      ctx.lineWidth = ratio;
      const zero = u.valToPos(0, "y", true), last = u.valToPos(study.total, "x", true);
      ctx.beginPath();
      ctx.moveTo(left, zero);
      ctx.lineTo(left + width, zero);
      ctx.moveTo(last, u.bbox.top);
      ctx.lineTo(last, u.bbox.top + u.bbox.height);
      ctx.stroke();
      differences.forEach((each, at) => {
        if (!each.tested || hidden.differences.has(at)) return;
        const [delta, low, high] = each.tested, x = u.valToPos(study.total * (1.015 + 0.03 * at), "x", true);
        ctx.strokeStyle = ctx.fillStyle = colour(at + 1);
        ctx.lineWidth = 2 * ratio;
        if (low !== null) {
          ctx.beginPath();
          ctx.moveTo(x, u.valToPos(low, "y", true));
          ctx.lineTo(x, u.valToPos(high, "y", true));
          ctx.stroke();
        }
        ctx.beginPath();
        ctx.arc(x, u.valToPos(delta, "y", true), 4 * ratio, 0, 2 * Math.PI);
        ctx.fill();
      });
      ctx.restore();
    };

    const legend = (names, kind, label) => {
      const group = make("div", { class: "legend", role: "group", "aria-label": label });
      names.forEach(([at, name, shade]) => {
        const swatch = make("span", { class: "swatch" });
        swatch.style.borderTopColor = shade;
        const each = button("", () => {
          const now = hidden[kind].has(at);
          hidden[kind][now ? "delete" : "add"](at);
          each.setAttribute("aria-pressed", String(now));
          show();
        }, { "aria-pressed": "true" });
        each.append(swatch, name);
        group.append(each);
      });
      return group;
    };
    const show = () => {
      lines.forEach(({ at }, index) => plots[0].setSeries(index + 1, { show: !hidden.arms.has(at) }));
      if (plots[1]) differences.forEach((each, at) => [1, 2, 3].forEach((part) => plots[1].setSeries(3 * at + part, { show: !hidden.differences.has(at) })));
      for (const plot of plots) plot.redraw();
    };

    const tools = make("div", { class: "tools", role: "group", "aria-label": "zoom" },
      button("all samples", () => everywhere(whole)), button("last half", () => everywhere({ min: study.total / 2, max: end })),
      button("zoom in", () => zoom(0.5)), button("zoom out", () => zoom(2)),
      button("◀", () => move(-0.5), { "aria-label": "earlier" }), button("▶", () => move(0.5), { "aria-label": "later" }),
      make("span", { class: "note" }, "or drag over a curve; press it twice to see all"));
    const named = study.arms.flatMap((arm, at) => (arm.thin ? [] : [[at, arm.label, colour(at)]]));
    const holders = [make("div", { class: "plot" }), make("div", { class: "plot" })];
    place.replaceChildren(tools, legend(named, "arms", "arms"), holders[0]);
    const count = study.arms.filter((arm) => arm.thin).length;
    if (count) place.append(make("p", { class: "note" }, `Grey: means of the ${count} other arms.`));
    plots.push(new uPlot(options("validation nats", upper, top, marks), data, holders[0]));
    if (differences.length) {
      place.append(readout, legend(differences.map((each, at) => [at, `${each.label}: with − without`, colour(at + 1)]), "differences", "differences"), holders[1]);
      plots.push(new uPlot(options("Δ nats", below, around, tested, bands), apart, holders[1]));
    } else {
      place.append(readout);
    }
    const fit = () => {
      const width = Math.max(240, place.clientWidth);
      plots.forEach((plot, at) => plot.setSize({ width, height: Math.round(Math.min(width * 0.75, at ? 240 : 340)) }));
    };
    fit();
    everywhere(whole);
    const watch = new ResizeObserver(fit);
    watch.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)"), repaint = () => plots.forEach((plot) => plot.redraw());
    dark.addEventListener("change", repaint);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", repaint);
      plots.forEach((plot) => plot.destroy());
    };
  }

  function start(studies) {
    const place = document.querySelector(".charts");
    if (!place || !studies.length) return;
    place.hidden = false;
    const inner = make("div");
    let end = null;
    const choose = (index) => {
      end?.();
      end = draw(inner, studies[index]);
    };
    if (studies.length > 1) {
      const select = make("select", { "aria-label": "study" });
      studies.forEach((study, index) => select.append(make("option", { value: index }, `${study.title} (${study.id})`)));
      select.addEventListener("change", () => choose(Number(select.value)));
      place.append(make("div", { class: "tools" }, make("label", {}, "study ", select)));
    }
    place.append(inner);
    choose(0);
  }
  return { start };
})();

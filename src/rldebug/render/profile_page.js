// Draws the flame graph, the iteration and the curves. Names are the user's: they become text, never HTML.
(() => {
  const { parts, flame, iteration, charts } = JSON.parse(document.getElementById("timing").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;

  const tell = (event, lines) => {
    tip.replaceChildren(...lines.filter(Boolean).map((line, i) => Object.assign(document.createElement(i ? "div" : "b"), { textContent: line })));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  };
  const hush = () => { tip.hidden = true; };
  const digits = (number) => (Math.abs(number) >= 1000 ? Math.round(number).toLocaleString("en").replaceAll(",", " ") : String(Number(number.toPrecision(3))));
  const time = (seconds) => {
    for (const [unit, scale] of [["s", 1], ["ms", 1e3], ["µs", 1e6]]) if (seconds * scale >= 0.9995) return `${digits(seconds * scale)} ${unit}`;
    return seconds > 0 ? `${digits(seconds * 1e9)} ns` : "0 s";
  };
  const bytes = (number) => {
    for (const [unit, scale] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) if (number >= scale) return `${digits(number / scale)} ${unit}`;
    return `${Math.round(number)} B`;
  };
  const tint = (element, part) => {
    const [, hue, saturation] = parts[part] ?? ["", 210, 8];
    element.style.setProperty("--h", hue);
    element.style.setProperty("--s", `${saturation}%`);
    return element;
  };
  const shape = (parent, kind, attributes, name = "") => {
    const made = parent.appendChild(document.createElementNS(SVG, kind));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (name) made.setAttribute("class", name);
    return made;
  };
  const words = (parent, x, y, text, name = "", anchor = "start") => {
    shape(parent, "text", { x, y, "text-anchor": anchor }, name).textContent = text;
  };
  const redrawn = (element, draw) => {
    let before = 0;
    new ResizeObserver(() => {
      if (element.clientWidth && element.clientWidth !== before) draw((before = element.clientWidth));
    }).observe(element);
  };
  const ticks = (high, wanted = 5, base = 10) => {
    const rough = high / wanted, power = base ** Math.floor(Math.log(rough) / Math.log(base));
    const step = (base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]).find((each) => each * power >= rough) * power;
    return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
  };

  // ── flame graph: the outermost call on top, width is time ─────────────────────────────────────────────────────────
  const stage = document.getElementById("flame");
  if (stage && flame) {
    const ROW = 21;
    const said = document.getElementById("flame-said"), search = document.getElementById("flame-search");
    const whole = document.getElementById("flame-whole");
    const read = ([frame, seconds, part, below], above) => {
      const [name, place, user] = flame.frames[frame];
      const node = { name, place, user, seconds, part, above, depth: above ? above.depth + 1 : 0 };
      node.below = below.map((each) => read(each, node));
      return node;
    };
    const root = read(flame.tree, null);
    let focus = root, wanted = "";
    const hit = (node) => wanted !== "" && `${node.name} ${node.place}`.toLowerCase().includes(wanted);
    const found = (node) => (hit(node) ? node.seconds : node.below.reduce((sum, each) => sum + found(each), 0));
    const share = (seconds) => `${time(seconds)}, ${(100 * seconds / root.seconds).toFixed(1)} %`;
    const go = (node) => { focus = node; hush(); draw(stage.clientWidth); };
    const draw = (width) => {
      const cells = [];
      let deepest = 0;
      const cell = (node, x, w) => {
        deepest = Math.max(deepest, node.depth);
        const made = tint(document.createElement("div"), node.part);
        made.className = `cell${node.user ? " user" : ""}${node.depth < focus.depth ? " above" : ""}${hit(node) ? " hit" : wanted ? " missed" : ""}`;
        made.style.cssText += `left:${x}px;top:${node.depth * ROW}px;width:${Math.max(w - 1, 0.5)}px`;
        if (w > 24) made.textContent = node.name;
        made.addEventListener("pointermove", (event) => tell(event, [
          node.name, node.place, share(node.seconds), parts[node.part]?.[0] ?? (node.above ? "several parts" : ""),
        ]));
        made.addEventListener("pointerleave", hush);
        made.addEventListener("click", () => go(node));
        cells.push(made);
      };
      const spread = (node, x, scale) => {
        cell(node, x, node.seconds * scale);
        for (const each of node.below) {
          if (each.seconds * scale >= 0.7) spread(each, x, scale);
          x += each.seconds * scale;
        }
      };
      for (let node = focus.above; node; node = node.above) cell(node, 0, width);
      spread(focus, 0, width / focus.seconds);
      stage.replaceChildren(...cells);
      stage.style.height = `${(deepest + 1) * ROW}px`;
      whole.disabled = focus === root;
      said.textContent = wanted ? `found in ${share(found(root))}` : `${focus === root ? "all of it" : focus.name}: ${share(focus.seconds)}`;
    };
    search.addEventListener("input", () => { wanted = search.value.trim().toLowerCase(); draw(stage.clientWidth); });
    whole.addEventListener("click", () => go(root));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && focus !== root) go(root); });
    redrawn(stage, draw);
  }

  // ── one iteration: a row for each part, what happened below ───────────────────────────────────────────────────────
  const strip = document.getElementById("iteration");
  if (strip && iteration) {
    const { moments, places, events, seconds } = iteration;
    const whole = document.getElementById("iteration-whole");
    const spent = new Map();
    for (const [, took, place] of moments) spent.set(places[place][0], (spent.get(places[place][0]) ?? 0) + took);
    const order = [...spent.keys()].sort((a, b) => spent.get(b) - spent.get(a));
    const kinds = ["step", "reset", "backward", "update"].filter((kind) => events.some((each) => each[1] === kind));
    const LEFT = 118, TOP = 22, ROW = 17, GAP = 8;
    let from = 0, to = seconds;
    const draw = (width) => {
      const height = TOP + ROW + GAP + order.length * ROW + GAP + kinds.length * 13 + 22;
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("height", height);
      svg.setAttribute("width", width);
      const scale = (width - LEFT - 4) / (to - from), x = (at) => LEFT + (at - from) * scale;
      const firstEvent = TOP + ROW + GAP + order.length * ROW + GAP;
      words(svg, LEFT - 8, TOP + 12, "all", "label", "end");
      order.forEach((part, row) => words(svg, LEFT - 8, TOP + ROW + GAP + row * ROW + 12, parts[part]?.[0] ?? "other", "label", "end"));
      kinds.forEach((kind, row) => words(svg, LEFT - 8, firstEvent + row * 13 + 10, kind, "label", "end"));
      for (const at of ticks(to - from, 8)) {
        shape(svg, "line", { x1: x(from + at), x2: x(from + at), y1: TOP - 4, y2: height - 18 }, "grid");
        words(svg, x(from + at) + 3, TOP - 8, time(from + at), "tick");
      }
      for (const [at, took, place] of moments) {
        if (at + took < from || at > to) continue;
        const left = Math.max(x(at), LEFT), w = Math.max(Math.min(x(at + took), width - 4) - left, 0.6);
        const row = order.indexOf(places[place][0]);
        tint(shape(svg, "rect", { x: left, y: TOP, width: w, height: ROW - 2 }, "piece"), places[place][0]);
        tint(shape(svg, "rect", { x: left, y: TOP + ROW + GAP + row * ROW, width: w, height: ROW - 3 }, "piece"), places[place][0]);
      }
      for (const [at, kind] of events) {
        if (at < from || at > to || !kinds.includes(kind)) continue;
        const y = firstEvent + kinds.indexOf(kind) * 13;
        shape(svg, "line", { x1: x(at), x2: x(at), y1: y, y2: y + 11 }, "event");
      }
      const chosen = shape(svg, "rect", { x: 0, y: TOP, width: 0, height: height - TOP - 18 }, "chosen");
      const at = (event) => Math.min(Math.max(from + (event.clientX - svg.getBoundingClientRect().left - LEFT) / scale, from), to);
      let began = null;
      svg.addEventListener("pointerdown", (event) => { began = at(event); svg.setPointerCapture(event.pointerId); });
      svg.addEventListener("pointermove", (event) => {
        const now = at(event);
        if (began !== null) {
          chosen.setAttribute("x", x(Math.min(began, now)));
          chosen.setAttribute("width", Math.abs(now - began) * scale);
        }
        let low = 0, high = moments.length - 1;
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          if (moments[middle][0] <= now) low = middle; else high = middle - 1;
        }
        const [when, took, place] = moments[low], [part, line, called] = places[place];
        const recent = events.filter((each) => each[0] <= now).pop();
        tell(event, [parts[part]?.[0] ?? "other", line, called && `calls ${called}`, `${time(took)}, from ${time(when)} on`, recent && `last: ${recent[1]}`]);
      });
      svg.addEventListener("pointerup", (event) => {
        const now = at(event), [a, b] = [Math.min(began ?? now, now), Math.max(began ?? now, now)];
        began = null;
        chosen.setAttribute("width", 0);
        if ((b - a) * scale > 6) zoom(a, b);
      });
      svg.addEventListener("pointerleave", hush);
      svg.addEventListener("dblclick", () => zoom(0, seconds));
      whole.disabled = from === 0 && to === seconds;
      strip.replaceChildren(svg);
    };
    const zoom = (a, b) => { [from, to] = [a, b]; draw(strip.clientWidth); };
    whole.addEventListener("click", () => zoom(0, seconds));
    redrawn(strip, draw);
  }

  // ── curves over the run ───────────────────────────────────────────────────────────────────────────────────────────
  document.querySelectorAll("[data-curves]").forEach((element) => {
    const { unit, x: times, series, stacked } = charts[Number(element.dataset.curves)];
    const written = (value) => (value === null ? "–" : unit === "bytes" ? bytes(value) : `${digits(value)}${unit[0] === "/" ? "" : " "}${unit}`);
    const colour = (made, i) => {
      const part = stacked ? parts.findIndex(([name]) => name === series[i].name) : -1;
      if (part >= 0) return tint(made, part);
      made.style.setProperty("--h", [212, 32, 150][i % 3]);
      made.style.setProperty("--s", "62%");
      return made;
    };
    const sums = times.map((_, i) => series.reduce((sum, each) => sum + (each.y[i] ?? 0), 0));
    const top = unit === "%" ? Math.max(100, ...(stacked ? sums : [])) : Math.max(...series.flatMap((each) => each.y.filter((y) => y !== null)), 1e-9) * 1.05;
    redrawn(element, (width) => {
      const height = element.clientHeight, LEFT = 64, BOTTOM = height - 18;
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      const last = times[times.length - 1] || 1;
      const x = (at) => LEFT + (at / last) * (width - LEFT - 8), y = (value) => BOTTOM - (value / top) * (BOTTOM - 8);
      for (const value of ticks(top, 3, unit === "bytes" ? 1024 : 10)) {
        shape(svg, "line", { x1: LEFT, x2: width - 8, y1: y(value), y2: y(value) }, "grid");
        words(svg, LEFT - 6, y(value) + 4, unit === "bytes" ? bytes(value) : digits(value), "tick", "end");
      }
      for (const at of ticks(last, Math.max(2, width / 130))) words(svg, x(at), height - 4, time(at), "tick", x(at) > width - 30 ? "end" : "middle");
      const under = times.map(() => 0);
      series.forEach((each, i) => {
        if (stacked) {
          each.y.forEach((value, k) => {
            if (!value) return;
            const left = k ? x(times[k - 1]) : LEFT;
            colour(shape(svg, "rect", { x: left, width: Math.max(x(times[k]) - left + 0.3, 0.5), y: y(under[k] + value), height: Math.max(y(under[k]) - y(under[k] + value), 0) }, "piece"), i);
            under[k] += value;
          });
          return;
        }
        let path = "", joined = false;
        each.y.forEach((value, k) => {
          if (value !== null) path += `${joined ? "L" : "M"}${x(times[k]).toFixed(1)} ${y(value).toFixed(1)}`;
          joined = value !== null;
        });
        colour(shape(svg, "path", { d: path }, "curve"), i);
        each.y.forEach((value, k) => { // a reading with none beside it has no line
          if (value !== null && each.y[k - 1] == null && each.y[k + 1] == null) colour(shape(svg, "circle", { cx: x(times[k]), cy: y(value), r: 2 }, "point"), i);
        });
      });
      const rule = shape(svg, "line", { x1: -9, x2: -9, y1: 4, y2: BOTTOM }, "event");
      svg.addEventListener("pointermove", (event) => {
        const at = ((event.clientX - svg.getBoundingClientRect().left - LEFT) / (width - LEFT - 8)) * last;
        const found = times.findIndex((each) => each >= at), k = found < 0 ? times.length - 1 : found;
        for (const end of ["x1", "x2"]) rule.setAttribute(end, x(times[k]));
        tell(event, [`at ${time(times[k])}`, ...series.filter((each) => !stacked || each.y[k] >= 0.5).map((each) => `${each.name}: ${written(each.y[k])}`)]);
      });
      svg.addEventListener("pointerleave", () => { hush(); for (const end of ["x1", "x2"]) rule.setAttribute(end, -9); });
      element.replaceChildren(svg);
    });
    if (series.length < 2 && !stacked) return;
    const key = element.parentElement.appendChild(document.createElement("p"));
    key.className = "key";
    series.forEach((each, i) => {
      const one = key.appendChild(document.createElement("span"));
      colour(one.appendChild(document.createElement("i")), i);
      one.append(each.name);
    });
  });
})();

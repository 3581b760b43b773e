// Draws a chart when it comes into view. Names are never handed to Plotly, which would read tags in them: they stand
// in the HTML around the chart, escaped.
const rldebug = (() => {
  let extent = { update: 1, env_step: 1 };
  let along = "update"; // what charts are drawn over
  const specs = new Map(); // by the place that its element names
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const line = (x, y, stroke, width, more = {}) => ({
    type: "scatter", mode: "lines", x, y, line: { color: stroke, width }, hoverinfo: "skip", showlegend: false, ...more,
  });
  const upright = (x, name, dash = "dot") => ({
    type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colour(name), width: 1.2, dash },
  });
  const axis = (more = {}) => ({
    gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line"), tickfont: { size: 11 },
    automargin: true, nticks: 5, fixedrange: false, ...more,
  });
  const note = (x, text, y = 1) => ({
    x, y, yref: "paper", yanchor: "bottom", text, showarrow: false, font: { size: 11, color: colour("soft") },
  });
  // A place on the axis of updates, on the axis that is drawn: by the curve's own readings.
  const placed = (curve, over) => (update) => {
    if (over === "update" || !curve || !curve.x.length) return update;
    const after = curve.x.findIndex((each) => each >= update);
    if (after < 0) return curve.steps[curve.steps.length - 1];
    if (after === 0 || curve.x[after] === update) return curve.steps[after];
    const share = (update - curve.x[after - 1]) / (curve.x[after] - curve.x[after - 1]);
    return curve.steps[after - 1] + share * (curve.steps[after] - curve.steps[after - 1]);
  };

  const lines = (spec, over) => {
    const traces = [];
    const put = placed(spec.curves[0], over);
    const area = (band, fill) => {
      const x = band.x.map(put);
      traces.push(line(x, band.low, "transparent", 0));
      traces.push(line(x, band.high, "transparent", 0, { fill: "tonexty", fillcolor: fill }));
    };
    if (spec.healthy) area(spec.healthy, colour("band"));
    if (spec.spread) area(spec.spread, colour("spread"));
    const several = spec.curves.length > 1;
    for (const curve of spec.curves) {
      const x = over === "update" ? curve.x : curve.steps;
      const own = several ? colour(`run-${(curve.run || 0) % 6}`) : colour("bold");
      traces.push(line(x, curve.raw, several ? own : colour("raw"), 1, several ? { opacity: 0.25 } : {}));
      traces.push(line(x, curve.ema, own, 2, { hoverinfo: "x+y" }));
    }
    const marks = spec.marks.flatMap((mark) => {
      const at = over === "update" ? mark.update : mark.env_step;
      return at === null ? [] : [{ ...mark, x: at }];
    });
    return { traces, marks, shapes: marks.map((mark) => upright(mark.x, mark.severity)) };
  };

  const draw = {
    line(spec) {
      const { traces, shapes } = lines(spec, along);
      return { traces, layout: { shapes, xaxis: axis({ showgrid: false, range: [0, extent[along]] }) } };
    },
    return(spec) {
      const { traces, shapes, marks } = lines(spec, "env_step");
      const seen = new Map(); // one word where several findings stand at one place
      for (const mark of marks) seen.set(mark.x, [...new Set([...(seen.get(mark.x) || []), mark.code])]);
      const annotations = [...seen].map(([x, codes]) => note(x, codes.slice(0, 2).join(" ") + (codes.length > 2 ? " …" : "")));
      if (spec.plateau !== undefined) {
        shapes.push({
          type: "line", xref: "paper", x0: 0, x1: 1, y0: spec.plateau, y1: spec.plateau,
          line: { color: colour("good"), width: 1.2, dash: "dash" },
        });
        for (const [at, text] of [[spec.half, "half"], [spec.most, "90 %"]]) {
          if (at === null) continue;
          shapes.push(upright(at, "good", "dash"));
          annotations.push(note(at, text));
        }
      }
      return { traces, layout: { shapes, annotations, margin: { l: 40, r: 10, t: 20, b: 24 } } };
    },
    trace(spec) {
      const x = spec.value.map((_, i) => i);
      const ends = spec.end.flatMap((end, i) => (end ? [upright(i + 0.5, "soft", end === 1 ? "dot" : "dash")] : []));
      return {
        traces: [
          { type: "bar", x, y: spec.reward, marker: { color: colour("reward") }, opacity: 0.65, hoverinfo: "x+y" },
          line(x, spec.value, colour("bold"), 2, { hoverinfo: "x+y" }),
        ],
        layout: { shapes: ends, bargap: 0.1 },
      };
    },
    heat(spec) {
      const trace = {
        type: "heatmap", x: spec.x, y: spec.y, z: spec.z, showscale: false, hoverinfo: "x+y",
        colorscale: [[0, colour("heat0")], [1, colour("heat1")]],
      };
      return { traces: [trace], layout: { xaxis: axis({ showgrid: false, range: [0, extent.update] }) } };
    },
    // Rows with names of their own: the names stand in `labels`, and are drawn as text that nothing is read from.
    bars(spec) {
      const rows = spec.rows.map((_, i) => i);
      return {
        traces: spec.series.map((each, i) => ({
          type: "bar", orientation: "h", y: rows, x: each, hoverinfo: "x",
          marker: { color: colour(["bold", "reward", "good"][i % 3]) },
        })),
        layout: {
          barmode: "group", yaxis: axis({ showticklabels: false, autorange: "reversed", showgrid: false }),
          xaxis: axis({ type: spec.log ? "log" : "linear" }),
        },
      };
    },
  };

  const show = (element) => {
    const spec = specs.get(element.dataset.chart);
    if (!spec || !window.Plotly) return;
    const { traces, layout } = draw[spec.kind](spec);
    const base = {
      margin: { l: 40, r: 10, t: 6, b: 24 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
      font: { color: colour("soft"), size: 11 }, xaxis: axis({ showgrid: false }), yaxis: axis(), showlegend: false,
      hovermode: "closest", dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    };
    Plotly.react(element, traces, { ...base, ...layout }, { displayModeBar: false, responsive: true });
    element.dataset.drawn = "1";
  };

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      show(entry.target);
    }
  }, { rootMargin: "300px" });

  const again = () => document.querySelectorAll("[data-drawn]").forEach(show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);

  // Charts of a part of the page; those that were drawn before are drawn anew where they changed.
  const mount = (root, charts) => {
    for (const [place, spec] of Object.entries(charts)) specs.set(place, spec);
    root.querySelectorAll("[data-chart]").forEach((element) => seen.observe(element));
  };
  const reach = (to) => { extent = to; };
  const over = (axisName) => { along = axisName; again(); };

  // Clips stand still until they are asked for.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-clip]");
    if (!button) return;
    const picture = button.querySelector("img");
    const playing = button.getAttribute("aria-pressed") === "true";
    button.poster ??= picture.src;
    picture.src = playing ? button.poster : button.dataset.clip;
    button.setAttribute("aria-pressed", String(!playing));
  });

  const whole = document.getElementById("charts");
  if (whole) {
    if (!matchMedia("(min-width: 1100px)").matches) document.querySelector("nav details").open = false;
    const { extent: to, charts } = JSON.parse(whole.textContent);
    reach(to);
    mount(document, charts);
  }
  return { mount, reach, over, show, specs };
})();

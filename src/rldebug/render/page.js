// Draws a chart when it comes into view. Names are never handed to Plotly, which would read tags in them: they stand
// in the HTML around the chart, escaped.
(() => {
  const { updates, charts } = JSON.parse(document.getElementById("charts").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const line = (x, y, name, width, more = {}) => ({
    type: "scatter", mode: "lines", x, y, line: { color: colour(name), width }, hoverinfo: "skip", showlegend: false, ...more,
  });
  const upright = (x, name, dash = "dot") => ({
    type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colour(name), width: 1.2, dash },
  });
  const axis = (more = {}) => ({
    gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line"), tickfont: { size: 11 },
    automargin: true, nticks: 5, fixedrange: false, ...more,
  });
  const overUpdates = () => axis({ showgrid: false, range: [0, updates] });
  const note = (x, text, y = 1) => ({
    x, y, yref: "paper", yanchor: "bottom", text, showarrow: false, font: { size: 11, color: colour("soft") },
  });

  const draw = {
    line(spec) {
      const traces = [];
      if (spec.band) {
        traces.push(line(spec.band.x, spec.band.low, "raw", 0));
        traces.push(line(spec.band.x, spec.band.high, "raw", 0, { fill: "tonexty", opacity: 0.4 }));
      }
      traces.push(line(spec.x, spec.raw, "raw", 1));
      traces.push(line(spec.x, spec.ema, "bold", 2, { hoverinfo: "x+y" }));
      return { traces, layout: { shapes: spec.marks.map((mark) => upright(mark.x, mark.severity)), xaxis: overUpdates() } };
    },
    return(spec) {
      const drawn = draw.line(spec);
      const { shapes } = drawn.layout;
      const annotations = spec.marks.map((mark) => note(mark.x, mark.code));
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
      drawn.layout.annotations = annotations;
      delete drawn.layout.xaxis; // over env steps
      drawn.layout.margin = { l: 40, r: 10, t: 20, b: 24 };
      return drawn;
    },
    trace(spec) {
      const x = spec.value.map((_, i) => i);
      const ends = spec.end.flatMap((end, i) => (end ? [upright(i + 0.5, "soft", end === 1 ? "dot" : "dash")] : []));
      return {
        traces: [
          { type: "bar", x, y: spec.reward, marker: { color: colour("reward") }, name: "reward", opacity: 0.65 },
          line(x, spec.value, "bold", 2, { name: "value V(s)", showlegend: true, hoverinfo: "x+y" }),
        ],
        layout: { shapes: ends, showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, bargap: 0.1 },
      };
    },
    heat(spec) {
      const trace = {
        type: "heatmap", x: spec.x, y: spec.y, z: spec.z, showscale: false, hoverinfo: "x+y",
        colorscale: [[0, colour("heat0")], [1, colour("heat1")]],
      };
      return { traces: [trace], layout: { xaxis: overUpdates() } };
    },
  };

  const show = (element) => {
    const spec = charts[Number(element.dataset.chart)];
    const { traces, layout } = draw[spec.kind](spec);
    const base = {
      margin: { l: 40, r: 10, t: 6, b: 24 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
      font: { color: colour("soft"), size: 11 }, xaxis: axis({ showgrid: false }), yaxis: axis(), showlegend: false,
      hovermode: "closest",
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
  document.querySelectorAll("[data-chart]").forEach((element) => seen.observe(element));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.querySelectorAll("[data-drawn]").forEach(show);
  });
})();

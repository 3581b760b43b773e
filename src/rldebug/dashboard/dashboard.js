// The page of the dashboard: which runs are shown, what the server says is new, and the sections brought up to date in
// place. Names are put in as text; only the HTML of sections, which the server has escaped, is parsed.
(() => {
  "use strict";
  const find = (selector) => document.querySelector(selector);
  const make = (tag, className = "", text = "") => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  };
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u00a0");

  let listing = JSON.parse(find("#first").textContent);
  let run = null; // whose page it is
  let beside = [];
  let versions = {}; // of what is shown
  let wanted = {}; // of what there is
  let source = null;
  let asking = false;
  const shown = new Map(); // by section: what stands there

  // ── the address ──

  const read = () => {
    const query = new URLSearchParams(location.search);
    run = query.get("run");
    beside = query.getAll("with");
  };
  const write = () => {
    const query = new URLSearchParams([["run", run], ...beside.map((id) => ["with", id])]);
    history.replaceState(null, "", (run === null ? "/" : `/?${query}`) + location.hash);
  };

  // ── the list of runs ──

  const words = (each) => {
    const parts = [];
    if (each.verdict) {
      for (const kind of ["errors", "warnings"]) {
        const count = each.verdict[kind];
        if (count) parts.push(make("span", kind, `${count} ${count === 1 ? kind.slice(0, -1) : kind}`));
      }
      if (!parts.length) parts.push("nothing found");
    }
    if (each.ranks > 1) parts.push(`${each.ranks} ranks`);
    if (each.env) parts.push(each.env);
    if (each.updates !== null) parts.push(`${grouped(each.updates)} updates`);
    if (each.state && each.state !== "finished") parts.push(each.state);
    return parts.flatMap((part, i) => (i ? [" · ", part] : [part]));
  };

  const row = (each) => {
    const item = make("li", each.id === run ? "shown" : "");
    if (each.problem) {
      item.append(make("p", "problem", `${each.title}: ${each.problem}`));
      if (!each.ranks) return item;
    }
    const one = make("label", "one");
    const radio = Object.assign(make("input"), { type: "radio", name: "run", value: each.id, checked: each.id === run });
    const name = make("span", "name", each.title);
    if (each.started) one.title = `started ${each.started}`;
    const more = make("span", "more");
    more.append(...words(each));
    const known = ["running", "finished", "crashed", "killed"].includes(each.state);
    one.append(radio, make("i", known ? `dot ${each.state}` : "dot"), name, more);
    const overlay = make("label", "overlay");
    overlay.title = `draw ${each.title} beside the one that is shown`;
    const box = Object.assign(make("input"), { type: "checkbox", value: each.id, checked: beside.includes(each.id) });
    box.setAttribute("aria-label", `draw ${each.title} beside it`);
    box.disabled = each.id === run;
    overlay.append(box);
    item.append(one, overlay);
    return item;
  };

  const list = () => {
    const focus = document.activeElement && document.activeElement.closest("#runs")
      ? `#runs input[type=${document.activeElement.type}][value="${CSS.escape(document.activeElement.value)}"]` : null;
    const place = find("#runs .list");
    const scrolled = place.scrollTop;
    place.replaceChildren(...listing.runs.map(row));
    place.scrollTop = scrolled;
    if (focus && find(focus)) find(focus).focus({ preventScroll: true });
    const older = listing.more ? `${grouped(listing.more)} older ones are not listed. ` : "";
    const how = listing.runs.length > 1 ? "Tick others to draw them beside it." : "";
    find("#runs .hint").textContent = listing.problem || older + how;
  };

  const choose = (id, others) => {
    run = id;
    beside = [...new Set(others)].filter((each) => each !== id);
    wanted = {};
    write();
    list();
    connect();
    refresh();
  };

  find("#runs").addEventListener("change", (event) => {
    const { type, value, checked } = event.target;
    if (type === "radio") choose(value, beside);
    else choose(run, checked ? [...beside, value] : beside.filter((each) => each !== value));
  });
  find("#axis").addEventListener("change", (event) => rldebug.over(event.target.value));

  const settle = () => {
    // The run that was asked for may be an older one, which is not in the list.
    if (run === null && listing.runs.length) {
      const first = listing.runs.find((each) => !each.problem) || listing.runs[0];
      if (first.ranks) choose(first.id, beside);
    }
    if (!listing.runs.length) {
      find("#run h1").textContent = "No runs yet";
      find("#run .about").textContent = "Record one: rldebug run train.py. It will show up here.";
    }
  };

  // ── the sections, in place ──

  const kept = new Set(["open", "data-drawn"]);
  const keyOf = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || node.dataset.chart || "" : "");

  const dress = (old, now) => {
    const chart = old.hasAttribute("data-chart");
    if (old.getAttribute("aria-pressed") === "true" && old.dataset.clip === now.dataset.clip) return false; // it is playing
    for (const { name, value } of [...now.attributes]) {
      if (kept.has(name)) continue;
      const wear = chart && name === "class" && old.classList.contains("js-plotly-plot") ? `${value} js-plotly-plot` : value;
      if (old.getAttribute(name) !== wear) old.setAttribute(name, wear);
    }
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name) && !kept.has(name) && !(chart && name === "style")) old.removeAttribute(name);
    }
    return !chart; // what is inside a chart is Plotly's
  };

  const morph = (parent, next) => {
    const keyed = new Map();
    for (const each of parent.children) if (keyOf(each)) keyed.set(keyOf(each), each);
    let old = parent.firstChild;
    for (const now of [...next.childNodes]) {
      const key = keyOf(now);
      let match = key ? keyed.get(key) : old;
      if (match && (match.nodeName !== now.nodeName || keyOf(match) !== key)) match = undefined;
      if (!match) {
        parent.insertBefore(now, old);
        continue;
      }
      if (match === old) old = old.nextSibling;
      else parent.insertBefore(match, old);
      keyed.delete(key);
      if (match.nodeType !== 1) {
        if (match.nodeValue !== now.nodeValue) match.nodeValue = now.nodeValue;
      } else if (dress(match, now)) morph(match, now);
    }
    while (old) {
      const gone = old;
      old = old.nextSibling;
      forget(gone);
      gone.remove();
    }
  };

  const forget = (node) => {
    if (node.nodeType !== 1 || !window.Plotly) return;
    for (const chart of [...node.querySelectorAll(".js-plotly-plot"), ...(node.matches(".js-plotly-plot") ? [node] : [])]) {
      Plotly.purge(chart);
    }
  };

  const fill = (element, html) => {
    const template = document.createElement("template");
    template.innerHTML = html; // escaped by the server
    morph(element, template.content);
  };

  const chartsOf = (section) => Object.fromEntries(section.charts.map((spec, i) => [`${section.id}.${i}`, spec]));

  const place = (page) => {
    const [head, ...rest] = page.sections;
    document.title = `${head.title} · rldebug`;
    find("#run h1").textContent = head.title;
    fill(find("#run .legend"), page.legend);
    fill(find("#run .about"), head.html);
    const extent = JSON.stringify(page.extent);
    const further = shown.get("") !== extent;
    shown.set("", extent);
    rldebug.reach(page.extent);
    const holder = find("#sections");
    const ids = new Set(rest.map((section) => section.id));
    for (const old of [...holder.children]) {
      if (ids.has(old.id)) continue;
      forget(old);
      old.remove();
      shown.delete(old.id);
    }
    rest.forEach((section, i) => {
      let element = [...holder.children].find((each) => each.id === section.id);
      if (!element) {
        element = make("section");
        element.id = section.id;
        element.append(make("h2"), make("div"));
      }
      if (holder.children[i] !== element) holder.insertBefore(element, holder.children[i] || null);
      const state = JSON.stringify([section.title, section.html]);
      const drawn = JSON.stringify(section.charts);
      const before = shown.get(section.id) || {};
      if (before.state !== state) {
        element.firstElementChild.textContent = section.title;
        fill(element.lastElementChild, section.html);
      }
      if (before.state !== state || before.drawn !== drawn || further) rldebug.mount(element, chartsOf(section));
      shown.set(section.id, { state, drawn });
    });
    const links = rest.map((section) => {
      const item = make("li");
      const link = make("a", "", section.title);
      link.href = `#${encodeURIComponent(section.id)}`;
      item.append(link);
      return item;
    });
    const contents = find("nav .contents");
    if (contents.textContent !== links.map((each) => each.textContent).join("")) contents.replaceChildren(...links);
  };

  const blank = (title, text) => {
    find("#run h1").textContent = title;
    find("#run .about").textContent = text;
    find("#run .legend").replaceChildren();
    for (const old of [...find("#sections").children]) forget(old);
    find("#sections").replaceChildren();
    find("nav .contents").replaceChildren();
    shown.clear();
  };

  // ── the server ──

  const banner = (text) => {
    find("#banner").textContent = text;
    find("#banner").hidden = !text;
    document.documentElement.classList.toggle("stale", Boolean(text));
  };
  const say = (className, text) => {
    find("#live").className = `dot ${className}`;
    if (find("#live-words").textContent !== text) find("#live-words").textContent = text;
  };
  const standing = () => {
    const each = listing.runs.find((one) => one.id === run);
    say("on", each && each.state === "running" ? "live" : "up to date");
  };

  const ask = async (path) => {
    const answer = await fetch(path, { headers: { Accept: "application/json" } });
    if (answer.status === 403) lost("The server was started anew: open the address that it has printed.");
    return answer;
  };

  const refresh = async () => {
    if (asking || run === null) return;
    asking = true;
    const [main, others] = [run, beside];
    try {
      const answer = await ask(`/api/page?${new URLSearchParams([["run", main], ...others.map((id) => ["with", id])])}`);
      if (answer.status === 404) {
        versions = {};
        if (main === run && others.length) setTimeout(() => choose(run, []));
        else if (main === run) blank("There is no such run", "It was removed, or is not under this folder. Choose another.");
      } else if (answer.ok) {
        const page = await answer.json();
        if (main === run && others === beside) {
          place(page);
          versions = page.versions;
          standing();
        }
      } else if (answer.status !== 403) {
        banner(await answer.text());
      }
    } catch {
      // The stream of events says that the server has gone.
    }
    asking = false;
    if (main !== run || others !== beside || Object.entries(wanted).some(([id, version]) => id in versions && versions[id] !== version)) {
      setTimeout(refresh, main === run ? 1000 : 0);
    }
  };

  let again = 0;
  const lost = (text) => {
    banner(text);
    say("off", "not connected");
    clearTimeout(again);
    again = setTimeout(async () => {
      try {
        if ((await fetch("/api/runs")).ok) connect();
        else lost("The server was started anew: open the address that it has printed.");
      } catch {
        lost("The server has stopped. This is what it had shown until then.");
      }
    }, 3000);
  };

  const connect = () => {
    if (source) source.close();
    const query = new URLSearchParams([...(run === null ? [] : [["run", run]]), ...beside.map((id) => ["with", id])]);
    const own = (source = new EventSource(`/api/events?${query}`));
    own.onopen = () => {
      clearTimeout(again);
      banner("");
      standing();
    };
    own.onerror = () => {
      if (own !== source) return;
      own.close();
      lost("The server has stopped. This is what it had shown until then.");
    };
    own.addEventListener("runs", async (event) => {
      if (JSON.parse(event.data).version === String(listing.version)) return;
      try {
        const answer = await ask("/api/runs");
        if (!answer.ok) return;
        listing = await answer.json();
        list();
        settle();
        if (!shown.size) refresh(); // it may be there by now
        standing();
      } catch {
        // Told by onerror.
      }
    });
    own.addEventListener("run", (event) => {
      const { id, version } = JSON.parse(event.data);
      wanted[id] = version;
      if (versions[id] !== version) refresh();
    });
  };

  const plotly = find("#plotly");
  if (!window.Plotly) plotly.addEventListener("load", () => rldebug.mount(document, {}));

  const wide = matchMedia("(min-width: 1100px)");
  const fold = () => { find("#column").open = wide.matches; };
  wide.addEventListener("change", fold);
  window.addEventListener("pagehide", () => source && source.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted) connect(); });

  fold();
  read();
  list();
  settle();
  if (run !== null && !source) {
    connect();
    refresh();
  } else if (!source) connect();
})();

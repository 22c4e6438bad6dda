// Everything works without this file: drawings become interactive, ticks survive a refresh of the list.
"use strict";
(() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function coloured(figure) {
    const ink = colour("--ink"), line = colour("--line");
    const axis = (given) => ({ gridcolor: line, linecolor: line, zerolinecolor: line, ...given });
    const layout = { ...figure.layout, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, size: 12 }, hoverlabel: { font: { size: 12 } }, autosize: true,
      xaxis: axis(figure.layout.xaxis), yaxis: axis(figure.layout.yaxis) };
    const data = figure.data.map((one) => one.marker && one.marker.color === "currentColor"
      ? { ...one, marker: { ...one.marker, color: ink } } : one);
    return { data, layout };
  }

  function plot(drawing) {
    const figure = JSON.parse(drawing.dataset.figure);
    const { data, layout } = coloured(figure);
    const place = document.createElement("div");
    drawing.replaceChildren(place);
    drawing.dataset.plotted = "yes";
    const config = { displaylogo: false, responsive: true, scrollZoom: Boolean(figure.zooms),
      modeBarButtonsToRemove: ["lasso2d", "select2d", "sendDataToCloud"] };
    window.Plotly.newPlot(place, data, layout, config);
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      plot(entry.target);
    }
  }, { rootMargin: "300px" });

  function drawn(root) {
    if (!window.Plotly) return;
    root.querySelectorAll("[data-figure]:not([data-plotted])").forEach((one) => seen.observe(one));
  }

  document.addEventListener("DOMContentLoaded", () => drawn(document));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    document.querySelectorAll("[data-plotted]").forEach((one) => {
      window.Plotly.purge(one.firstElementChild);
      plot(one);
    });
  });

  let ticked = [];
  document.addEventListener("htmx:beforeSwap", () => {
    ticked = [...document.querySelectorAll("#list input:checked")].map((one) => one.value);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const root = event.target.isConnected ? event.target : document;
    drawn(root.parentElement || root);
    for (const one of document.querySelectorAll("#list input[type=checkbox]")) {
      if (ticked.includes(one.value)) one.checked = true;
    }
  });

  // "/" goes to the search, as on many sites.
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    const search = document.querySelector("input[type=search]");
    if (event.key !== "/" || typing || !search) return;
    event.preventDefault();
    search.focus();
  });
})();

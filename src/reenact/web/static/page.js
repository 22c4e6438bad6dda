// Everything works without this file: drawings are enlarged and moved, ticks survive a refresh of the list.
"use strict";
(() => {
  // A drawing is its viewBox: ctrl and the wheel enlarge it, dragging moves it, a double click sets it back.
  const whole = new WeakMap();
  const box = (svg) => svg.viewBox.baseVal;

  function shown(svg, x, y, width, height) {
    const all = whole.get(svg);
    const wide = Math.min(width, all[2]), high = Math.min(height, all[3]);
    const left = Math.max(all[0], Math.min(x, all[0] + all[2] - wide));
    const top = Math.max(all[1], Math.min(y, all[1] + all[3] - high));
    svg.setAttribute("viewBox", [left, top, wide, high].join(" "));
    svg.classList.toggle("enlarged", wide < all[2]);
  }

  function drawingAt(event) {
    const svg = event.target.closest ? event.target.closest(".drawing svg") : null;
    if (svg && !whole.has(svg)) whole.set(svg, [box(svg).x, box(svg).y, box(svg).width, box(svg).height]);
    return svg;
  }

  document.addEventListener("wheel", (event) => {
    const svg = event.ctrlKey ? drawingAt(event) : null;
    if (!svg) return;
    event.preventDefault();
    const at = box(svg), place = svg.getBoundingClientRect(), times = event.deltaY < 0 ? 0.8 : 1.25;
    const acrossShare = (event.clientX - place.left) / place.width;
    const downShare = (event.clientY - place.top) / place.height;
    shown(svg, at.x + at.width * acrossShare * (1 - times), at.y + at.height * downShare * (1 - times),
      at.width * times, at.height * times);
  }, { passive: false });

  document.addEventListener("dblclick", (event) => {
    const svg = drawingAt(event);
    if (svg) shown(svg, ...whole.get(svg));
  });

  document.addEventListener("pointerdown", (event) => {
    const svg = drawingAt(event);
    if (!svg || !svg.classList.contains("enlarged")) return;
    svg.setPointerCapture(event.pointerId);
    const move = (moved) => {
      const at = box(svg), scale = at.width / svg.getBoundingClientRect().width;
      shown(svg, at.x - moved.movementX * scale, at.y - moved.movementY * scale, at.width, at.height);
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", () => svg.removeEventListener("pointermove", move), { once: true });
  });

  let ticked = [];
  document.addEventListener("htmx:beforeSwap", () => {
    ticked = [...document.querySelectorAll("#list input:checked")].map((one) => one.value);
  });
  document.addEventListener("htmx:afterSettle", () => {
    for (const one of document.querySelectorAll("#list input[type=checkbox]")) {
      if (ticked.includes(one.value)) one.checked = true;
    }
  });

  // What cannot be undone is asked for once more.
  document.addEventListener("submit", (event) => {
    const sure = event.target.dataset ? event.target.dataset.sure : "";
    if (sure && !window.confirm(sure)) event.preventDefault();
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
